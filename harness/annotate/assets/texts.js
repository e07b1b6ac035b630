"use strict";
// The texts of an item: what its writer was given, and what is to be judged; two texts to be compared stand side by side.

/** A text; of a conversation the roles stand out. A message's own lines are indented, so no message can look like a role. */
function withRoles(text) {
  const roles = /^\[[a-z][a-z0-9_-]{0,31}\]$/;
  if (!roles.test(text.split("\n", 1)[0])) return text;
  return text.split("\n").map((line, number) => [number ? "\n" : "", roles.test(line) ? make("b", { class: "role" }, line) : line]);
}

function drawText(item, field, title, output, errors) {
  const attributes = { class: output ? "text output" : "text", lang: item.languages?.[field] ?? page.language, dir: "auto", "data-field": field };
  const marks = errors.filter((error) => error.field === field), changed = item.changed?.[field] ?? [];
  return make("section", { class: "block" }, make("h2", {}, title),
    make("div", attributes, output && (marks.length || changed.length) ? markedText(item.texts[field], marks, changed) : withRoles(item.texts[field])),
    output && changed.length ? make("p", { class: "hint" }, word("changed_words")) : null);
}

/** Everything to read about an item. Empty texts are left out. */
function drawTexts(item, said) {
  const task = page.tasks[item.task];
  const errors = said.errors || [];
  const filled = Object.keys(task.fields).filter((field) => item.texts[field].trim() || task.outputs.includes(field));
  const drawn = (field) => drawText(item, field, task.fields[field], task.outputs.includes(field), errors);
  const outputs = filled.filter((field) => task.outputs.includes(field));
  const inputs = filled.filter((field) => !task.outputs.includes(field));
  return make("article", { class: "texts" },
    task.about ? make("details", { class: "about" }, make("summary", {}, word("writers_were_asked")), paragraphs(task.about)) : null,
    inputs.map(drawn), make("div", { class: outputs.length > 1 ? "pair" : "single" }, outputs.map(drawn)));
}
