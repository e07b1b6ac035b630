// Each figure of a page can be saved as an SVG file. What is seen is copied: texts, drawings and coloured grounds, with their colours.
"use strict";
(() => {
  const SPACE = "http://www.w3.org/2000/svg", PADDING = 12;
  const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight"];
  const make = (name, attributes) => {
    const node = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const isSeen = (element) => !element.closest(".hidden, button, [hidden]") && element.getClientRects().length > 0;

  // A drawing inside the figure, its styles written out; links and data stay behind.
  const drawing = (svg, left, top) => {
    const copy = svg.cloneNode(true), box = svg.getBoundingClientRect();
    const seen = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
    seen.forEach((element, n) => {
      const style = getComputedStyle(element);
      for (const name of PAINT) copies[n].setAttribute(name, style.getPropertyValue(name));
      for (const name of ["class", "data-show", "href"]) copies[n].removeAttribute(name);
    });
    const size = { x: box.left - left, y: box.top - top, width: box.width, height: box.height, overflow: "visible" };
    for (const [name, value] of Object.entries(size)) copy.setAttribute(name, value);
    return copy;
  };

  // The lines of a text node: words that stand at the same height.
  const linesOf = (node) => {
    const lines = new Map(), range = document.createRange();
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const box = range.getBoundingClientRect(), key = Math.round(box.top);
      if (!lines.has(key)) lines.set(key, { words: [], left: box.left, bottom: box.bottom, height: box.height });
      lines.get(key).words.push(word);
    }
    return lines.values();
  };

  const picture = (figure) => {
    const box = figure.getBoundingClientRect(), table = figure.querySelector("table");
    const width = Math.max(box.width, table ? table.scrollWidth : 0) + 2 * PADDING, height = box.height + 2 * PADDING;
    const left = box.left - PADDING, top = box.top - PADDING;
    const svg = make("svg", { xmlns: SPACE, width, height, viewBox: `0 0 ${width} ${height}` });
    const title = make("title", {});
    title.textContent = figure.querySelector("caption")?.textContent || figure.dataset.figure;
    svg.append(title, make("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }));
    for (const cell of figure.querySelectorAll("th, td, .chip")) {
      const ground = getComputedStyle(cell).backgroundColor, place = cell.getBoundingClientRect();
      if (isSeen(cell) && !/, 0\)$|transparent/.test(ground)) svg.append(make("rect", { x: place.left - left, y: place.top - top, width: place.width, height: place.height, fill: ground }));
    }
    for (const drawn of figure.querySelectorAll("svg")) if (isSeen(drawn) && !drawn.parentElement.closest("svg")) svg.append(drawing(drawn, left, top));
    const walker = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, parent = node.parentElement;
      if (parent.closest("svg, caption") || !isSeen(parent)) continue;
      const style = getComputedStyle(parent);
      for (const line of linesOf(node)) {
        const text = make("text", { x: line.left - left, y: line.bottom - top - 0.24 * line.height, fill: style.color, "font-size": style.fontSize, "font-family": style.fontFamily, "font-weight": style.fontWeight });
        text.textContent = line.words.join(" ");
        svg.append(text);
      }
    }
    return new XMLSerializer().serializeToString(svg);
  };

  const save = (figure) => {
    const address = URL.createObjectURL(new Blob([picture(figure)], { type: "image/svg+xml" }));
    const name = figure.dataset.figure.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 80);
    Object.assign(document.createElement("a"), { href: address, download: `${name}.svg` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  for (const figure of document.querySelectorAll("figure[data-figure]")) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "save no-print", textContent: "Save as SVG" });
    button.addEventListener("click", () => save(figure));
    figure.append(button);
  }
})();
