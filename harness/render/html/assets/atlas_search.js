// Finds languages by a name in any language: what does not match is hidden. Without this script all of them are listed.
"use strict";
(() => {
  const names = JSON.parse(document.getElementById("language-names").textContent);
  const form = document.querySelector("form.search");
  const field = form.querySelector("input");
  const status = form.querySelector("[role=status]");
  const plain = (text) => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase().trim();
  const searched = new Map(Object.entries(names).map(([tag, all]) => [tag, all.map(plain)]));
  const show = () => {
    const wanted = plain(field.value);
    const found = [...searched].filter(([, all]) => all.some((name) => name.startsWith(wanted) || (wanted.length > 2 && name.includes(wanted))));
    const tags = new Set(found.map(([tag]) => tag));
    for (const each of document.querySelectorAll("[data-tag]")) each.hidden = !tags.has(each.dataset.tag);
    status.textContent = wanted ? `${tags.size} ${tags.size === 1 ? "language" : "languages"}` : "";
    return found;
  };
  form.hidden = false;
  const focus = () => { if (location.hash === "#search") field.focus(); };
  addEventListener("hashchange", focus);
  field.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = plain(field.value);
    const found = show();
    const exact = found.filter(([, all]) => all.includes(wanted));
    const best = exact.length ? exact : found;
    if (wanted && best.length === 1) document.querySelector(`[data-tag="${CSS.escape(best[0][0])}"] a`).click();
  });
  show();
  focus();
})();
