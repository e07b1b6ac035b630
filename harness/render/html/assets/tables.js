// Tables marked `data-sort` are sorted by their headings: numbers (`29 % [24–34]` is 29) by size, others as texts, gaps last.
"use strict";
(() => {
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell ? (cell.dataset.value ?? cell.textContent.trim()) : "";
  };
  const isGap = (text) => text === "" || text === "–";
  const number = (text) => Number(text.replaceAll(/[\u202f,]/g, "").replace("−", "-").match(/^<?([+-]?\d*\.?\d+)(?=$|[\s%†‡])/)?.[1] ?? NaN);
  const compare = (a, b) => {
    if (isGap(a) || isGap(b)) return Number(isGap(a)) - Number(isGap(b));
    const x = number(a), y = number(b);
    return Number.isFinite(x) && Number.isFinite(y) ? x - y : a.localeCompare(b);
  };
  const sort = (table, column, falling) => {
    for (const body of table.tBodies) {
      const rows = [...body.rows].map((row) => [value(row, column), row]);
      rows.sort(([a], [b]) => (falling && !isGap(a) && !isGap(b) ? compare(b, a) : compare(a, b)));
      body.append(...rows.map(([, row]) => row));
    }
  };
  for (const table of document.querySelectorAll("table[data-sort]")) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((head, column) => {
      if (head.dataset.sort === "no") return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const falling = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        sort(table, column, falling);
      });
    });
  }
  // On paper nothing can be opened or scrolled: what is folded is unfolded, and tables wider than a landscape page become smaller.
  const PAGE_WIDTH = 1040;
  let opened = [];
  const fit = (table) => {
    table.style.width = "1px";
    const least = table.offsetWidth;
    table.style.width = "";
    if (least > PAGE_WIDTH) table.style.zoom = (PAGE_WIDTH / least).toFixed(3);
  };
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.more:not(#cases, .view details):not([open]), details.part:not([open])")];
    for (const each of opened) each.open = true;
    document.querySelectorAll(".scroll > table").forEach(fit);
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
    for (const table of document.querySelectorAll(".scroll > table")) table.style.zoom = "";
  });
})();
