// The mark beside an estimate: what its estimator misses where the information is known.

import { h } from "./dom.js";
import { vocabulary } from "./vocabulary.js";

/** @typedef {Trial["lights"][string]} Lit */

const lights = new Map(vocabulary.lights.map((light) => [light.name, light]));

/** One character with its words for those who point at it or listen. @param {Lit} lit */
export function lightMark(lit) {
  const { mark, words } = lights.get(lit.light) ?? { mark: "", words: lit.light };
  const label = `error where the truth is known: ${words}`;
  return h("span", { class: "light", role: "img", "aria-label": label, title: lit.words }, mark);
}

/** A number behind its mark, or alone; written only when it changes. */
export function setLit(/** @type {Element} */ element, /** @type {string} */ text, /** @type {Lit | undefined} */ lit) {
  const shown = element.firstElementChild;
  const isSame = element.lastChild?.textContent === text && (shown?.getAttribute("title") ?? null) === (lit?.words ?? null);
  if (!isSame) element.replaceChildren(...(lit ? [lightMark(lit)] : []), text);
}
