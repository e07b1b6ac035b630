// The judgments of a page, read from the JSON of #items-data: columns as codes into values, labels of each case, and filters.
// A case is one item on one metric; its rows (judgments) stand together.
"use strict";
const ItemsData = (() => {
  const FAR = ["equal to all of them", "less than a quarter of the scale", "a quarter to a half of it", "half of it or more"];
  const FEW = ["none", "one", "two or more"];
  const SIDE = ["source", "judge", "variant", "temperature", "top_p"];

  const read = () => {
    const data = JSON.parse(document.getElementById("items-data").textContent);
    const { items, rows, labels, second, scales } = data;
    const column = (coded, size) => ({ values: coded.v, codes: typeof coded.c === "number" ? new Int32Array(size).fill(coded.c) : Int32Array.from(coded.c) });
    const itemOf = Int32Array.from(rows.item), size = itemOf.length, columns = {};
    for (const name of Object.keys(rows)) if (name !== "item") columns[name] = column(rows[name], size);
    for (const name of ["language", "task", "group", "system", "construction"]) {
      items[name] = column(items[name], items.id.length);
      columns[name] = { values: items[name].values, codes: Int32Array.from(itemOf, (item) => items[name].codes[item]) };
    }
    const at = (name, row) => { const { values, codes } = columns[name]; return codes[row] < 0 ? null : values[codes[row]]; };

    const caseOf = new Int32Array(size), starts = [];
    for (let row = 0; row < size; row++) {
      if (row === 0 || itemOf[row] !== itemOf[row - 1] || columns.metric.codes[row] !== columns.metric.codes[row - 1]) starts.push(row);
      caseOf[row] = starts.length - 1;
    }
    const cases = starts.length;
    const caseStart = Int32Array.from([...starts, size]);

    // [annotator, score, source, errors] of each label, by item and metric; those of no metric stand before an item's first one
    const metrics = columns.metric.values.length + 1, metricCode = new Map(columns.metric.values.map((name, code) => [name, code]));
    const byCase = (table) => {
      const found = new Map(), given = {};
      for (const name of ["metric", "annotator", "score", "source", "errors"]) given[name] = column(table[name], table.item.length);
      table.item.forEach((item, n) => {
        const key = item * metrics + (metricCode.get(given.metric.values[given.metric.codes[n]]) ?? -1);
        const label = ["annotator", "score", "source", "errors"].map((name) => given[name].values[given[name].codes[n]]);
        if (found.has(key)) found.get(key).push(label); else found.set(key, [label]);
      });
      return found;
    };
    const firstRound = byCase(labels), secondRound = byCase(second);
    const labelsAt = (row) => firstRound.get(itemOf[row] * metrics + columns.metric.codes[row]) || [];
    const secondAt = (row) => [columns.metric.codes[row], -1].flatMap((code) => secondRound.get(itemOf[row] * metrics + code) || []);

    // ---- what follows from the columns

    // where a score lies on its metric's scale, from 0 to 1; null on a scale without order
    const place = (metric, score) => {
      const scale = scales[metric];
      if (!scale || scale.kind === "nominal") return null;
      const number = scale.positions ? scale.classes.indexOf(score) : score;
      return scale.high > scale.low ? (number - scale.low) / (scale.high - scale.low) : null;
    };
    const distance = new Float32Array(size).fill(NaN);
    for (let row = 0; row < size; row++) {
      const score = at("score", row), own = labelsAt(row);
      if (score === null || !own.length || at("perturbation", row) !== null || scales[at("metric", row)]?.order_only) continue;
      const metric = at("metric", row), here = place(metric, score);
      distance[row] = own.reduce((sum, [, label]) => sum + (here === null ? Number(label !== score) : Math.min(1, Math.abs(place(metric, label) - here))), 0) / own.length;
    }
    // the signed difference of a number from people's mean; null where scores are classes, or there is nothing to compare with
    const apart = (row) => (at("outcome", row) === "number" ? at("score", row) - at("reference", row) : null);
    columns.distance = { values: FAR, codes: Int32Array.from(distance, (far) => (Number.isNaN(far) ? -1 : far === 0 ? 0 : far < 0.25 ? 1 : far < 0.5 ? 2 : 3)) };
    const labelled = Uint8Array.from({ length: cases }, (_, n) => Math.min(99, labelsAt(caseStart[n]).length));
    columns.annotators = { values: FEW, codes: Int32Array.from({ length: size }, (_, row) => Math.min(2, labelled[caseOf[row]])) };

    // a side is who judged and how, apart from changes to the text
    const places = new Map(data.sides.map((own, n) => [JSON.stringify(own.slice(0, -1)), n])), numbers = new Map();
    const side = Int32Array.from({ length: size }, (_, row) => {
      const key = SIDE.reduce((sum, name) => sum * (columns[name].values.length + 1) + columns[name].codes[row] + 1, 0);
      if (!numbers.has(key)) numbers.set(key, places.get(JSON.stringify(SIDE.map((name) => at(name, row)))));
      return numbers.get(key);
    });
    const several = [0, 1].filter((place) => new Set(data.sides.map((own) => own[place])).size > 1);
    const sides = data.sides.map((own) => ({ who: several.map((place) => own[place]).join(" · ") || own[1], asked: own.at(-1) }));
    columns.side = { values: sides.map(({ who, asked }) => [several.length || !asked ? who : "", asked].filter(Boolean).join(" · ")), codes: side };

    // whether a changed text has another score than its original, under the same side and repeat
    const moved = new Int32Array(size).fill(-1);
    if (columns.perturbation.values.length) {
      for (let n = 0; n < cases; n++) {
        const original = new Map();
        const key = (row) => `${side[row]} ${columns.repeat.codes[row]}`;
        for (let row = caseStart[n]; row < caseStart[n + 1]; row++) if (at("perturbation", row) === null) original.set(key(row), at("score", row));
        for (let row = caseStart[n]; row < caseStart[n + 1]; row++) {
          const before = original.get(key(row)) ?? null, after = at("score", row);
          if (at("perturbation", row) !== null && before !== null && after !== null) moved[row] = Number(before !== after);
        }
      }
    }
    columns.moved = { values: ["no", "yes"], codes: moved };

    // ---- texts

    const texts = (item, about = 0) => items.texts[item].filter(([field]) => items.about[field] === about).map(([field, text, lang]) => [items.fields[field], text, lang]);
    const SLICE = 500, haystacks = [], justifications = [];
    const lower = (text) => text.normalize("NFC").toLowerCase();
    // what a search reads, in lower case: `most` more texts; whether some are left
    const lowered = (most) => {
      for (const end = haystacks.length + most; haystacks.length < Math.min(end, items.id.length);) haystacks.push(lower([items.id[haystacks.length], ...items.texts[haystacks.length].map(([, value]) => value)].join("\n")));
      const reasons = columns.justification.values;
      for (const end = justifications.length + most; justifications.length < Math.min(end, reasons.length);) justifications.push(lower(reasons[justifications.length]));
      return haystacks.length < items.id.length || justifications.length < reasons.length;
    };
    const prepareSearch = () => { if (lowered(SLICE)) (globalThis.requestIdleCallback ?? setTimeout)(prepareSearch); };
    const searched = (text) => {
      const wanted = lower(text);
      lowered(Infinity);
      const inItem = Uint8Array.from(haystacks, (each) => Number(each.includes(wanted)));
      const inWords = Uint8Array.from(justifications, (each) => Number(each.includes(wanted)));
      const { codes } = columns.justification;
      return (row) => inItem[itemOf[row]] || (codes[row] >= 0 && inWords[codes[row]]);
    };

    // ---- filters

    // cases in which sides `a` and `b` give different scores to the same text (unchanged, same repeat)
    const differ = (n, a, b) => {
      const first = new Map();
      for (let row = caseStart[n]; row < caseStart[n + 1]; row++) if (side[row] === a && at("perturbation", row) === null) first.set(columns.repeat.codes[row], at("score", row));
      for (let row = caseStart[n]; row < caseStart[n + 1]; row++) {
        if (side[row] !== b || at("perturbation", row) !== null) continue;
        const one = first.get(columns.repeat.codes[row]) ?? null, other = at("score", row);
        if (one !== null && other !== null && one !== other) return true;
      }
      return false;
    };

    // `chosen` has codes by column (-1: no value), and `text`, `differ` ([side, side]); returns the rows and the cases they are of
    const filtered = (chosen) => {
      const hit = new Uint8Array(size).fill(1);
      for (const [name, wanted] of Object.entries(chosen.codes)) {
        const { codes } = columns[name];
        for (let row = 0; row < size; row++) if (codes[row] !== wanted) hit[row] = 0;
      }
      if (chosen.text) {
        const has = searched(chosen.text);
        for (let row = 0; row < size; row++) if (hit[row] && !has(row)) hit[row] = 0;
      }
      if (chosen.differ) {
        for (let n = 0; n < cases; n++) if (!differ(n, ...chosen.differ)) hit.fill(0, caseStart[n], caseStart[n + 1]);
      }
      const shown = [];
      let judgments = 0, last = -1;
      for (let row = 0; row < size; row++) {
        if (!hit[row]) continue;
        judgments++;
        if (caseOf[row] !== last) { last = caseOf[row]; shown.push(last); }
      }
      return { hit, shown, judgments };
    };

    const languageOf = (item) => items.language.values[items.language.codes[item]];
    const rowsOf = (n) => Array.from({ length: caseStart[n + 1] - caseStart[n] }, (_, k) => caseStart[n] + k);
    return { data, columns, unlabelled: !labels.item.length, size, itemOf, caseStart, at, apart, labelsAt, secondAt, distance, labelled, side, sides, texts, filtered, prepareSearch, languageOf, rowsOf };
  };
  return { read };
})();
