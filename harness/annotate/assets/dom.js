"use strict";
// Elements made from words and texts, never from markup.

/** An element. Attributes that begin with `on` are listeners; `true` sets an attribute, `false` and `null` leave it out. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

/** A number as the language of the page writes it: 2,5 in Czech. Anything else as it is. */
const shownNumber = (value) => (typeof value === "number" ? value.toLocaleString(document.documentElement.lang || "en", { maximumFractionDigits: 6 }) : String(value));

/** A word of the page with the names in braces replaced. */
function word(id, values) {
  return page.strings[id].replace(/\{(\w+)\}/g, (whole, name) => (values && name in values ? shownNumber(values[name]) : whole));
}

/** One paragraph for each part between empty lines. */
function paragraphs(text) {
  return text.split(/\n\s*\n/).filter((part) => part.trim()).map((part) => make("p", { class: "prose" }, part.trim()));
}

/** Tell people something in a line that screen readers read aloud; what is also seen elsewhere is only read. */
function announce(text, seen) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.className = seen ? "seen" : "";
}

const page = JSON.parse(document.getElementById("page").textContent);

/** Give each item its texts. They stand last in the document, so that the first screen does not wait for them. */
async function readTexts() {
  if (document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  const texts = JSON.parse(document.getElementById("texts").textContent);
  page.items.forEach((item, place) => { item.texts = texts[place]; });
}
