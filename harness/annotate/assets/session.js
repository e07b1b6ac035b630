"use strict";
// One sitting: from the start screen to the last, with the keyboard. It alone changes answers, and keeps each change at once.

class Session {
  static async begin() {
    let session;
    const lock = new PageLock(() => session?.stop());
    await lock.take(false);
    const storage = await Storage.open(storageAnswered);
    session = new Session(storage, lock);
    await session.read();
    session.clock = new Clock((ms) => session.spend(ms));
    addEventListener("keydown", (event) => session.key(event));
    addEventListener("pagehide", () => session.clock.stop());
    addEventListener("beforeunload", (event) => { if (!storage.works && session.unsaved) event.preventDefault(); });
    lock.elsewhere ? session.stop() : session.start();
    document.body.dataset.ready = "true";
    performance.mark("ready");
    session.texts = readTexts();
    session.texts.catch(() => document.getElementById("main").replaceChildren(make("p", {}, word("no_scripts")))); // a file that was cut on its way
    storage.probe().then((works) => { if (!works) session.unkept(); });
    return session;
  }

  constructor(storage, lock) {
    this.storage = storage;
    this.lock = lock;
    const served = typeof AnswerServer !== "undefined";
    this.server = served ? new AnswerServer(() => { this.kept = word("saved_server"); }, (result) => this.answers.join(answersOf(result))) : null;
    this.unsaved = 0;
    this.kept = word(storage.works ? "saved" : "not_saved");
  }

  /** Read the answers of earlier visits: those of this browser, and of other devices as far as the server has them. */
  async read() {
    this.answers = new Answers(this.storage.earlier);
    const sent = this.server ? await AnswerServer.earlier(this.answers.kept.session) : undefined;
    if (sent && (this.answers.empty || sent.session === this.answers.kept.session)) this.answers.join(answersOf(sent));
  }

  start() {
    this.screen = "start";
    Screens.start({ done: this.answers.done, storage: this.storage.works, served: Boolean(this.server), begin: () => this.texts.then(() => this.goOn()), open: (file) => this.open(file) });
  }

  /** The browser turned out to keep nothing: say so at once. */
  unkept() {
    if (!this.server) this.kept = word("not_saved");
    if (this.screen === "start") this.start();
    else announce(word("storage_refused"));
  }

  async open(file) {
    try {
      this.answers.join(answersOfFile(await file.text()));
      await this.keep();
      this.start();
      announce(word("file_read", { n: this.answers.done }));
    } catch (error) {
      announce(word(error.message in page.strings ? error.message : "file_unreadable"));
    }
  }

  /** Another tab has this page: leave all to it until somebody goes on here. */
  stop() {
    this.clock?.end();
    this.screen = "elsewhere";
    document.querySelectorAll("dialog").forEach((dialog) => dialog.close());
    Screens.elsewhere({ go: () => this.takeOver() });
  }

  async takeOver() {
    await this.lock.take(true);
    await this.storage.reread();
    await this.read();
    this.start();
  }

  // Moving between texts

  goOn() {
    this.place = this.practising ? this.answers.kept.practised : this.answers.firstOpen(page.items);
    this.visit();
  }

  get practising() {
    return this.answers.kept.practised < page.practice.length;
  }

  get item() {
    return (this.practising ? page.practice : page.items)[this.place];
  }

  /** Show the text at the present place, or the end. */
  visit() {
    this.clock.end();
    if (!this.practising && this.place >= page.items.length) return this.end();
    this.screen = "text";
    this.verdict = false;
    this.current = this.firstOpenQuestion();
    this.draw();
    scrollTo(0, 0);
    announce("");
    document.querySelector("h1").focus({ preventScroll: true });
    document.querySelector(".question.current input[type=number]")?.focus({ preventScroll: true });
    this.timed = this.item.key;
    this.clock.start();
  }

  firstOpenQuestion() {
    const { scores } = this.answers.of(this.item.key);
    const open = this.item.questions.findIndex((metric) => scores[metric] === undefined);
    return open < 0 ? this.item.questions.length - 1 : open;
  }

