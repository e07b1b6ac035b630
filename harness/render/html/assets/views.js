// The first screen: the language that is chosen, kept in the address, and the condition whose verdicts are shown. A link to a folded
// section opens it.
"use strict";
(() => {
  const views = [...document.querySelectorAll("[data-view]")];
  const links = [...document.querySelectorAll(".languages a")];
  const show = (tag) => {
    const view = views.find((each) => each.dataset.view === tag) ?? views[0];
    for (const each of views) each.hidden = each !== view;
    for (const link of links) {
      if (link.hash === `#lang=${view.dataset.view}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    document.querySelector("h1").textContent = view.dataset.title;
    document.querySelector(".facts").textContent = view.dataset.facts;
  };
  const chosen = () => { if (location.hash.startsWith("#lang=")) show(decodeURIComponent(location.hash.slice(6))); };
  if (links.length) {
    addEventListener("hashchange", chosen);
    chosen();
  }
  for (const select of document.querySelectorAll("select.asked")) {
    const matrices = [...select.closest("[data-view]").querySelectorAll("[data-asked]")];
    select.addEventListener("change", () => { for (const each of matrices) each.hidden = each.dataset.asked !== select.value; });
  }
  const unfold = () => {
    const part = document.getElementById(location.hash.slice(1))?.closest("details.part");
    if (part) part.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
  document.documentElement.classList.add("scripted");
})();
