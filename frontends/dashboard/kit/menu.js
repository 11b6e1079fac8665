// Small menus that hold buttons, links or boxes.

import { h } from "./dom.js";

/**
 * A menu under its words; Escape and a click elsewhere close it.
 * @param {string} words
 * @param {HTMLElement} items
 * @param {{ label?: string, kind?: string }} [how]
 */
export function menu(words, items, { label, kind = "" } = {}) {
  const summary = h("summary", { "aria-label": label }, words);
  const element = h("details", { class: `menu ${kind}`.trim() }, summary, items);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    event.stopPropagation();
    element.open = false;
    summary.focus();
  });
  document.addEventListener("click", (event) => {
    if (element.open && !element.contains(/** @type {Node} */ (event.target))) element.open = false;
  });
  return element;
}
