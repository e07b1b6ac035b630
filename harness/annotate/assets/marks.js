"use strict";
// Errors that people mark in a text: they select words and say how serious the error is. Places are counted in characters (code points).

const SEVERITIES = ["minor", "major"];
const CHANGED = -1; // of a place that nobody marked and that differs from another text

/** The selected part of a text element as {field, start, end}, or nothing. */
function selectedPart() {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return undefined;
  const range = selection.getRangeAt(0);
  const inside = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement).closest(".text.output");
  const text = inside(range.startContainer);
  if (!text || text !== inside(range.endContainer)) return undefined;
  const before = range.cloneRange();
  before.selectNodeContents(text);
  before.setEnd(range.startContainer, range.startOffset);
  const start = [...before.toString()].length;
  return { field: text.dataset.field, start, end: start + [...range.toString()].length };
}

/** A text with its marks as elements; where marks overlap, the more serious one shows. `changed` are places that differ from another text. */
function markedText(text, errors, changed = []) {
  const letters = [...text];
  const severity = new Array(letters.length).fill(0);
  for (const [from, to] of changed) severity.fill(CHANGED, from, to);
  for (const error of errors) {
    for (let place = error.start; place < Math.min(error.end, letters.length); place += 1) {
      severity[place] = Math.max(severity[place] === CHANGED ? 0 : severity[place], 1 + SEVERITIES.indexOf(error.severity));
    }
  }
  const parts = [];
  let start = 0;
  for (let place = 1; place <= letters.length; place += 1) {
    if (place < letters.length && severity[place] === severity[start]) continue;
    const part = letters.slice(start, place).join("");
    parts.push(severity[start] ? make("mark", { class: severity[start] === CHANGED ? "changed" : SEVERITIES[severity[start] - 1] }, part) : part);
    start = place;
  }
  return parts;
}

/** The panel with the buttons to mark, and the list of marks. */
function markingPanel(item, said, change) {
  const errors = said.errors || [];
  const mark = (severity) => {
    const part = selectedPart();
    if (part) change({ errors: [...errors, { ...part, severity }], no_errors: undefined });
    else announce(word("mark_errors"));
  };
  const remove = (number) => change({ errors: errors.filter((_, other) => other !== number) });
  const quoted = (error) => [...item.texts[error.field]].slice(error.start, error.end).join("");
  const buttons = SEVERITIES.map((severity, number) =>
    make("button", { type: "button", class: severity, "data-key": number ? "m" : "n", onmousedown: (event) => event.preventDefault(),
      onclick: () => mark(severity) }, word(severity + "_error"), " ", make("kbd", { "aria-hidden": "true" }, number ? "m" : "n")));
  const list = errors.map((error, number) => make("li", {},
    make("mark", { class: error.severity, lang: page.language, dir: "auto" }, quoted(error)), " ", word(error.severity + "_error"), " ",
    make("button", { type: "button", class: "small", onclick: () => remove(number) }, word("remove_mark"))));
  return make("section", { class: "marking" }, make("p", {}, word("mark_errors")), make("div", { class: "row" }, buttons,
    make("button", { type: "button", "aria-pressed": String(Boolean(said.no_errors)), disabled: errors.length > 0,
      onclick: () => change({ no_errors: !said.no_errors }) }, word("no_errors"))),
    errors.length ? make("p", {}, word("marked_errors", { n: errors.length })) : null, make("ul", { class: "marks" }, list));
}
