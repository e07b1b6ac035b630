// An item's texts as nodes. Texts reach the page by textContent only. What marks places in a text (spans of errors) plugs in at `text`.
"use strict";
const ItemText = (() => {
  const make = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "class") node.className = value;
      else node.setAttribute(key, value === true ? "" : String(value));
    }
    for (const child of children) if (child !== null && child !== undefined && child !== false) node.append(child);
    return node;
  };
  const spaced = (name) => String(name).replaceAll("_", " ");

  // A text as nodes: of a conversation the roles stand out. A message's own lines are indented, so no message can look like a role.
  const withRoles = (value) => {
    const roles = /^\[[a-z][a-z0-9_-]{0,31}\]$/;
    if (typeof value !== "string" || !roles.test(value.split("\n", 1)[0])) return [value];
    return value.split("\n").flatMap((line, number) => [number ? "\n" : "", roles.test(line) ? make("b", { class: "role" }, line) : line]);
  };

  // One text of an item, given as a string or as nodes: `name` is its field, `lang` the language it is written in, `place` is
  // `{item, row}` in the page's data.
  // `place.layers` are the errors that were marked in the judged text, if any.
  const text = (name, value, lang, place) => make("p", { class: "text", lang, dir: "auto", "data-field": name, "data-item": place.item },
    ...(place.layers && name === ErrorSpans.FIELD ? [ErrorSpans.marked(value, place.layers)] : withRoles(value)));

  // All texts of an item, each below its name; `fields` are `[name, value, language]`, without a language if it is `lang`. The two
  // texts of a pair stand side by side, after the others.
  const texts = (fields, lang, place) => {
    const nodes = make("div", { class: "texts" });
    const pair = PairTexts.isPair(fields);
    for (const [name, value, own] of fields) {
      if (pair && PairTexts.FIELDS.includes(name)) continue;
      nodes.append(make("p", { class: "field" }, spaced(name)), text(name, value, own || lang, place));
      if (place.layers && name === ErrorSpans.FIELD) nodes.append(ErrorSpans.legend(place.layers));
    }
    if (pair) nodes.append(...PairTexts.sides(fields, lang, place));
    return nodes;
  };
  return { make, spaced, text, texts };
})();
