"use strict";
// What is drawn on each screen: start, one text, skip and comment, pause, end. Screens call back; they change no answer themselves.

function button(label, press, options) {
  const { key, ...attributes } = options || {};
  return make("button", { type: "button", onclick: press, "aria-keyshortcuts": key || null, ...attributes },
    label, key && key.length === 1 ? [" ", make("kbd", { "aria-hidden": "true" }, key)] : null);
}

/** Show a screen and move the reader to its heading. */
function show(...content) {
  const main = document.getElementById("main");
  main.replaceChildren(...content.flat().filter(Boolean));
  scrollTo(0, 0);
  main.querySelector("h1, h2")?.focus({ preventScroll: true });
}

const heading = (level, text) => make(level, { tabindex: "-1" }, text);

/** Opens a dialog with its content; it closes on Escape, on Cancel, and when `close` is called. */
function openDialog(draw) {
  const dialog = make("dialog", {});
  const close = () => dialog.close();
  dialog.append(...draw(close), button(word("cancel"), close, { class: "quiet" }));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Texts and questions stand below each other, as on a phone or at 400 % zoom: one question is open at a time. */
const NARROW = matchMedia("(max-width: 56rem)");

const Screens = {
  start({ done, storage, served, begin, open }) {
    const picker = make("input", { type: "file", accept: ".json,application/json", hidden: true, onchange: () => open(picker.files[0]) });
    const consent = page.about ? make("input", { type: "checkbox", id: "consent", checked: done > 0 }) : null;
    const warned = page.offensive ? make("input", { type: "checkbox", id: "warned" }) : null; // asked at every visit
    const checks = [consent, warned].filter(Boolean), agreed = () => checks.every((box) => box.checked);
    const go = button(done ? word("go_on") : word("start"), begin, { class: "main", disabled: !agreed() });
    for (const box of checks) box.addEventListener("change", () => { go.disabled = !agreed(); });
    const facts = [word("number_of_texts", { n: page.items.length }), page.practice.length ? word("number_of_practice", { n: page.practice.length }) : null,
      word("time_needed", { minutes: Math.max(1, Math.round(page.seconds / 60)) }), word("your_code", { code: page.annotator })];
    show(heading("h1", word("title")),
      page.part[1] > 1 ? make("p", {}, word("part_number", { n: page.part[0], total: page.part[1] })) : null,
      make("div", { class: "about", lang: page.language, dir: "auto" }, paragraphs(page.about)),
      make("p", {}, word("what_to_do")), make("p", {}, word("judge_alone")), make("p", {}, word(served ? "privacy_server" : "privacy")),
      make("ul", {}, facts.filter(Boolean).map((fact) => make("li", {}, fact))),
      storage ? null : make("p", { class: "warning", role: "alert" }, word("storage_refused")),
      page.reviewed ? null : make("p", { class: "faint" }, word("unreviewed")),
      done ? make("p", { class: "note" }, word("answers_found", { done, total: page.items.length })) : null,
      consent ? make("p", {}, make("label", {}, consent, " ", word("consent"))) : null,
      warned ? [make("p", { class: "warning", role: "alert" }, word("offensive_warning")), make("p", {}, make("label", {}, warned, " ", word("offensive_confirm")))] : null,
      make("p", { class: "row" }, go, button(word("open_file"), () => picker.click(), { class: "quiet" }), picker),
      keysHelp());
    (checks[0] ?? go).focus({ preventScroll: true }); // Enter starts
  },

  /** The page is open in another tab, which has the answers. */
  elsewhere({ go }) {
    show(heading("h1", word("title")), make("p", { class: "warning", role: "alert" }, word("open_elsewhere")),
      make("p", { class: "row" }, button(word("go_on_here"), go, { class: "main" })));
  },

  /** One text with its questions. `verdict` explains a practice text after its answers. */
  text({ item, title, said, current, verdict, left, done, choose, open, change, told, tell, press }) {
    const questions = item.questions.map((metric, number) => {
      const drawn = drawQuestion(page.questions[metric], said.scores[metric], number === current, (value) => choose(metric, value), () => open(number), { item, told, tell });
      if (verdict) drawn.append(explanation(page.questions[metric], item.expected[metric], said.scores[metric]));
      return drawn;
    });
    const main = document.getElementById("main");
    main.replaceChildren(
      make("header", { class: "bar" }, heading("h1", title),
        make("progress", { max: page.items.length, value: done, "aria-label": word("progress", { done, total: page.items.length }) }),
        make("span", { class: "faint" }, word("progress", { done, total: page.items.length }), done < page.items.length ? [" · ", left] : null)),
      make("div", { class: "item" }, drawTexts(item, said),
        make("aside", { class: verdict ? "answers explained" : "answers", "aria-label": word("text_to_judge") },
          verdict && item.why ? make("p", { class: "why" }, word("practice_why"), " ", word(item.why)) : null, page.mark_errors ? markingPanel(item, said, change) : null, questions,
          said.skip ? make("p", { class: "note" }, word("skipped", { reason: word(SKIPS[said.skip]) })) : null,
          said.comment ? make("p", { class: "note", lang: page.language, dir: "auto" }, word("comment") + ": " + said.comment) : null,
          make("div", { class: "actions" }, make("nav", { class: "row" }, button(word("back"), press.back), button(word("next"), press.next, { class: "main", key: "Enter" })),
          make("details", { class: "small", open: !NARROW.matches }, make("summary", {}, word("more")), make("div", { class: "row" },
            button(word("skip"), press.skip, { key: "s" }), button(word("comment"), press.comment, { key: "c" }),
            button(word("undo"), press.undo, { key: "u" }), button(word("pause"), press.pause, { key: "p" }), button(word("save_file"), press.save)))),
          keysHelp())));
  },

  skip(choose) {
    const dialog = openDialog((close) => [heading("h2", word("skip_why")), make("div", { class: "column" }, Object.keys(SKIPS).map((reason, number) =>
      button(word(SKIPS[reason]), () => { close(); choose(reason); }, { key: String(number + 1) })))]);
    dialog.addEventListener("keydown", (event) => dialog.querySelectorAll(".column button")[Number(event.key) - 1]?.click());
  },

  comment(text, take) {
    openDialog((close) => {
      const area = make("textarea", { rows: 5, maxlength: 4000, lang: page.language, dir: "auto", id: "comment", autofocus: true });
      area.value = text || "";
      return [make("label", { for: "comment" }, word("your_comment")), area,
        button(word("done"), () => { close(); take(area.value.trim()); }, { class: "main" })];
    });
  },

  pause({ go, save, kept }) {
    show(heading("h1", word("paused")), make("p", {}, kept), make("p", { class: "row" }, button(word("go_on"), go, { class: "main" }), button(word("save_file"), save)));
  },

  /** The questions after the last text, about the whole work. Nobody has to answer. */
  exit({ said, tell, go, back }) {
    const drawn = page.exit.map((question) => {
      const name = "x-" + question.id;
      if (question.kind === "text") {
        const area = make("textarea", { rows: 4, maxlength: 4000, lang: page.language, dir: "auto", id: name, oninput: () => tell(question.id, area.value.trim()) });
        area.value = said[question.id] ?? "";
        return make("section", { class: "question" }, make("label", { for: name }, question.question), area);
      }
      const numbers = Array.from({ length: question.max - question.min + 1 }, (_, step) => question.min + step);
      const hint = (n) => (n === question.min ? question.low : n === question.max ? question.high : "");
      const press = ({ currentTarget: pressed }) => { // a second press takes the answer back
        const taken = pressed.getAttribute("aria-pressed") === "false";
        for (const other of pressed.parentElement.children) other.setAttribute("aria-pressed", String(other === pressed && taken));
        tell(question.id, taken ? Number(pressed.dataset.value) : undefined);
      };
      const buttons = numbers.map((n) => make("button", { type: "button", class: "class", "aria-pressed": String(said[question.id] === n), "data-value": n,
        onclick: press }, make("b", {}, n), hint(n) ? make("span", { class: "hint" }, hint(n)) : null));
      return make("section", { class: "question" }, make("p", { id: name }, question.question), make("div", { class: "classes", role: "group", "aria-labelledby": name }, buttons));
    });
    show(heading("h1", word("exit_title")), make("p", {}, word("exit_optional")), drawn,
      make("p", { class: "row" }, button(word("next"), go, { class: "main" }), button(word("back_to_texts"), back, { class: "quiet" })));
  },

  end({ summary, kept, back, save, table }) {
    const complete = summary.answered + summary.skipped === summary.texts;
    const facts = [["answered_texts", summary.answered], ["skipped_texts", summary.skipped], ["minutes_spent", summary.minutes], ["median_seconds", summary.median_seconds]];
    show(heading("h1", word(complete ? "all_done" : "not_all_done")),
      make("ul", {}, facts.map(([id, n]) => make("li", {}, word(id, { n })))),
      complete && page.review ? make("p", { class: "warning" }, word("rater_was_machine")) : null,
      make("p", {}, kept), make("p", {}, make("strong", {}, word("send_back"))),
      make("p", { class: "row" }, button(word("save_result"), save, { class: "main" }), page.exit ? null : button(word("save_table"), table), button(word("back_to_texts"), back, { class: "quiet" })));
  },
};

/** Whether a practice answer is the expected one, and the expected one in words. */
function explanation(question, expected, given) {
  const right = given === expected;
  return make("div", { class: right ? "verdict right" : "verdict other" },
    make("p", {}, word(right ? "practice_right" : "practice_other", { answer: kindOf(question).shown(question, expected) })));
}

function keysHelp() {
  const keys = [["0–9", "key_score"], ["Enter →", "next"], ["←", "back"], ["s", "skip"], ["c", "comment"], ["u", "undo"], ["p", "pause"]];
  return make("details", { class: "keys" }, make("summary", {}, word("keys")),
    make("ul", {}, keys.map(([key, id]) => make("li", {}, make("kbd", {}, key), " ", word(id)))));
}
