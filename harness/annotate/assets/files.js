"use strict";
// The result file: answers as JSON or CSV to save and send back, and JSON that was saved before to go on from.

const RESULT = "judge-harness labels";

/** All that is sent back. The checksum shows a change by accident. */
function resultOf(answers) {
  const said = [];
  for (const [role, items] of [["practice", page.practice], ["item", page.items]]) {
    for (const item of items) {
      const own = answers.of(item.key);
      if (own.changed === undefined && own.place === undefined && !own.ms) continue;
      said.push({ key: item.key, practice: role === "practice", place: own.place ?? null, scores: own.scores, errors: own.errors ?? null,
        no_errors: own.no_errors ?? false, skip: own.skip ?? null, comment: own.comment ?? null, ms: own.ms, changed: own.changed ?? null,
        ...(own.reviews ? { reviews: own.reviews } : {}) });
    }
  }
  return {
    kind: RESULT, schema_version: 1, page: page.page, version: page.version, annotator: page.annotator, language: page.language,
    session: answers.kept.session, joined: answers.kept.joined ?? [], started: answers.kept.started, saved: new Date().toISOString(), practised: answers.kept.practised,
    ...(answers.kept.exitChanged ? { exit: answers.kept.exit, exit_changed: answers.kept.exitChanged } : {}),
    summary: answers.summary(), answers: said, checksum: checksum(said),
  };
}

/** FNV-1a of 32 bits over the UTF-8 of what was said, in a form that any language can write. */
function checksum(said) {
  const lines = said.map((one) => {
    const scores = Object.keys(one.scores).sort().map((metric) => metric + "=" + one.scores[metric]);
    const errors = (one.errors || []).map((error) => [error.field, error.start, error.end, error.severity].join(":"));
    const reviews = Object.keys(one.reviews || {}).sort().map((metric) => metric + "=" + one.reviews[metric].reasons.join("+") + ":" + one.reviews[metric].words);
    return [one.key, one.place ?? "", scores.join(","), errors.join(","), one.skip ?? "", one.comment ?? "", one.ms, ...reviews, ...(one.changed ? [one.changed] : [])].join("|");
  });
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(lines.join("\n"))) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}

/** A table with one row for each score, from which all labels can be read; practice is left out. The checksum is that of its answers. */
function tableOf(result) {
  const answers = result.answers.filter((one) => !one.practice);
  const columns = ["page", "annotator", "key", "place", "metric", "score", "skip", "seconds", "comment", ...(page.review ? ["reasons", "words"] : []),
    ...(page.mark_errors ? ["errors", "no_errors"] : []), "changed", "session", "saved", "checksum"];
  const shared = { page: result.page, annotator: result.annotator, session: result.session, saved: result.saved, checksum: checksum(answers) };
  const rows = answers.flatMap((one) => {
    const said = { ...shared, key: one.key, place: one.place, skip: one.skip, seconds: one.ms / 1000, comment: one.comment, changed: one.changed,
      errors: one.errors && JSON.stringify(one.errors), no_errors: one.no_errors };
    const scores = Object.entries(one.scores);
    return (scores.length ? scores : [[null, null]]).map(([metric, score]) =>
      ({ ...said, metric, score, reasons: one.reviews?.[metric]?.reasons.join(" "), words: one.reviews?.[metric]?.words }));
  });
  const lines = [columns, ...rows.map((row) => columns.map((name) => row[name] ?? ""))];
  return "\ufeff" + lines.map((line) => line.map(cellOf).join(",")).join("\r\n") + "\r\n";
}

/** A cell of a CSV file. What a spreadsheet could run as a formula begins with an apostrophe, which the import removes again. */
function cellOf(value) {
  const text = String(value);
  const start = text.replace(/^'+/, "").replace(/^[\p{Z}\p{C}]+/u, "")[0] ?? "";
  const formula = /^'*[\t\r\n]/.test(text) || "=+-@".includes(start.normalize("NFKC")[0] ?? " ");
  const safe = typeof value === "string" && formula ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}

function saveFile(name, text, kind) {
  const address = URL.createObjectURL(new Blob([text], { type: kind }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

function fileName(ending) {
  const part = page.part[1] > 1 ? "-part" + page.part[0] : "";
  return "labels-" + page.annotator + part + "-" + page.page.slice(0, 6) + ending;
}

const saveResult = (answers) => saveFile(fileName(".json"), JSON.stringify(resultOf(answers), null, 1) + "\n", "application/json");
const saveTable = (answers) => saveFile(fileName(".csv"), tableOf(resultOf(answers)), "text/csv");

/** The answers of a saved file in the form in which they are kept. Throws the id of the word that says what is wrong. */
function answersOfFile(text) {
  let result;
  try {
    result = JSON.parse(text);
  } catch {
    throw new Error("file_unreadable");
  }
  if (!result || result.kind !== RESULT || !Array.isArray(result.answers)) throw new Error("file_unreadable");
  if (result.page !== page.page || result.annotator !== page.annotator) throw new Error("file_of_another_page");
  return answersOf(result);
}

/** The answers of a result in the form in which they are kept. */
function answersOf(result) {
  const items = {};
  for (const { key, practice, ...said } of result.answers) {
    items[key] = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null && value !== false));
  }
  const order = Math.max(0, ...result.answers.map((one) => one.place ?? 0));
  return { page: page.page, session: result.session, joined: result.joined ?? [], started: result.started, order, practised: result.practised ?? 0, items,
    ...(result.exit_changed ? { exit: result.exit ?? {}, exitChanged: result.exit_changed } : {}) };
}
