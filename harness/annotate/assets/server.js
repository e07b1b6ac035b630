"use strict";
// Sends answers to the local server that serves this page, one request at a time, always the newest. It tries again until one arrives.

class AnswerServer {
  /**
   * @param arrivedLate is called when answers arrive that had not arrived at first
   * @param takeIn is called with a result that has answers of another tab or device too
   */
  constructor(arrivedLate, takeIn) {
    this.arrivedLate = arrivedLate;
    this.takeIn = takeIn;
  }

  /** What the server has of this sitting, or of the last one where it knows none of this; nothing if it has none or does not answer. */
  static async earlier(session) {
    try {
      const answer = await fetch("answers?session=" + session, { signal: AbortSignal.timeout(5000) });
      return answer.status === 200 ? await answer.json() : undefined;
    } catch {
      return undefined;
    }
  }

  /** Whether the newest answers are on the server. */
  async send(result) {
    this.newest = result;
    if (!this.sending) this.sending = this._sendNewest().finally(() => (this.sending = null));
    return this.sending;
  }

  async _sendNewest() {
    let arrived = true;
    while (this.newest && arrived) {
      const result = this.newest;
      this.newest = null;
      arrived = await this._post(result);
      if (!arrived) this.newest ??= result;
    }
    if (!arrived) this.later ??= setTimeout(() => this._sendAgain(), 5000);
    return arrived;
  }

  async _sendAgain() {
    this.later = null;
    if (await this.send(this.newest)) this.arrivedLate();
  }

  async _post(result) {
    try {
      const answer = await fetch("answers", { method: "POST", body: JSON.stringify(result), headers: { "content-type": "application/json" } });
      if (answer.status === 200) this.takeIn(await answer.json());
      return answer.ok;
    } catch {
      return false;
    }
  }
}
