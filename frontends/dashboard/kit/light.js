// The mark beside an estimate: what its estimator misses where the information is known.

import { h } from "./dom.js";
import { vocabulary } from "./vocabulary.js";

const lights = new Map(vocabulary.lights.map((light) => [light.name, light]));

/** One character with its words for those who point at it or listen. @param {MetricLight} lit */
export function lightMark(lit) {
  const { mark, words } = lights.get(lit.light) ?? { mark: "", words: lit.light };
  const label = `error where the truth is known: ${words}`;
  return h("span", { class: "light", role: "img", "aria-label": label, title: lit.words }, mark);
}

/**
 * A number behind its mark, or alone; written only when it changes.
 * @param {Element} element @param {string} text @param {MetricLight | undefined} lit
 */
export function setLit(element, text, lit) {
  const explained = element.firstElementChild?.getAttribute("title") ?? undefined;
  if (element.lastChild?.textContent === text && explained === lit?.words) return;
  element.replaceChildren(...(lit ? [lightMark(lit)] : []), text);
}
