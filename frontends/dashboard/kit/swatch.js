// An arm's marker, as the figures draw it.

import { vocabulary } from "./vocabulary.js";

const SPACE = "http://www.w3.org/2000/svg";
const [FALLBACK] = Object.values(vocabulary.markers);

/** The outline of a marker on a field of 12 × 12. @param {string | undefined} symbol */
export const outline = (symbol) => vocabulary.markers[symbol ?? ""] ?? FALLBACK;

/** @param {{ symbol?: string, colour?: string }} arm */
export function swatch(arm) {
  const svg = document.createElementNS(SPACE, "svg");
  const path = document.createElementNS(SPACE, "path");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", outline(arm.symbol));
  path.setAttribute("fill", arm.colour ?? "currentColor");
  svg.append(path);
  return svg;
}
