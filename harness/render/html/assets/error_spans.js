// Errors that people and judges marked in a text: marks in the text itself, and a list that says the same in words.
// An error is [severity, start, end, words, reason]; start is null if it has no place. A layer is {who, errors}.
"use strict";
const ErrorSpans = (() => {
  const { make } = ItemText;
  const FIELD = "output";
  const placed = (errors) => errors.filter(([, start]) => start !== null);

  // the layers of one case: people first, then the judges; null if nobody was asked for errors
  const layers = (labels, cards) => {
    const every = [...labels.map(([who, , , errors]) => ({ who, kind: "people", errors })), ...cards.map(({ who, errors }) => ({ who, kind: "judge", errors }))];
    const marked = every.filter(({ errors }) => errors);
    return marked.length ? marked : null;
  };

  // the text as nodes: wherever somebody marked something, a <mark> that says who and how severe
  const marked = (value, layers) => {
    const marks = layers.flatMap(({ who, kind, errors }) => placed(errors).map(([severity, start, end]) => ({ who, kind, severity, start, end: Math.min(end, value.length) }))).filter(({ start, end }) => start < end);
    const borders = [...new Set([0, value.length, ...marks.flatMap(({ start, end }) => [start, end])])].sort((a, b) => a - b);
    const nodes = document.createDocumentFragment();
    for (let n = 0; n + 1 < borders.length; n++) {
      const [from, to] = [borders[n], borders[n + 1]], over = marks.filter(({ start, end }) => start <= from && to <= end);
      if (!over.length) { nodes.append(value.slice(from, to)); continue; }
      const kinds = new Set(over.map(({ kind }) => kind)), severe = over.some(({ severity }) => severity === "major") ? "major" : "minor";
      const title = over.map(({ who, severity }) => `${who}: ${severity}`).join(", ");
      nodes.append(make("mark", { class: ["error", severe, ...kinds].join(" "), title }, value.slice(from, to)));
    }
    return nodes;
  };

  // the errors in words; `lang` is the language of the text
  const list = (errors, lang) => {
    if (!errors) return null;
    if (!errors.length) return make("p", { class: "note" }, "No error marked.");
    const nodes = make("ul", { class: "errors plain" });
    for (const [severity, start, , words, reason] of errors) {
      const what = words === "" ? "something is left out" : make("q", { lang, dir: "auto" }, words);
      nodes.append(make("li", { class: severity }, make("b", {}, severity), " ", what, start === null && words !== "" ? make("span", { class: "note" }, " (no such place in the text)") : null, reason ? make("span", { class: "note", dir: "auto" }, ` ${reason}`) : null));
    }
    return nodes;
  };

  const legend = (layers) => {
    const kinds = new Set(layers.map(({ kind }) => kind));
    const words = [kinds.has("people") && "solid line: people", kinds.has("judge") && "dashed line: judges", "thick: major"].filter(Boolean);
    return make("p", { class: "note" }, `Marked errors (${words.join(", ")})`);
  };
  return { FIELD, layers, marked, list, legend };
})();
