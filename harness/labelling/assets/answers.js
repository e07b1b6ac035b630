"use strict";
// The answers of one person: what was said about each text, in which order and how long it took. No element, no storage.

const SKIPS = { cannot_judge: "skip_cannot_judge", broken: "skip_broken", offensive: "skip_offensive" };

class Answers {
  /** @param kept the answers of an earlier visit, or nothing */
  constructor(kept) {
    const fresh = { page: page.page, session: Answers.newSession(), started: new Date().toISOString(), order: 0, practised: 0, items: {} };
    this.kept = kept && kept.page === page.page ? kept : fresh;
    this.past = [];
  }

  static newSession() {
    return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  of(key) {
    return this.kept.items[key] || { scores: {}, ms: 0 };
  }

  /** Change what was said about a text; `undo` takes it back. */
  change(key, changes) {
    const before = this.kept.items[key];
    this.past.push([key, before && structuredClone(before)]);
    if (this.past.length > 200) this.past.shift();
    this._write(key, { ...this.of(key), ...changes });
  }

  /** Change what was said without a step to take back. */
  note(key, changes) {
    this._write(key, { ...this.of(key), ...changes });
  }

  score(key, metric, value) {
    this.change(key, { scores: { ...this.of(key).scores, [metric]: value }, skip: undefined });
  }

  addTime(key, ms) {
    if (ms > 0) this._write(key, { ...this.of(key), ms: this.of(key).ms + Math.round(ms) });
  }

  /** The key of the text whose last answer was taken back, or nothing. */
  undo() {
    const [key, before] = this.past.pop() || [];
    if (key === undefined) return undefined;
    const ms = this.of(key).ms;
    if (before) this.kept.items[key] = { ...before, ms };
    else this.kept.items[key] = { scores: {}, ms };
    return key;
  }

  _write(key, said) {
    if (said.place === undefined && (said.skip || Object.keys(said.scores).length)) said.place = ++this.kept.order;
    this.kept.items[key] = said;
  }

  complete(item) {
    const said = this.of(item.key);
    return Boolean(said.skip) || item.questions.every((metric) => said.scores[metric] !== undefined);
  }

  firstOpen(items) {
    const place = items.findIndex((item) => !this.complete(item));
    return place < 0 ? items.length : place;
  }

  get done() {
    return page.items.filter((item) => this.complete(item)).length;
  }

  summary() {
    const said = page.items.map((item) => ({ item, said: this.of(item.key) })).filter(({ item }) => this.complete(item));
    const seconds = said.map(({ said: one }) => one.ms / 1000).sort((a, b) => a - b);
    const middle = seconds.length >> 1;
    const median = !seconds.length ? 0 : seconds.length % 2 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
    const all = Object.values(this.kept.items).reduce((sum, one) => sum + one.ms, 0);
    return {
      texts: page.items.length,
      answered: said.filter(({ said: one }) => !one.skip).length,
      skipped: said.filter(({ said: one }) => one.skip).length,
      minutes: Math.round(all / 6000) / 10,
      median_seconds: Math.round(median * 10) / 10,
    };
  }

  /** Seconds that the rest will take: by the reader's own pace after five texts, before by a guess. */
  secondsLeft() {
    const left = page.items.length - this.done;
    const own = this.summary();
    return own.answered + own.skipped >= 5 ? left * own.median_seconds : (page.seconds * left) / Math.max(1, page.items.length + page.practice.length);
  }
}
