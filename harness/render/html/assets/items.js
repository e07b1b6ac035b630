// The browser of items: filters, sorts and shows judgments beside labels. Texts reach the page by textContent only; rows are built when
// they are shown. Reads the JSON of #items-data after the page has been painted.
"use strict";
(() => {
  const PAGE = 25;
  const root = document.getElementById("browser");
  if (!root) return;
  const SIGNS = { right: "✓", wrong: "✗", failed: "!", "no reference": "○", "changed text": "◇" };
  const FACETS = [
    ["source", "Source"], ["language", "Language"], ["task", "Task"], ["metric", "Metric"], ["agreement", "Annotators agree"],
    ["outcome", "Outcome"], ["judge", "Who judged"], ["variant", "Variant"], ["temperature", "Temperature"], ["top_p", "Top-p"],
    ["perturbation", "Change to the text"], ["score", "Score given"], ["reference", "Label"], ["failure", "Failure"],
  ];
  const NONE = { perturbation: "none: the original", failure: "none", agreement: "fewer than two", score: "none", reference: "none" };
  const WORDS = {
    outcome: { right: "right", wrong: "wrong", failed: "no readable score", "no reference": "labels have no majority", "changed text": "changed text (not compared)" },
    agreement: { full: "fully", partial: "partly", none: "not at all" },
  };

  const make = (name, attributes, ...children) => {
    const found = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "class") found.className = value;
      else found.setAttribute(key, value === true ? "" : String(value));
    }
    for (const child of children) if (child !== null && child !== undefined) found.append(child);
    return found;
  };
  const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many || one + "s"}`;
  const spaced = (name) => String(name).replaceAll("_", " ");
  const wordOf = (facet, value) => {
    if (value === null) return NONE[facet] || "not given";
    if (facet === "language") return data.items.names[value] ? `${data.items.names[value]} (${value})` : value;
    return WORDS[facet]?.[value] ?? (facet === "metric" || facet === "task" || facet === "failure" ? spaced(value) : String(value));
  };

  let data, columns, size, caseOf, caseStart, itemOf, labelsOf, haystacks = null, saidIn = null;
  const chosen = {};
  let shown = [], hit = null, page = 0, many = 0;

  // ---- reading

  const column = (coded, rows) => ({ values: coded.v, codes: typeof coded.c === "number" ? new Int32Array(rows).fill(coded.c) : Int32Array.from(coded.c) });
  const at = (name, row) => { const of = columns[name], code = of.codes[row]; return code < 0 ? null : of.values[code]; };

  const read = () => {
    data = JSON.parse(document.getElementById("items-data").textContent);
    const items = data.items, rows = data.rows;
    itemOf = Int32Array.from(rows.item);
    size = itemOf.length;
    columns = {};
    for (const name of Object.keys(rows)) if (name !== "item") columns[name] = column(rows[name], size);
    for (const name of ["language", "task", "group", "system"]) {
      const own = column(items[name], items.id.length);
      items[name] = own;
      columns[name] = { values: own.values, codes: Int32Array.from(itemOf, (item) => own.codes[item]) };
    }
    // a case is one item on one metric; its rows stand together
    caseOf = new Int32Array(size);
    const starts = [];
    for (let row = 0; row < size; row++) {
      const first = row === 0 || itemOf[row] !== itemOf[row - 1] || columns.metric.codes[row] !== columns.metric.codes[row - 1];
      if (first) starts.push(row);
      caseOf[row] = starts.length - 1;
    }
    starts.push(size);
    caseStart = Int32Array.from(starts);
    const labels = data.labels;
    labelsOf = new Map();
    const of = {};
    for (const name of ["metric", "annotator", "score", "source"]) of[name] = column(labels[name], labels.item.length);
    const metricCode = new Map(columns.metric.values.map((name, code) => [name, code]));
    labels.item.forEach((item, n) => {
      const key = item * (columns.metric.values.length + 1) + (metricCode.get(of.metric.values[of.metric.codes[n]]) ?? -1);
      const own = [of.annotator.values[of.annotator.codes[n]], of.score.values[of.score.codes[n]], of.source.values[of.source.codes[n]]];
      if (labelsOf.has(key)) labelsOf.get(key).push(own); else labelsOf.set(key, [own]);
    });
  };
  const labelsAt = (row) => labelsOf.get(itemOf[row] * (columns.metric.values.length + 1) + columns.metric.codes[row]) || [];

  // ---- filtering

  const searched = (text) => {
    const wanted = text.normalize("NFC").toLowerCase();
    if (!haystacks) {
      haystacks = data.items.id.map((id, n) => [id, ...data.items.texts[n].map(([, value]) => value)].join("\n").normalize("NFC").toLowerCase());
      saidIn = columns.justification.values.map((value) => value.normalize("NFC").toLowerCase());
    }
    const inItem = Uint8Array.from(haystacks, (each) => Number(each.includes(wanted)));
    const inSaid = Uint8Array.from(saidIn, (each) => Number(each.includes(wanted)));
    const said = columns.justification.codes;
    return (row) => inItem[itemOf[row]] || (said[row] >= 0 && inSaid[said[row]]);
  };

  const filter = () => {
    hit = new Uint8Array(size).fill(1);
    for (const [name, code] of Object.entries(chosen)) {
      if (name === "text" || code === "") continue;
      const codes = columns[name].codes, wanted = Number(code);
      for (let row = 0; row < size; row++) if (codes[row] !== wanted) hit[row] = 0;
    }
    if (chosen.text) {
      const has = searched(chosen.text);
      for (let row = 0; row < size; row++) if (hit[row] && !has(row)) hit[row] = 0;
    }
    shown = [];
    many = 0;
    let last = -1;
    for (let row = 0; row < size; row++) {
      if (!hit[row]) continue;
      many++;
      if (caseOf[row] !== last) { last = caseOf[row]; shown.push(last); }
    }
  };

  const ORDERS = {
    asked: null,
    wrong: (n) => -share(n, (row) => ["wrong", "failed"].includes(at("outcome", row))),
    apart: (n) => -["full", "partial", "none"].indexOf(at("agreement", caseStart[n])),
    long: (n) => -lengthOf(n),
    short: (n) => lengthOf(n),
    name: (n) => data.items.id[itemOf[caseStart[n]]],
  };
  const share = (n, of) => {
    let found = 0, all = 0;
    for (let row = caseStart[n]; row < caseStart[n + 1]; row++) if (hit[row]) { all++; found += Number(of(row)); }
    return found / all;
  };
  const lengthOf = (n) => data.items.texts[itemOf[caseStart[n]]].reduce((sum, [, text]) => sum + text.length, 0);
  const sort = () => {
    const by = ORDERS[form.elements.order.value];
    if (!by) return;
    const keys = new Map(shown.map((n) => [n, by(n)]));
    shown.sort((a, b) => { const x = keys.get(a), y = keys.get(b); return (typeof x === "string" ? x.localeCompare(y) : x - y) || a - b; });
  };

  // ---- showing

  const texts = (item, about = 0) => data.items.texts[item].filter(([field]) => data.items.about[field] === about).map(([field, text]) => [data.items.fields[field], text]);
  const glance = (item) => {
    const own = texts(item);
    const [, text] = own.find(([name]) => name.startsWith("output")) || own[own.length - 1] || ["", ""];
    return text.slice(0, 160).replaceAll("\n", " ");
  };
  const langOf = (item) => data.items.language.values[data.items.language.codes[item]];

  const caseNode = (n, number) => {
    const row = caseStart[n], item = itemOf[row], lang = langOf(item);
    const marks = make("span", { class: "given" });
    const labels = labelsAt(row);
    if (labels.length) marks.append(make("span", {}, "labels: ", make("b", {}, labels.slice(0, 9).map(([, score]) => score).join(" ") + (labels.length > 9 ? " …" : ""))));
    const tally = new Map();
    for (let each = row; each < caseStart[n + 1]; each++) if (hit[each]) tally.set(at("outcome", each), (tally.get(at("outcome", each)) || 0) + 1);
    for (const [outcome, times] of tally) marks.append(make("span", { class: `mark ${outcome.replace(" ", "-")}` }, `${SIGNS[outcome]} ${outcome}${times > 1 ? ` ×${times}` : ""}`));
    const title = make("h3", {}, make("bdi", {}, data.items.id[item]), make("span", {}, wordOf("language", lang)), make("span", {}, spaced(at("task", row))), make("b", {}, spaced(at("metric", row))));
    const summary = make("summary", {}, title, make("span", { class: "glance", lang, dir: "auto" }, glance(item)), marks);
    const details = make("details", {}, summary);
    details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(inside(n)); });
    if (number === 0 && shown.length === 1) details.open = true;
    return make("article", { class: "case" }, details);
  };

  const inside = (n) => {
    const row = caseStart[n], item = itemOf[row], lang = langOf(item);
    const found = make("div", { class: "inside" });
    const about = ["group", "system"].filter((name) => at(name, row) !== null && at(name, row) !== data.items.id[item]);
    if (about.length) found.append(make("p", { class: "note" }, about.map((name) => `${name}: ${at(name, row)}`).join(" · ")));
    for (const [name, text] of texts(item, 1)) found.append(make("p", { class: "note", dir: "auto" }, `${spaced(name)}: ${text}`));
    for (const [name, text] of texts(item)) found.append(make("p", { class: "field" }, spaced(name)), make("p", { class: "text", lang, dir: "auto" }, text));
    const labels = labelsAt(row);
    found.append(make("h4", {}, "Labels"));
    if (labels.length) {
      const list = make("ul", { class: "given plain" });
      for (const [who, score, source] of labels) list.append(make("li", { class: "mark" }, make("bdi", {}, who), ": ", make("b", {}, score), source === "native" ? null : ` (${source})`));
      found.append(list, make("p", { class: "note" }, at("reference", row) === null ? "No class is the commonest, so there is no aggregate." : `Aggregate: ${at("reference", row)}.`, at("agreement", row) === null ? "" : ` Annotators agree ${wordOf("agreement", at("agreement", row))}.`));
    } else found.append(make("p", { class: "note" }, "There is no label."));
    found.append(make("h4", {}, "Judges, side by side"));
    const cards = make("ul", { class: "cards" });
    for (let each = row; each < caseStart[n + 1]; each++) cards.append(card(each));
    found.append(cards);
    return found;
  };

  const card = (row) => {
    const outcome = at("outcome", row), score = at("score", row);
    const conditions = [
      varies("source") && at("source", row), at("variant", row), at("temperature", row) !== null && `T = ${at("temperature", row)}`,
      at("top_p", row) !== null && `top-p ${at("top_p", row)}`, varies("repeat") && at("repeat", row) !== null && `repeat ${at("repeat", row) + 1}`, at("perturbation", row),
    ].filter(Boolean);
    const found = make("li", { class: `card ${outcome.replace(" ", "-")}${hit[row] ? "" : " aside"}` },
      make("p", { class: "who" }, make("bdi", {}, at("judge", row))),
      make("p", { class: "note" }, conditions.join(" · ") + (hit[row] ? "" : " · left out by the filters")),
      make("p", {}, make("span", { class: `mark ${outcome.replace(" ", "-")}` }, `${SIGNS[outcome]} ${WORDS.outcome[outcome]}`), " ", make("b", {}, score === null ? `no score: ${spaced(at("failure", row) || "missing")}` : `score ${score}`)));
    const probs = at("probs", row);
    if (probs) {
      const list = make("dl", { "aria-label": "probabilities" });
      for (const [name, value] of Object.entries(probs)) list.append(make("dt", {}, name), make("dd", {}, make("meter", { min: 0, max: 1, value, "aria-label": `probability of ${name}` })), make("dd", {}, `${(100 * value).toFixed(0)} %`));
      found.append(list);
      if (at("expected", row) !== null) found.append(make("p", { class: "note" }, `expected score ${at("expected", row).toFixed(2)}`));
    }
    const said = at("justification", row);
    if (said) found.append(make("p", { class: "text", lang: at("spoken", row), dir: "auto" }, said));
    const reply = at("reply", row);
    if (reply) {
      const raw = make("details", {}, make("summary", {}, reply[1] ? `Raw reply: ${reply[1]}` : "Raw reply"));
      raw.addEventListener("toggle", () => { if (raw.open && raw.children.length === 1) raw.append(make("pre", { dir: "auto" }, reply[0] || "(empty)")); });
      found.append(raw);
    }
    return found;
  };
  const varies = (name) => columns[name].values.length > 1;

  const draw = () => {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    page = Math.min(page, pages - 1);
    list.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map(caseNode));
    status.textContent = `${count(many, "judgment")} of ${size.toLocaleString("en")}, in ${count(shown.length, "text on one metric", "texts on one metric each")}.` + (many ? "" : " Nothing matches: remove a filter.");
    for (const pager of [above, below]) {
      pager.hidden = pages === 1;
      pager.querySelector(".where").textContent = `Page ${page + 1} of ${pages.toLocaleString("en")}`;
      pager.querySelector(".back").disabled = page === 0;
      pager.querySelector(".on").disabled = page === pages - 1;
    }
  };
  const again = () => { const begin = performance.now(); filter(); sort(); page = 0; draw(); root.dataset.taken = (performance.now() - begin).toFixed(1); root.dataset.judgments = many; root.dataset.cases = shown.length; };

  // ---- controls

  const form = make("form", { class: "filters", "aria-label": "Which judgments to show" });
  const status = make("p", { class: "lead", role: "status", "aria-live": "polite" });
  const list = make("div", {});
  const pager = (where) => {
    const back = make("button", { type: "button", class: "back" }, "Previous"), on = make("button", { type: "button", class: "on" }, "Next");
    const turn = (by) => { page += by; draw(); if (where === "below") status.scrollIntoView(); };
    back.addEventListener("click", () => turn(-1));
    on.addEventListener("click", () => turn(1));
    return make("div", { class: "pager", role: "group", "aria-label": `Pages, ${where} the list` }, back, make("span", { class: "where" }), on);
  };
  const above = pager("above"), below = pager("below");

  const controls = () => {
    for (const [name, title] of FACETS) {
      const { values, codes } = columns[name];
      const times = new Int32Array(values.length + 1);
      for (let row = 0; row < size; row++) times[codes[row] + 1]++;
      const gap = times[0] > 0;
      if (values.length + Number(gap) < 2) continue;
      const select = make("select", { name });
      select.append(make("option", { value: "" }, "all"));
      const order = values.map((_, code) => code);
      if (name === "score" || name === "reference") order.sort((a, b) => (typeof values[a] === "number" && typeof values[b] === "number" ? values[a] - values[b] : String(values[a]).localeCompare(String(values[b]))));
      if (gap) order.push(-1);
      for (const code of order) if (times[code + 1]) select.append(make("option", { value: code }, `${wordOf(name, code < 0 ? null : values[code])} (${times[code + 1].toLocaleString("en")})`));
      form.append(make("label", {}, title, select));
    }
    const order = make("select", { name: "order" });
    for (const [value, words] of [["asked", "language, task"], ["wrong", "most often wrong first"], ["apart", "annotators disagree first"], ["long", "longest first"], ["short", "shortest first"], ["name", "id"]]) order.append(make("option", { value }, words));
    form.append(make("label", {}, "Order", order));
    form.append(make("label", { class: "wide" }, "Search in texts, ids and justifications", make("input", { type: "search", name: "text", autocomplete: "off", spellcheck: "false" })));
    form.append(make("div", { class: "wide" }, make("button", { type: "reset" }, "Clear filters")));
    let waiting = 0;
    const changed = () => { for (const each of form.elements) if (each.name && each.name !== "order") chosen[each.name] = each.value; again(); };
    form.addEventListener("change", changed);
    form.elements.text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(changed, 150); });
    form.addEventListener("reset", () => setTimeout(changed));
    form.addEventListener("submit", (event) => event.preventDefault());
  };

  const start = () => {
    read();
    controls();
    root.replaceChildren(form, status, above, list, below);
    again();
    root.dataset.ready = "yes";
    // squares of the grid lead to their judgments
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[data-show]");
      if (!link) return;
      const wanted = JSON.parse(link.dataset.show);
      form.reset();
      for (const [name, value] of Object.entries(wanted)) {
        const select = form.elements[name], code = columns[name]?.values.indexOf(value);
        if (select && code >= 0) select.value = String(code);
      }
    });
  };
  requestAnimationFrame(() => setTimeout(start));
})();
