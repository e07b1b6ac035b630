"use strict";
// How a question is answered. Each kind draws its controls and says what a typed digit means; a further kind is one more entry.

const KINDS = {
  classes: {
    draw(question, value, choose) {
      return make("div", { class: "classes", role: "group", "aria-labelledby": "q-" + question.id }, question.classes.map((one) =>
        make("button", { type: "button", class: "class", "aria-pressed": String(one.value === value), "data-value": one.value,
          onclick: () => choose(one.value) },
        make("b", {}, one.name), one.hint ? make("span", { class: "hint" }, one.hint) : null, one.key ? make("kbd", {}, one.key) : null)));
    },
    /** The class that a key names, as y and n do of yes and no. */
    ofLetter: (question, letter) => question.classes.find((one) => one.key === letter)?.value,
    /** The class that a digit names: by its own name, else by its place from 1. Of yes and no 1 is yes and 0 is no. */
    ofDigit(question, digit) {
      const letter = { 1: "y", 0: "n" }[digit];
      if (question.classes.some((one) => one.key)) return letter && question.classes.find((one) => one.key === letter)?.value;
      const named = question.classes.find((one) => String(one.value) === digit);
      if (named) return named.value;
      if (question.classes.some((one) => /^\d$/.test(String(one.value)))) return undefined;
      return question.classes[Number(digit) - 1]?.value;
    },
    shown(question, value) {
      const chosen = question.classes.find((one) => one.value === value);
      return chosen ? [chosen.name, chosen.hint].filter(Boolean).join(" – ") : String(value);
    },
  },
  number: {
    draw(question, value, choose) {
      const range = { min: question.min, max: question.max, step: question.step };
      const words = word("choose_number", { min: question.min, max: question.max });
      const number = make("input", { type: "number", inputmode: "decimal", ...range, step: "any", value: value ?? null, "aria-label": words });
      const slider = make("input", { type: "range", ...range, value: value ?? question.min,
        class: value === undefined ? "untouched" : null, "aria-label": words }); // an untouched slider shows no thumb, as it rests at no score
      const take = (text) => {
        const chosen = Number(text);
        if (text !== "" && chosen >= question.min && chosen <= question.max) choose(chosen);
      };
      slider.addEventListener("input", () => { number.value = slider.value; slider.classList.remove("untouched"); });
      slider.addEventListener("change", () => take(slider.value));
      slider.addEventListener("pointerup", () => take(slider.value));
      number.addEventListener("change", () => take(number.value));
      const [low, high] = question.ends ?? ["", ""];
      const end = (at) => {
        const said = (at === question.min ? low : high) || (question.best === null ? "" : word(at === question.best ? "best" : "worst"));
        return shownNumber(at) + (said.length && said.length <= 30 ? ` (${said})` : "");
      };
      return make("div", { class: "number" }, make("p", { class: "hint" }, words), number,
        make("div", { class: "slider" }, make("span", {}, end(question.min)), slider, make("span", {}, end(question.max))));
    },
    ofDigit: () => undefined,
    shown: (question, value) => shownNumber(value),
  },
};

// Another rater's score and reason: people agree or not, and say why.
const AGREEMENT = { agree: "agree", partly: "partly_agree", disagree: "disagree" };
const REASONS = ["misreads_text", "wrong_fact", "wrong_language_rule", "too_strict", "too_lenient", "does_not_fit_score"];

KINDS.review = {
  draw(question, value, choose, { item, told, tell }) {
    const { score, reason } = item.reviews[question.id];
    const meaning = question.classes?.find((one) => one.value === score);
    const own = () => told().reviews?.[question.id] || { reasons: [], words: "" };
    const say = (changes, redraw) => tell({ reviews: { ...told().reviews, [question.id]: { ...own(), ...changes } } }, redraw);
    const pressed = (label, on, onclick, data) =>
      make("button", { type: "button", class: "class", "aria-pressed": String(on), "data-value": data, onclick }, make("b", {}, label));
    const toggle = (id) => say({ reasons: REASONS.filter((other) => own().reasons.includes(other) !== (other === id)) }, true);
    const names = { reason: "r-" + question.id, why: "w-" + question.id, words: "o-" + question.id };
    const area = make("textarea", { rows: 3, maxlength: 4000, lang: page.language, dir: "auto", id: names.words, oninput: () => say({ words: area.value }) });
    area.value = own().words;
    return make("div", { class: "review" },
      make("p", {}, word("rater_score", { score: meaning?.name ?? score }), meaning?.hint ? [" ", make("span", { class: "hint" }, meaning.hint)] : null),
      make("h3", { id: names.reason }, word("rater_reason")), make("blockquote", { dir: "auto", "aria-labelledby": names.reason }, reason),
      make("p", { id: "a-" + question.id }, word("do_you_agree")),
      make("div", { class: "classes", role: "group", "aria-labelledby": "a-" + question.id },
        Object.keys(AGREEMENT).map((one) => pressed(word(AGREEMENT[one]), one === value, () => choose(one), one))),
      value === "partly" || value === "disagree"
        ? [make("p", { id: names.why }, word("why_not")), make("div", { class: "classes why", role: "group", "aria-labelledby": names.why },
          REASONS.map((id) => pressed(word(id), own().reasons.includes(id), () => toggle(id), id)))]
        : null,
      value === undefined ? null : [make("label", { for: names.words }, word("in_your_words")), area]);
  },
  ofDigit: (question, digit) => Object.keys(AGREEMENT)[Number(digit) - 1],
  shown: (question, value) => word(AGREEMENT[value]),
};

const kindOf = (question) => KINDS[question.kind];

/**
 * One question with its controls and, folded, what the scores mean. A review also reads and changes what was told of the item.
 * On a narrow screen only the current question is open; the button of another one opens it.
 */
function drawQuestion(question, value, current, choose, open, telling) {
  const explained = question.classes?.filter((one) => one.points.length) ?? [];
  return make("section", { class: current ? "question current" : "question", "aria-current": current ? "true" : null, "data-metric": question.id },
    make("h2", { id: "q-" + question.id }, question.title),
    current ? null : make("button", { type: "button", class: "open", onclick: open }, make("b", {}, question.title),
      value === undefined ? null : make("span", {}, kindOf(question).shown(question, value))),
    question.text ? make("p", { class: "asked" }, question.text) : null,
    kindOf(question).draw(question, value, choose, telling),
    question.description || explained.length
      ? make("details", {}, make("summary", {}, word("scores_explained")), paragraphs(question.description),
        make("dl", {}, explained.map((one) => [make("dt", {}, one.name), make("dd", {}, make("ul", {}, one.points.map((point) => make("li", {}, point))))])))
      : null);
}
