// The browser of items: a table of texts, what people said and a column a judge, those farthest from people first. Rows are built when
// they are shown; the view (filters, order, open item) is in the page's address. Starts after the page has been painted.
"use strict";
(() => {
  const PAGE = 25, MOST_COLUMNS = 7, MOST_CASES = 12;
  const root = document.getElementById("browser");
  if (!root) return;
  const { make, spaced } = ItemText;
  const SIGNS = { right: "✓", wrong: "✗", failed: "!", "no reference": "○", "changed text": "◇" };
  const FACETS = [
    ["source", "Source"], ["language", "Language"], ["task", "Task"], ["metric", "Metric"], ["judge", "Who judged"], ["variant", "Variant"],
    ["construction", "Construction"], ["outcome", "Outcome"], ["distance", "Distance from people"], ["agreement", "Annotators agree"],
  ];
  const MORE = [
    ["compared", "Counted in the agreement"], ["annotators", "Annotators"], ["score", "Score given"], ["reference", "Label"], ["failure", "Failure"],
    ["perturbation", "Change to the text"], ["moved", "Score changed by the perturbation"], ["temperature", "Temperature"], ["top_p", "Top-p"],
  ];
  const NONE = {
    perturbation: "none: the original", failure: "none", agreement: "fewer than two", score: "none", reference: "none",
    distance: "not defined", moved: "no changed text",
  };
  const WORDS = {
    outcome: { number: "a number: see its distance", right: "right", wrong: "wrong", failed: "no readable score", "no reference": "labels have no aggregate", "changed text": "changed text (not compared)" },
    agreement: { full: "fully", partial: "partly", none: "not at all" },
  };
  const ORDERS = [
    ["distance", "farthest from people first"], ["wrong", "most often wrong first"], ["apart", "annotators disagree first"],
    ["asked", "language, task"], ["long", "longest first"], ["short", "shortest first"], ["name", "id"],
  ];
  const KEYS = [["j", "next text"], ["k", "previous text"], ["/", "search"], ["?", "these keys"], ["Esc", "close"]];

  let items, view = { codes: {} }, found = { hit: null, shown: [], judgments: 0 }, columns = [], page = 0, open = -1;

  const afterPaint = (act) => requestAnimationFrame(() => setTimeout(act));
  const english = new Intl.NumberFormat("en"), grouped = (number) => english.format(number);
  const count = (number, one, many) => `${grouped(number)} ${number === 1 ? one : many || one + "s"}`;
  const metricName = (metric) => items.data.titles[metric] ?? spaced(metric);
  const wordOf = (facet, value) => {
    if (value === null) return NONE[facet] || "not given";
    if (facet === "language") return items.data.items.names[value] ? `${items.data.items.names[value]} (${value})` : value;
    if (facet === "metric") return metricName(value);
    if (facet === "compared") return value ? "yes" : "no";
    return WORDS[facet]?.[value] ?? (facet === "task" || facet === "failure" ? spaced(value) : String(value));
  };
  const varies = (name) => items.columns[name].values.length > 1;
  const pins = () => ["a", "b"].map((name) => form.elements[name]?.value ?? "").map((value) => (value === "" ? -1 : Number(value)));

  // ---- order

  // a key is a whole number from 0 to 2^34, the smallest first: with the case's number below it, numbers are sorted and nothing compared
  const MOST_KEY = 2 ** 34, FINE = 1e6;
  const once = (make) => { let made; return (...given) => (made ??= make())(...given); };
  const lengthOf = once(() => {
    const own = items.data.items.texts.map((texts) => texts.reduce((sum, [, text]) => sum + text.length, 0));
    return (n) => own[items.itemOf[items.caseStart[n]]];
  });
  const placeOfName = once(() => {
    const ids = items.data.items.id, { compare } = new Intl.Collator(), place = new Int32Array(ids.length);
    [...ids.keys()].sort((a, b) => compare(ids[a], ids[b])).forEach((item, at) => { place[item] = at; });
    return (n) => place[items.itemOf[items.caseStart[n]]];
  });
  const isWrong = once(() => {
    const { values, codes } = items.columns.outcome, wrong = values.map((value) => value === "wrong" || value === "failed");
    return (row) => wrong[codes[row]];
  });
  const KEY_OF = {
    // among equally far ones those of more annotators come first
    distance: (n) => {
      let most = -1;
      for (let row = items.caseStart[n]; row < items.caseStart[n + 1]; row++) if (found.hit[row] && items.distance[row] > most) most = items.distance[row];
      return 100 * Math.round(FINE * (1 - most)) + 99 - items.labelled[n];
    },
    wrong: (n) => {
      let hits = 0, wrong = 0;
      for (let row = items.caseStart[n]; row < items.caseStart[n + 1]; row++) if (found.hit[row]) { hits++; wrong += isWrong(row); }
      return Math.round(FINE * (1 - wrong / hits));
    },
    apart: (n) => 2 - ["full", "partial", "none"].indexOf(items.at("agreement", items.caseStart[n])),
    long: (n) => MOST_KEY - lengthOf(n),
    short: (n) => lengthOf(n),
    name: (n) => placeOfName(n),
  };
  const sort = () => {
    const by = KEY_OF[form.elements.order.value], cases = items.caseStart.length, { shown } = found;
    if (!by) return;
    const keys = new Float64Array(shown.length);
    for (let at = 0; at < keys.length; at++) keys[at] = by(shown[at]) * cases + shown[at];
    keys.sort();
    for (let at = 0; at < keys.length; at++) shown[at] = keys[at] % cases;
  };

  // the cases of one text follow each other, where the first of them stands
  const group = () => {
    const ofItem = new Map();
    for (const n of found.shown) {
      const item = items.itemOf[items.caseStart[n]];
      if (ofItem.has(item)) ofItem.get(item).push(n); else ofItem.set(item, [n]);
    }
    found.shown = [...ofItem.values()].flat();
  };

  // ---- six cases on which judge and people differ most: people agree, and languages and metrics take turns

  const MOST_TELLING = 6, MOST_QUEUED = 60;
  const NUMBER_WORDS = ["No", "One", "Two", "Three", "Four", "Five", "Six"];
  const telling = () => {
    if (items.unlabelled || items.data.warning) return null;
    const byPlace = new Map();
    for (let n = 0; n + 1 < items.caseStart.length; n++) {
      let worst = -1;
      for (let row = items.caseStart[n]; row < items.caseStart[n + 1]; row++) if (items.distance[row] > 0 && (worst < 0 || items.distance[row] > items.distance[worst])) worst = row;
      if (worst < 0 || !items.texts(items.itemOf[worst]).length) continue;
      const agreed = items.at("agreement", worst) === "full", key = `${items.at("language", worst)} ${items.at("metric", worst)}`;
      const weight = items.distance[worst] + (agreed ? 1 : 0) + (items.at("justification", worst) ? 0.5 : 0) + items.labelled[n] / 1000;
      if (!byPlace.has(key)) byPlace.set(key, []);
      byPlace.get(key).push([weight, n, worst]);
    }
    const queues = [...byPlace.values()].map((own) => own.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, MOST_QUEUED));
    // cards that would say the same of one metric are one: the first of them stands for the others
    const likeness = (row) => ["language", "metric", "reference", "score", "judge"].map((name) => items.at(name, row)).join("\t");
    const picked = [], used = new Set(), alike = new Set(), times = new Map(), candidates = queues.flat();
    const turns = (row) => (times.get(items.at("language", row)) ?? 0) + (times.get(items.at("metric", row)) ?? 0);
    while (picked.length < MOST_TELLING) {
      const free = candidates.filter(([, , row]) => !used.has(items.itemOf[row]) && !alike.has(likeness(row)));
      if (!free.length) break;
      const [, n, row] = free.reduce((best, next) => (next[0] - 2 * turns(next[2]) > best[0] - 2 * turns(best[2]) ? next : best));
      picked.push([n, row]);
      used.add(items.itemOf[row]);
      alike.add(likeness(row));
      for (const name of ["language", "metric"]) times.set(items.at(name, row), (times.get(items.at(name, row)) ?? 0) + 1);
    }
    if (picked.length < 2) return null;
    const said = (row, score) => {
      const words = wordsOfScore(row, score);
      return !words ? String(inShort(score)) : byWords(row, score) ? `${words} (${score})` : `${score} – ${words}`;
    };
    const tellingCard = ([n, row]) => {
      const item = items.itemOf[row], lang = items.languageOf(item), reason = items.at("justification", row), reference = items.at("reference", row);
      const about = ["language", "metric"].filter((name) => varies(name) || name === "metric").map((name) => wordOf(name, items.at(name, row)));
      const open = button("Read it", () => { reader = true; show({ item: items.data.items.id[item], on: items.at("metric", row) }); }, { "aria-label": `Read it: ${items.data.items.id[item]}, ${about.join(", ")}` });
      return make("li", { class: "card" },
        make("p", { class: "note" }, about.join(" · ")), make("p", { class: "quote", lang, dir: "auto" }, glance(item, 400)),
        make("p", {}, `${items.data.constructed ? "Label" : "People"}: `, make("b", {}, reference === null ? labelsInShort(items.labelsAt(row), row) : said(row, reference))),
        make("p", {}, make("bdi", {}, items.sides[items.side[row]].who), ": ", make("b", { class: "bad" }, said(row, scoreOf(row)))),
        reason ? make("p", { class: "quote reason", lang: items.at("spoken", row), dir: "auto" }, `“${reason}”`) : null, open);
    };
    return make("section", { class: "telling", "aria-label": "Telling disagreements" }, make("h3", {}, `${NUMBER_WORDS[picked.length]} telling disagreements`),
      make("ul", { class: "cards" }, ...picked.map(tellingCard)));
  };

  // ---- one row, and what it opens

  const glance = (item, most = 160) => {
    if (items.data.warning) return "offensive text: open to read";
    const own = items.texts(item);
    const [, text] = own.find(([name]) => name.startsWith("output")) || own[own.length - 1] || ["", ""];
    return text.slice(0, most).replaceAll("\n", " ") || items.data.items.id[item];
  };
  const pinnedFirst = (rows) => {
    const order = pins();
    const rank = (row) => { const at = order.indexOf(items.side[row]); return at < 0 ? 2 : at; };
    return [...rows].sort((x, y) => rank(x) - rank(y) || x - y);
  };
  // constructed labels are nobody's: words about people are about the label then
  const named = (words) => (items.data.constructed ? words.replace("people", "the label") : words);
  // what stands beside a score: a sign and words for classes, the distance from people's mean for numbers
  const points = (number) => (number < 0 ? "−" : "+") + Number(Math.abs(number).toFixed(2));
  const signOf = (row) => { const far = items.apart(row); return far === null ? SIGNS[items.at("outcome", row)] : `(${points(far)})`; };
  const wordsOf = (row) => {
    const far = items.apart(row), outcome = items.at("outcome", row);
    return far === null ? `${SIGNS[outcome]} ${WORDS.outcome[outcome]}` : `${points(far)} from ${items.data.constructed ? "the label" : `people’s ${items.labelsAt(row).length === 1 ? "score" : "mean"}`}`;
  };
  const scoreOf = (row) => items.at("score", row) ?? spaced(items.at("failure", row) || "missing");
  const inShort = (score) => (typeof score === "number" ? Number(score.toFixed(2)) : score);

  const wordsOfScore = (row, score) => items.data.words[items.at("metric", row)]?.[score]?.replace(/\.$/, "");
  // classes by their words where those of the metric are short; else by their numbers, with the words beneath
  const SHORT_WORDS = 40, shortOf = new Map();
  const byWords = (row, score) => {
    const metric = items.at("metric", row);
    if (!shortOf.has(metric)) shortOf.set(metric, Object.values(items.data.words[metric] ?? {}).every((words) => words.length <= SHORT_WORDS));
    return shortOf.get(metric) && wordsOfScore(row, score) !== undefined;
  };

  // the sides that have a column: pinned ones, then each judge as it was asked by the chosen condition, or as it was asked first
  const chooseColumns = () => {
    const seen = new Uint8Array(items.sides.length);
    for (let row = 0; row < items.size; row++) if (found.hit[row]) seen[items.side[row]] = 1;
    const present = [...seen.keys()].filter((side) => seen[side]);
    const asked = form.elements.asked?.value ?? "", byJudge = new Map();
    for (const side of present) {
      const who = items.sides[side].who;
      if (!byJudge.has(who) || items.sides[side].asked === asked && items.sides[byJudge.get(who)].asked !== asked) byJudge.set(who, side);
    }
    const every = [...new Set([...pins().filter((side) => present.includes(side)), ...byJudge.values()])];
    columns = every.slice(0, MOST_COLUMNS);
    return every.length - columns.length;
  };
  const whose = () => (items.data.constructed ? "label" : "people");
  const columnName = (side) => items.sides[side].who;
  const head = () => make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "of-text" }, "text"), items.unlabelled ? null : make("th", { scope: "col", class: "of-people" }, whose()),
    ...columns.map((side) => make("th", { scope: "col" }, make("bdi", {}, columnName(side)), items.sides[side].asked ? make("small", {}, items.sides[side].asked) : null))));

  // `1 1 2`; of classes with longer names `Location ×4, Function`
  const labelsInShort = (labels, row) => {
    const scores = labels.map(([, score]) => String(row !== undefined && byWords(row, score) ? wordsOfScore(row, score) : score));
    if (scores.every((score) => score.length < 4)) return scores.slice(0, 9).join(" ") + (scores.length > 9 ? " …" : "");
    const times = new Map();
    for (const score of scores) times.set(score, (times.get(score) ?? 0) + 1);
    return [...times].sort((a, b) => b[1] - a[1]).map(([score, n]) => (n > 1 ? `${score} ×${n}` : score)).join(scores.some((score) => score.includes(",")) ? " · " : ", ");
  };
  const labelsCell = (n) => {
    const row = items.caseStart[n], words = labelsInShort(items.labelsAt(row), row), reference = items.at("reference", row);
    const meaning = reference === null || byWords(row, reference) ? undefined : wordsOfScore(row, reference);
    return make("td", { class: "of-people", "data-label": whose(), title: [words, meaning].filter(Boolean).join(": ") }, words ? make("b", {}, words) : "–", ...(meaning ? [" ", make("small", { class: "meaning" }, meaning)] : []));
  };
  const scoreCell = (n, side) => {
    const cell = make("td", { "data-label": columnName(side) });
    const own = items.rowsOf(n).filter((row) => items.side[row] === side), wanted = own.filter((row) => found.hit[row]);
    const unchanged = (row) => items.at("perturbation", row) === null;
    const row = wanted.find(unchanged) ?? wanted[0] ?? own.find(unchanged) ?? own[0];
    if (row === undefined) { cell.append("–"); return cell; }
    const outcome = items.at("outcome", row), changed = items.at("perturbation", row);
    const inWords = byWords(row, scoreOf(row)), meaning = inWords ? undefined : wordsOfScore(row, scoreOf(row));
    const score = make("b", {}, inWords ? wordsOfScore(row, scoreOf(row)) : inShort(scoreOf(row))), far = items.apart(row), compared = !items.unlabelled || outcome === "failed";
    const beside = compared ? make("span", { class: "hidden" }, far === null ? ` ${WORDS.outcome[outcome]}` : ` from ${named("people")}`) : null;
    cell.append(make("span", { class: `given ${outcome.replace(" ", "-")}${wanted.length ? "" : " aside"}`, title: wordsOfScore(row, scoreOf(row)) ?? scoreOf(row) }, ...(far !== null ? [score, ` ${signOf(row)}`] : [compared ? `${signOf(row)} ` : null, score]), beside));
    const reply = outcome === "failed" && !items.data.warning ? items.at("reply", row)?.[0] : "";  // what could not be read
    if (reply) cell.append(" ", make("small", { class: "meaning", dir: "auto" }, reply.slice(0, 200)));
    if (meaning) cell.append(" ", make("small", { class: "meaning" }, meaning));
    const more = (wanted.length || own.length) - 1;
    if (changed !== null || more) cell.append(" ", make("small", {}, [changed, more ? `+ ${count(more, "more answer")}` : ""].filter(Boolean).join(" ")));
    return cell;
  };

  // what a case opens; of offensive texts behind a further click, which nothing but the reader makes
  const veiled = (drawn) => {
    if (!items.data.warning) return drawn();
    const veil = make("details", { class: "veil" }, make("summary", {}, `Show this text and what judges say of it. ${items.data.warning}`));
    veil.addEventListener("toggle", () => { if (veil.open && veil.children.length === 1) veil.append(drawn()); });
    return veil;
  };
  const caseNode = (n, at, cases) => {
    const same = at > 0 && items.itemOf[items.caseStart[cases[at - 1]]] === items.itemOf[items.caseStart[n]]; // the text stands above
    const row = items.caseStart[n], item = items.itemOf[row], lang = items.languageOf(item);
    const about = ["language", "task", "metric"].filter((name) => varies(name) || name === "metric").map((name) => wordOf(name, items.at(name, row)));
    const words = same ? about.at(-1) : glance(item);
    const opener = make("button", { type: "button", class: "opener", lang: same || items.data.warning || !items.texts(item).length ? null : lang, dir: "auto", "aria-expanded": "false" }, words);
    const opened = make("tr", { class: "opened", hidden: true }, make("td", { colspan: columns.length + (items.unlabelled ? 1 : 2) }));
    opener.addEventListener("click", () => { reader = true; toggle(body, n); remember(); });
    const body = make("tbody", { class: same ? "case same" : "case", "data-case": n }, make("tr", {}, make("th", { scope: "row" }, opener, same ? null : make("small", {}, about.join(" · "))), items.unlabelled ? null : labelsCell(n), ...columns.map((side) => scoreCell(n, side))), opened);
    if (open === n || found.shown.length === 1) toggle(body, n, true);
    return body;
  };
  const toggle = (body, n, wanted) => {
    const opener = body.querySelector(".opener"), now = wanted ?? opener.getAttribute("aria-expanded") === "false", row = body.lastElementChild;
    if (now && !row.firstElementChild.children.length) row.firstElementChild.append(veiled(() => inside(n)));
    opener.setAttribute("aria-expanded", String(now));
    row.hidden = !now;
    if (now) open = n; else if (open === n) open = -1;
  };

  const aggregateWords = (row, labels) => {
    const agreement = items.at("agreement", row), reference = items.at("reference", row);
    if (reference !== null && items.data.scales[items.at("metric", row)].kind === "interval") return labels.length === 1 ? "One person scored this text, so it does not show how far two people are apart." : `People’s mean: ${Number(reference.toFixed(2))}.`;
    if (reference !== null) return `Aggregate: ${reference}.${agreement === null ? "" : ` Annotators agree ${wordOf("agreement", agreement)}.`}`;
    if (labels.length === 1) return "One annotator alone makes no aggregate.";
    return agreement === null ? "Too few annotators for an aggregate." : "No class is the commonest, so there is no aggregate.";
  };

  const people = (labels, lang) => {
    const list = make("ul", { class: "given plain" });
    for (const [who, score, source, errors] of labels) list.append(make("li", { class: "mark" }, make("bdi", {}, who), score === undefined ? null : ": ", score === undefined ? null : make("b", {}, score), !source || source === "native" ? null : ` (${source})`, ErrorSpans.list(errors, lang)));
    return list;
  };

  const inside = (n) => {
    const row = items.caseStart[n], item = items.itemOf[row], lang = items.languageOf(item), labels = items.labelsAt(row);
    const left = make("div", { class: "item-side" }), right = make("div", { class: "judged-side" });
    const about = ["group", "system"].filter((name) => items.at(name, row) !== null && items.at(name, row) !== items.data.items.id[item]);
    left.append(make("p", { class: "note ids" }, ["id", ...about].map((name) => (name === "id" ? items.data.items.id[item] : `${name}: ${items.at(name, row)}`)).join(" · ")));
    for (const [name, text] of items.texts(item, 1)) left.append(make("p", { class: "note", dir: "auto" }, `${spaced(name)}: ${text}`));
    const judged = items.rowsOf(n).filter((each) => items.at("perturbation", each) === null);
    const again = items.secondAt(row);
    const layers = ErrorSpans.layers([...labels, ...again], judged.map((each) => ({ who: items.at("judge", each), errors: items.at("errors", each) })));
    left.append(ItemText.texts(items.texts(item), lang, { item, row, layers }));
    const twin = items.data.items.twin[item];
    if (twin >= 0) left.append(...PairTexts.twins(items.texts(item), items.texts(twin), lang), scoresOfTwin(twin, row));
    const scale = Object.entries(items.data.words[items.at("metric", row)] ?? {});
    right.append(make("h3", {}, items.data.constructed ? "Constructed label" : "People"));
    if (scale.length) right.append(make("p", { class: "note scale" }, scale.map(([score, words]) => `${score}: ${words}`).join(" · ")));
    if (labels.length) {
      right.append(people(labels, lang), make("p", { class: "note" }, aggregateWords(row, labels)));
    } else right.append(make("p", { class: "note" }, "There is no label."));
    if (again.length) right.append(make("h3", {}, "People, second round"), people(again, lang), make("p", { class: "note" }, "They show how far people agree, and are no reference of a judge."));
    right.append(make("h3", {}, "Judges"), make("ul", { class: "cards" }, ...pinnedFirst(items.rowsOf(n)).map(card)));
    return make("div", { class: "inside" }, left, right, tools(n));
  };

  // the scores of the flawless text on the same metric, judge by judge
  const scoresOfTwin = (twin, row) => {
    const list = make("ul", { class: "given plain" });
    for (let n = 0; n + 1 < items.caseStart.length; n++) {
      const first = items.caseStart[n];
      if (items.itemOf[first] !== twin || items.columns.metric.codes[first] !== items.columns.metric.codes[row]) continue;
      for (const own of items.rowsOf(n)) list.append(make("li", { class: "mark" }, "flawless text, ", make("bdi", {}, items.columns.side.values[items.side[own]]), ": ", make("b", {}, scoreOf(own))));
    }
    return list;
  };

  const tools = (n) => make("div", { class: "tools wide" },
    button("Copy link", async () => announce((await Share.copy(addressNow(n))) ? "The link is copied." : "The link is in the address line.")),
    button("Copy item as Markdown", async () => announce((await Share.copy(Share.markdown(items, n, signOf))) ? "The item is copied." : "This browser does not allow copying.")));

  const card = (row) => {
    const outcome = items.at("outcome", row), score = items.at("score", row), hit = found.hit[row], pinned = pins().indexOf(items.side[row]);
    const conditions = [
      varies("source") && items.at("source", row), items.at("variant", row), items.at("temperature", row) !== null && `T = ${items.at("temperature", row)}`,
      items.at("top_p", row) !== null && `top-p ${items.at("top_p", row)}`, varies("repeat") && items.at("repeat", row) !== null && `repeat ${items.at("repeat", row) + 1}`, items.at("perturbation", row),
      items.at("order", row) === "swapped" && "second text read first",
    ].filter(Boolean);
    const node = make("li", { class: `card ${outcome.replace(" ", "-")}${hit ? "" : " aside"}` },
      make("p", { class: "who" }, pinned < 0 ? null : make("span", { class: "tag" }, "AB"[pinned]), " ", make("bdi", {}, items.at("judge", row))),
      make("p", { class: "note" }, conditions.join(" · ") + (hit ? "" : " · left out by the filters")),
      make("p", {}, items.unlabelled && outcome !== "failed" ? null : make("span", { class: `mark ${outcome.replace(" ", "-")}` }, wordsOf(row)), " ", make("b", {}, score === null ? `no score: ${scoreOf(row)}` : `score ${score}`)));
    const probs = items.at("probs", row);
    if (probs) {
      const list = make("dl", { "aria-label": "probabilities" });
      for (const [name, value] of Object.entries(probs)) list.append(make("dt", {}, name), make("dd", {}, make("meter", { min: 0, max: 1, value, "aria-label": `probability of ${name}` })), make("dd", {}, `${(100 * value).toFixed(0)} %`));
      node.append(list);
      if (items.at("expected", row) !== null) node.append(make("p", { class: "note" }, `expected score ${items.at("expected", row).toFixed(2)}`));
    }
    const further = items.at("further_numbers", row);
    if (further !== null) node.append(make("p", { class: "note" }, "the answer also names: ", make("bdi", {}, further)));
    const errors = ErrorSpans.list(items.at("errors", row), items.languageOf(items.itemOf[row]));
    if (errors) node.append(errors);
    const words = items.at("justification", row);
    if (words) node.append(make("p", { class: "text", lang: items.at("spoken", row), dir: "auto" }, words));
    const reply = items.at("reply", row);
    if (reply) {
      const raw = make("details", {}, make("summary", {}, reply[1] ? `Raw reply: ${reply[1]}` : "Raw reply"));
      raw.addEventListener("toggle", () => { if (raw.open && raw.children.length === 1) raw.append(make("pre", { dir: "auto" }, reply[0] || "(empty)")); });
      node.append(raw);
    }
    return node;
  };

  const draw = () => {
    const pages = Math.max(1, Math.ceil(found.shown.length / PAGE));
    page = Math.min(page, pages - 1);
    const left = chooseColumns();
    list.replaceChildren(make("table", { class: `judgments columns-${columns.length}` }, make("caption", { class: "hidden" }, "Texts with their labels and scores"), head(), ...found.shown.slice(page * PAGE, (page + 1) * PAGE).map(caseNode)));
    announce(`${count(found.judgments, "judgment")} of ${grouped(items.size)}, in ${count(found.shown.length, "text on one metric", "texts on one metric each")}.${left ? ` ${count(left, "more judge")}: open a row, or choose who judged.` : ""}${found.judgments ? "" : " Nothing matches: remove a filter."}`);
    for (const pager of [above, below]) {
      pager.hidden = pages === 1;
      pager.querySelector(".where").textContent = `Page ${page + 1} of ${grouped(pages)}`;
      pager.querySelector(".back").disabled = page === 0;
      pager.querySelector(".on").disabled = page === pages - 1;
    }
  };
  const again = () => {
    const begin = performance.now();
    found = items.filtered(view);
    sort();
    group();
    page = Math.max(0, Math.floor(found.shown.indexOf(open) / PAGE));
    draw();
    root.dataset.taken = (performance.now() - begin).toFixed(1);
    root.dataset.judgments = found.judgments;
    root.dataset.cases = found.shown.length;
    afterPaint(remember); // a browser takes its time over an address
  };

  // ---- the view: filters, order and open item, as controls and as an address

  const viewNow = (n) => {
    const now = {};
    for (const [name, code] of Object.entries(view.codes)) now[name] = code < 0 ? null : items.columns[name].values[code];
    for (const name of ["text", "asked", "a", "b", "differ"]) if (form.elements[name]?.value) now[name] = name === "a" || name === "b" ? items.columns.side.values[Number(form.elements[name].value)] : form.elements[name].value;
    if (form.elements.order.value !== form.elements.order.options[0].value) now.order = form.elements.order.value;
    if (n >= 0) Object.assign(now, { item: items.data.items.id[items.itemOf[items.caseStart[n]]], on: items.at("metric", items.caseStart[n]) });
    return now;
  };
  const addressNow = (n) => location.href.split("#")[0] + Share.addressOf(viewNow(n));
  let reader = false; // whether somebody has changed the view: until then the address is left alone
  const remember = () => {
    if (!reader) return;
    try { history.replaceState(null, "", Share.addressOf(viewNow(open))); } catch { /* some browsers keep a file's address */ }
  };
  const set = (name, value) => {
    const select = form.elements[name];
    if (!select) return;
    if (!select.options) select.value = value ?? "";
    else if (["order", "differ", "asked"].includes(name)) { if ([...select.options].some((option) => option.value === value)) select.value = value; }
    else {
      const values = items.columns[name === "a" || name === "b" ? "side" : name].values;
      const code = value === null ? -1 : values.findIndex((each) => String(each) === String(value));
      if ([...select.options].some((option) => option.value === String(code))) select.value = String(code);
    }
  };
  const show = (wanted) => {
    form.reset();
    open = -1;
    for (const [name, value] of Object.entries(wanted)) set(name, value);
    if (wanted.item !== undefined) {
      const item = items.data.items.id.indexOf(wanted.item);
      for (let n = 0; n + 1 < items.caseStart.length && open < 0; n++) {
        const row = items.caseStart[n];
        if (items.itemOf[row] === item && (wanted.on === undefined || items.at("metric", row) === wanted.on)) open = n;
      }
    }
    changed();
    const node = open < 0 ? null : list.querySelector(`[data-case="${open}"]`);
    (node || list).querySelector(".opener")?.focus({ preventScroll: true });
    (node || (pictures?.open ? pictures : document.getElementById("items"))).scrollIntoView();
  };
  const changed = () => {
    view = { codes: {}, text: form.elements.text.value };
    for (const select of form.querySelectorAll("select[data-facet]")) if (select.value !== "") view.codes[select.name] = Number(select.value);
    const [a, b] = pins();
    if (form.elements.differ?.value && a >= 0 && b >= 0) view.differ = [a, b];
    more.open ||= [...more.querySelectorAll("select")].some((select) => select.value !== "");
    again();
    showCases(viewNow(-1));
  };

  // the pictures of the cases that the filters leave; of one case they are opened
  const CASE = ["source", "language", "metric", "judge", "variant", "temperature", "top_p"];
  const pictures = document.getElementById("cases");
  const showCases = (now) => {
    if (!pictures) return;
    const wanted = CASE.filter((name) => name in now && varies(name));
    const fitting = [...pictures.querySelectorAll("[data-about]")].filter((node) => {
      const about = JSON.parse(node.dataset.about), fits = wanted.every((name) => String(about[name] ?? null) === String(now[name]));
      node.hidden = !fits;
      node.open = false;
      return fits;
    });
    pictures.hidden = !fitting.length;
    pictures.open = wanted.length > 0 && fitting.length <= MOST_CASES;
    if (pictures.open && fitting.length === 1) fitting[0].open = true;
  };

  // ---- controls

  const button = (words, act, attributes = {}) => {
    const node = make("button", { type: "button", ...attributes }, words);
    node.addEventListener("click", act);
    return node;
  };
  const form = make("form", { class: "filters", "aria-label": "Which judgments to show" });
  const more = make("details", {}, make("summary", {}, "More filters"));
  const status = make("p", { role: "status", "aria-live": "polite" });
  const announce = (words) => { status.textContent = words; };
  const list = make("div", {});
  const pager = (where) => {
    const turn = (by) => { page += by; draw(); if (where === "below") status.scrollIntoView(); };
    return make("div", { class: "pager", role: "group", "aria-label": `Pages, ${where} the list` }, button("Previous", () => turn(-1), { class: "back" }), make("span", { class: "where" }), button("Next", () => turn(1), { class: "on" }));
  };
  const above = pager("above"), below = pager("below");

  const placeAmongSides = (name, code) => items.data.sides.findIndex((own) => own[name === "judge" ? 1 : 2] === items.columns[name].values[code]);
  const facet = (name, title) => {
    const { values, codes } = items.columns[name];
    const times = new Int32Array(values.length + 1);
    for (let row = 0; row < items.size; row++) times[codes[row] + 1]++;
    const present = values.map((_, code) => code).filter((code) => times[code + 1]);
    if (name === "judge" || name === "variant") present.sort((a, b) => placeAmongSides(name, a) - placeAmongSides(name, b));
    if (name === "score" || name === "reference") present.sort((a, b) => (typeof values[a] === "number" && typeof values[b] === "number" ? values[a] - values[b] : String(values[a]).localeCompare(String(values[b]))));
    if (times[0]) present.push(-1);
    if (present.length < 2) return null;
    const options = present.map((code) => make("option", { value: code }, `${wordOf(name, code < 0 ? null : values[code])} (${grouped(times[code + 1])})`));
    return make("label", {}, title, make("select", { name, "data-facet": true }, make("option", { value: "" }, "all"), ...options));
  };
  const choice = (name, title, options) => make("label", {}, title, make("select", { name }, ...options.map(([value, words]) => make("option", { value }, words))));

  const controls = () => {
    form.append(...FACETS.map(([name, title]) => facet(name, named(title))).filter(Boolean));
    const asked = [...new Set(items.sides.map((side) => side.asked))];
    if (asked.length > 1) form.append(choice("asked", "Columns: asked", [["", "each judge's plainest condition"], ...asked.map((words) => [words, words])]));
    form.append(choice("order", "Order", ORDERS.slice(items.unlabelled ? ORDERS.findIndex(([name]) => name === "asked") : 0).map(([name, title]) => [name, named(title)])));
    const inner = MORE.map(([name, title]) => facet(name, title)).filter(Boolean);
    if (varies("side")) {
      const sides = [["", "none"], ...items.columns.side.values.map((name, code) => [code, name])];
      inner.push(choice("a", "Pin judge A", sides), choice("b", "Pin judge B", sides), choice("differ", "A and B", [["", "all texts"], ["yes", "scores differ"]]));
    }
    form.append(make("label", {}, "Search", make("input", { type: "search", name: "text", placeholder: "texts, ids, reasons", autocomplete: "off", spellcheck: "false" })));
    if (inner.length) { more.append(make("div", { class: "filters-more" }, ...inner)); form.append(more); }
    form.append(make("div", { class: "tools" }, make("button", { type: "reset" }, "Clear filters"),
      button("Copy link", async () => announce((await Share.copy(addressNow(open))) ? "The link is copied." : "The link is in the address line.")),
      button("CSV of these", () => Share.save("judgments.csv", "\ufeff" + Share.csv(items, found.hit), "text/csv")),
      button("Keys", () => keys.showModal())));
    let waiting = 0;
    const byReader = () => { reader = true; changed(); };
    form.addEventListener("change", (event) => { if (event.target !== form.elements.text) byReader(); });
    form.elements.text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(byReader, 150); });
    form.querySelector("[type=reset]").addEventListener("click", () => setTimeout(byReader));
    form.addEventListener("submit", (event) => event.preventDefault());
  };

  // ---- keys

  const letters = make("input", { type: "checkbox", checked: true });
  const keys = make("dialog", { class: "keys", "aria-label": "Keys" }, make("h3", {}, "Keys"),
    make("dl", {}, ...KEYS.flatMap(([key, words]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, words)])),
    make("p", {}, make("label", {}, letters, " Letters act as keys")), make("form", { method: "dialog" }, make("button", {}, "Close")));
  const step = (by) => {
    const now = found.shown.indexOf(open), next = now < 0 ? page * PAGE : now + by;
    if (next < 0 || next >= found.shown.length) return;
    const before = list.querySelector(`[data-case="${open}"]`);
    if (before) toggle(before, open, false);
    open = found.shown[next];
    reader = true;
    if (Math.floor(next / PAGE) !== page) { page = Math.floor(next / PAGE); draw(); }
    const node = list.querySelector(`[data-case="${open}"]`);
    toggle(node, open, true);
    remember();
    node.querySelector(".opener").focus({ preventScroll: true });
    node.scrollIntoView();
  };
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea, dialog")) return;
    if (event.key === "?") keys.showModal();
    else if (!letters.checked) return;
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "/") { form.elements.text.focus(); form.scrollIntoView(); }
    else return;
    event.preventDefault();
  };

  const start = () => {
    items = ItemsData.read();
    controls();
    root.replaceChildren(...[telling()].filter(Boolean), form, make("div", { class: "status" }, status, above), list, below, keys);
    const wanted = Share.viewOf(location.hash);
    if (wanted) show(wanted); else changed();
    root.dataset.ready = "yes";
    items.prepareSearch();
    addEventListener("hashchange", () => { const next = Share.viewOf(location.hash); if (next) show(next); });
    document.addEventListener("keydown", pressed);
    document.querySelector(".skip[href='#items']").addEventListener("click", (event) => { event.preventDefault(); list.querySelector(".opener")?.focus(); });
    // marks of figures and squares of tables lead to their judgments
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("[data-show]");
      if (!link) return;
      event.preventDefault();
      reader = true;
      show(JSON.parse(link.dataset.show));
    });
  };
  afterPaint(start);
})();
