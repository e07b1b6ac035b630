"use strict";
// The answers of one person: what was said about each text, in which order and how long it took. No element, no storage.

const SKIPS = { cannot_judge: "skip_cannot_judge", broken: "skip_broken", offensive: "skip_offensive" };

class Answers {
  /** @param kept the answers of an earlier visit, or nothing */
  constructor(kept) {
    const fresh = { page: page.page, session: Answers.newSession(), joined: [], started: new Date().toISOString(), order: 0, practised: 0, items: {} };
    this.kept = kept && kept.page === page.page ? kept : fresh;
    this.past = [];
  }

  /** Whether nothing was said yet. */
  get empty() {
    return !Answers.answered(this.kept);
  }

  static answered(state) {
    return Object.values(state.items).some((said) => said.place !== undefined);
  }

  /** Take in what another tab, device or file knows of the same page. */
  join(other) {
    this.kept = Answers.merged(this.kept, other);
  }

  /** Two states of one page: of each text the answer that was given last. Nothing that only one of them has is lost. */
  static merged(one, other) {
    const alike = Answers.answered(one) === Answers.answered(other);
    const [first, second] = (alike ? one.started <= other.started : Answers.answered(one)) ? [one, other] : [other, one];
    const sessions = [...(first.joined ?? []), ...(Answers.answered(second) ? [second.session, ...(second.joined ?? [])] : [])];
    const items = { ...one.items };
    for (const [key, said] of Object.entries(other.items)) items[key] = key in items ? Answers.later(items[key], said) : said;
    const told = (one.exitChanged ?? "") > (other.exitChanged ?? "") ? one : other; // the last questions, as they were answered last
    return { ...first, ...(told.exitChanged ? { exit: told.exit, exitChanged: told.exitChanged } : {}), joined: [...new Set(sessions)].filter((session) => session !== first.session).sort(), items,
      order: Math.max(one.order, other.order), practised: Math.max(one.practised, other.practised) };
  }

  /** Of two states of one answer the later one, with the longer of both times in front of the text. */
  static later(one, other) {
    return { ...((other.changed ?? "") > (one.changed ?? "") ? other : one), ms: Math.max(one.ms, other.ms) };
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
    if (ms > 0) this.kept.items[key] = { ...this.of(key), ms: this.of(key).ms + Math.round(ms) };
  }

  /** The key of the text whose last answer was taken back, or nothing. */
  undo() {
    const [key, before] = this.past.pop() || [];
    if (key === undefined) return undefined;
    this._write(key, { ...(before || { scores: {} }), ms: this.of(key).ms });
    return key;
  }

  /** Each change has a later time than the state that it changes, whatever the clock of the device says. */
  _write(key, said) {
    const before = this.kept.items[key]?.changed;
    said.changed = new Date(Math.max(Date.now(), before ? Date.parse(before) + 1 : 0)).toISOString();
    if (said.place === undefined && (said.skip || Object.keys(said.scores).length)) said.place = ++this.kept.order;
    this.kept.items[key] = said;
  }

  /** Change the answer to a question after the last text; an empty one is no answer. */
  tellExit(id, value) {
    this.kept.exit = { ...this.kept.exit, [id]: value };
    if (value === undefined || value === "") delete this.kept.exit[id];
    this.kept.exitChanged = new Date().toISOString();
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