  next() {
    if (!this.answers.complete(this.item)) {
      this.current = this.firstOpenQuestion();
      this.draw();
      this.reveal();
      return announce(word("answer_first"));
    }
    if (this.practising && !this.verdict && !this.answers.of(this.item.key).skip) {
      this.verdict = true;
      this.draw();
      return this.reveal();
    }
    if (this.practising) {
      this.answers.kept.practised += 1;
      this.keep();
      if (!this.practising) announce(word("practice_over"));
      return this.goOn();
    }
    this.place += 1;
    this.visit();
    this.remind();
  }

  back() {
    if (this.practising || this.place === 0) return;
    this.place -= 1;
    this.visit();
  }

  // Answering

  draw() {
    const { item } = this;
    const said = this.answers.of(item.key);
    const focus = document.activeElement?.dataset?.value !== undefined ? document.activeElement : null;
    const [metric, value] = focus ? [focus.closest(".question").dataset.metric, focus.dataset.value] : [];
    const place = [item.key, this.current, this.verdict].join();
    const scrolled = this.drawn === place ? document.querySelector(".answers")?.scrollTop : undefined;
    this.drawn = place;
    const number = this.practising ? word("practice", { n: this.place + 1, total: page.practice.length }) : word("text_number", { n: this.place + 1, total: page.items.length });
    Screens.text({
      item, said, title: number, current: this.current, verdict: this.verdict, done: this.answers.done,
      left: word("time_left", { minutes: Math.max(1, Math.ceil(this.answers.secondsLeft() / 60)) }),
      choose: (metric, score) => this.choose(metric, score), open: (number) => { this.current = number; this.draw(); this.reveal(); }, change: (changes) => this.change(changes),
      told: () => this.answers.of(item.key), tell: (changes, redraw) => (redraw ? this.change(changes) : this.note(changes)),
      press: { back: () => this.back(), next: () => this.next(), skip: () => this.skip(), comment: () => this.comment(), undo: () => this.undo(),
        pause: () => this.pause(), save: () => this.save() },
    });
    const panel = document.querySelector(".answers");
    const shown = panel.querySelector(this.verdict ? ".why, .verdict" : ".question.current");
    if (panel.scrollHeight > panel.clientHeight) panel.scrollTop = scrolled ?? shown.offsetTop - 0.2 * panel.clientHeight;
    if (focus) document.querySelector(`.question[data-metric="${CSS.escape(metric)}"] [data-value="${CSS.escape(value)}"]`)?.focus({ preventScroll: true });
  }

  /** Bring the whole current question to the screen, as from below a long text on a narrow one; whether it was off the screen. */
  reveal() {
    const shown = document.querySelector(this.verdict ? ".answers .why, .answers .verdict" : ".question.current");
    const { top, bottom } = shown.getBoundingClientRect();
    const end = innerHeight - (NARROW.matches ? 70 : 0); // above the buttons that stay at the bottom
    if (top < 0 || bottom > end) shown.scrollIntoView({ block: bottom - top > end ? "start" : "nearest" });
    return bottom < 60 || top > end - 100;
  }

  choose(metric, value) {
    const score = typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value;
    this.answers.score(this.item.key, metric, score);
    const question = page.questions[metric];
    // Whoever disagrees is asked why before the next question.
    this.current = page.review && score !== "agree" ? this.item.questions.indexOf(metric) : this.firstOpenQuestion();
    this.changed();
    this.reveal();
    announce(question.title + ": " + kindOf(question).shown(question, score), true);
  }

  change(changes) {
    this.answers.change(this.item.key, changes);
    this.changed();
  }

  /** Keep what is being typed, without drawing the screen anew. */
  note(changes) {
    this.answers.note(this.item.key, changes);
    this.unsaved += 1;
    this.keep();
  }

  changed() {
    this.unsaved += 1;
    this.draw();
    this.keep();
  }

