// What leaves the page by the reader's own hand: the address of a view, an item as Markdown, judgments as CSV, files.
"use strict";
const Share = (() => {
  // ---- addresses: `#items?language=hi&failure=&item=x`; an empty value stands for none

  const addressOf = (view) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(view)) if (value !== undefined) query.append(name, value === null ? "" : String(value));
    const text = query.toString();
    return text ? `#items?${text}` : "#items";
  };
  const viewOf = (hash) => {
    if (!hash.startsWith("#items?")) return null;
    return Object.fromEntries([...new URLSearchParams(hash.slice(7))].map(([name, value]) => [name, value === "" ? null : value]));
  };

  // ---- Markdown: texts of others stand in code, which no Markdown reads

  const longest = (text, sign) => Math.max(0, ...(text.match(new RegExp(`${sign}+`, "g")) || []).map((run) => run.length));
  const code = (value) => {
    const text = String(value).replaceAll("\n", " "), ticks = "`".repeat(longest(text, "`") + 1);
    return `${ticks} ${text} ${ticks}`;
  };
  const block = (text, lang) => {
    const ticks = "`".repeat(Math.max(3, longest(text, "`") + 1));
    return `${ticks}text ${lang.replace(/[^A-Za-z0-9-]/g, "")}\n${text}\n${ticks}`;
  };
  const markdown = (items, n, signOf) => {
    const [first, ...others] = items.rowsOf(n), item = items.itemOf[first], lang = items.languageOf(item);
    const lines = [`## ${code(items.data.items.id[item])} · ${lang} · ${code(items.at("metric", first))}`, ""];
    for (const about of [1, 0]) for (const [name, text, own] of items.texts(item, about)) lines.push(`**${code(name)}**`, "", block(text, own || lang), "");
    lines.push("**Labels**", "", ...items.labelsAt(first).map(([who, score, source]) => `- ${code(who)}: ${code(score)}${source === "native" ? "" : ` (${source})`}`), "", "**Judges**", "");
    for (const row of [first, ...others]) {
      const changed = items.at("perturbation", row), score = items.at("score", row), words = items.at("justification", row);
      const given = score === null ? `no score (${items.at("failure", row) ?? "missing"})` : `score ${code(score)}`;
      lines.push(`- ${code(items.columns.side.values[items.side[row]])}${changed === null ? "" : `, text changed by ${code(changed)}`}: ${given} ${signOf(row)}${words ? `: ${code(words)}` : ""}`);
    }
    return lines.join("\n") + "\n";
  };

  // ---- CSV: a cell that a spreadsheet could compute gets an apostrophe, as in the program's own files

  const FORMULA = /^[\s\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "string" && FORMULA.test(value.replace(/^'+/, "")) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const COLUMNS = ["language", "task", "metric", "group", "system", "source", "judge", "variant", "temperature", "top_p", "perturbation", "repeat", "reference", "agreement", "score", "failure", "outcome", "justification"];
  const csv = (items, hit) => {
    const columns = COLUMNS.filter((name) => name !== "justification" || !items.data.warning); // a reason quotes its text
    const lines = [["item_id", ...columns, "labels", "distance"].join(",")];
    for (let row = 0; row < items.size; row++) {
      if (!hit[row]) continue;
      const labels = items.labelsAt(row).map(([who, score]) => `${who}: ${score}`).join("; "), far = items.distance[row];
      const values = [items.data.items.id[items.itemOf[row]], ...columns.map((name) => items.at(name, row)), labels, Number.isNaN(far) ? null : Number(far.toFixed(4))];
      lines.push(values.map(cell).join(","));
    }
    return lines.join("\r\n") + "\r\n";
  };

  const save = (name, text, type) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = Object.assign(document.createElement("a"), { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text });
      document.body.append(area);
      area.select();
      const copied = document.execCommand("copy");
      area.remove();
      return copied;
    }
  };
  return { addressOf, viewOf, markdown, csv, save, copy };
})();
