// The two texts of a pair side by side. Words that the other text lacks are marked; they are computed when the item is opened.
"use strict";
const PairTexts = (() => {
  const FIELDS = ["output_a", "output_b"];
  const MOST = 4_000_000; // comparisons of two words; more would make the page wait

  const isPair = (fields) => FIELDS.every((wanted) => fields.some(([name]) => name === wanted));

  // words, and what stands between them, in the order of the text; by spaces where the browser cannot find words
  const words = (text, lang) => {
    if (!Intl.Segmenter) return text.split(/(\s+)/).filter(Boolean);
    let segmenter;
    try { segmenter = new Intl.Segmenter(lang, { granularity: "word" }); } catch { segmenter = new Intl.Segmenter("en", { granularity: "word" }); }
    return Array.from(segmenter.segment(text), ({ segment }) => segment);
  };

  // for each word of both texts, whether it is outside their longest common subsequence; null if the texts are too long for it
  const differing = (one, other) => {
    const most = Math.min(one.length, other.length);
    let start = 0, end = 0;
    while (start < most && one[start] === other[start]) start++;
    while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
    const rows = one.length - start - end, columns = other.length - start - end, width = columns + 1;
    if (rows * columns > MOST) return null;
    const common = new Uint16Array((rows + 1) * width); // its length from each pair of places on
    for (let r = rows - 1; r >= 0; r--) {
      for (let c = columns - 1; c >= 0; c--) {
        const same = one[start + r] === other[start + c];
        common[r * width + c] = same ? common[(r + 1) * width + c + 1] + 1 : Math.max(common[(r + 1) * width + c], common[r * width + c + 1]);
      }
    }
    const marks = [one, other].map((all) => all.map(() => false));
    for (let r = 0, c = 0; r < rows || c < columns;) {
      if (r < rows && c < columns && one[start + r] === other[start + c]) { r++; c++; }
      else if (c === columns || (r < rows && common[(r + 1) * width + c] >= common[r * width + c + 1])) marks[0][start + r++] = true;
      else marks[1][start + c++] = true;
    }
    return marks;
  };

  // both texts as runs `[text, whether the other text lacks it]`, and a sentence about the marks
  const compared = (one, other, langs) => {
    const all = [words(one, langs[0]), words(other, langs[1])], marks = differing(...all);
    if (!marks) return { runs: [[[one, false]], [[other, false]]], note: "These texts are too long to mark where they differ." };
    const runs = all.map((own, side) => own.reduce((joined, word, n) => {
      const last = joined[joined.length - 1];
      if (last && last[1] === marks[side][n]) last[0] += word; else joined.push([word, marks[side][n]]);
      return joined;
    }, []));
    const same = !marks.flat().includes(true);
    return { runs, note: same ? "Both texts are the same." : "Marked: words that the other text does not have in this place." };
  };

  // two texts `[name, text, language]` side by side, each below its title
  const beside = (own, titles, lang, place) => {
    const { make, text } = ItemText;
    const langs = own.map(([, , tag]) => tag || lang), { runs, note } = compared(own[0][1], own[1][1], langs);
    const nodes = make("div", { class: "pair" });
    own.forEach(([name], side) => {
      const content = document.createDocumentFragment();
      for (const [run, differs] of runs[side]) content.append(differs ? make("mark", { class: "differs" }, run) : run);
      nodes.append(make("div", {}, make("p", { class: "field" }, titles[side]), text(name, content, langs[side], place)));
    });
    return [nodes, make("p", { class: "note" }, note)];
  };

  // `fields` are those of `ItemText.texts`; other texts of the item are not shown
  const sides = (fields, lang, place) => beside(FIELDS.map((wanted) => fields.find(([name]) => name === wanted)), FIELDS.map(ItemText.spaced), lang, place);

  // a flawed text beside the flawless one that it was made from
  const twins = (flawed, flawless, lang) => {
    const own = [flawless, flawed].map((fields) => fields.find(([name]) => name === "output"));
    return own.every(Boolean) ? [ItemText.make("h3", {}, "Minimal pair"), ...beside(own, ["flawless text", "this text"], lang, {})] : [];
  };

  return { FIELDS, isPair, compared, sides, twins };
})();