  skip() {
    Screens.skip((reason) => {
      this.change({ skip: reason, scores: {} });
      this.next();
    });
  }

  comment() {
    Screens.comment(this.answers.of(this.item.key).comment, (text) => this.change({ comment: text || undefined }));
  }

  undo() {
    const key = this.answers.undo();
    if (key === undefined) return announce(word("nothing_to_undo"));
    this.keep();
    const place = (this.practising ? page.practice : page.items).findIndex((item) => item.key === key);
    if (place >= 0) this.place = place;
    this.visit();
    announce(word("undone"));
  }

  // Time and keeping

  /** The time belongs to the text that was shown: the place has moved on when the clock ends. */
  spend(ms) {
    this.answers.addTime(this.timed, ms);
    this.keep();
  }

  async keep() {
    const local = await this.storage.keep(this.answers.kept, this.lock.held);
    if (local && local !== this.answers.kept) this.answers.join(local);
    this.kept = word(local ? "saved" : "not_saved");
    if (this.server) this.kept = word(await this.server.send(resultOf(this.answers)) ? "saved_server" : "server_lost");
    document.body.dataset.kept = String(Object.keys(this.answers.kept.items).length);
  }

  pause() {
    this.clock.end();
    this.screen = "pause";
    Screens.pause({ kept: this.kept, go: () => this.visit(), save: () => this.save() });
  }

  /** The last questions, once all texts are done. */
  exit() {
    this.screen = "exit";
    Screens.exit({ said: this.answers.kept.exit ?? {}, tell: (id, value) => { this.answers.tellExit(id, value); this.unsaved += 1; this.keep(); },
      go: () => { this.exited = true; this.end(); }, back: () => { this.place = 0; this.visit(); } });
  }

  end() {
    if (page.exit && !this.exited && this.answers.firstOpen(page.items) === page.items.length) return this.exit();
    this.screen = "end";
    Screens.end({ summary: this.answers.summary(), kept: this.kept, back: () => { this.place = Math.min(this.answers.firstOpen(page.items), page.items.length - 1); this.visit(); },
      save: () => this.save(), table: () => saveTable(this.answers) });
  }

  save() {
    this.clock.stop();
    saveResult(this.answers);
    this.unsaved = 0;
    this.clock.resume();
  }

  /** Where nothing is kept, ask to save after every ten texts. */
  remind() {
    if (this.storage.works || this.server || this.screen !== "text" || this.answers.done % 10 || !this.unsaved) return;
    openDialog((close) => [heading("h2", word("time_to_save")), button(word("save_file"), () => { close(); this.save(); }, { class: "main" })]);
  }

  key(event) {
    if (this.screen !== "text" || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const { target, key } = event;
    if (target.matches("textarea, input")) {
      if (key !== "Enter" || event.shiftKey) return;
      target.blur();
    }
    if (key === "Enter" && target.matches("button:not([aria-pressed=true]), summary")) return;
    const forward = document.documentElement.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
    const backward = forward === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const actions = { Enter: () => this.next(), [forward]: () => this.next(), [backward]: () => this.back(), s: () => this.skip(), c: () => this.comment(),
      u: () => this.undo(), p: () => this.pause() };
    if (/^\d$/.test(key)) this.score(kindOf(this.question).ofDigit(this.question, key));
    else if (kindOf(this.question).ofLetter?.(this.question, key) !== undefined) this.score(kindOf(this.question).ofLetter(this.question, key));
    else if (document.querySelector(`[data-key="${CSS.escape(key)}"]`)) document.querySelector(`[data-key="${CSS.escape(key)}"]`).click();
    else if (actions[key]) actions[key]();
    else return;
    event.preventDefault();
  }

  get question() {
    return page.questions[this.item.questions[this.current]];
  }

  /** Take a score that was typed. Nobody answers a question that is off the screen: the first key brings it there. */
  score(value) {
    if (value !== undefined && !this.reveal()) this.choose(this.question.id, value);
  }
}

let sitting;
Session.begin().then((session) => (sitting = session));
