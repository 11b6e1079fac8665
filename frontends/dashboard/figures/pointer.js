// Marks that a reader moves over a figure. They have a layer of their own: plotly would draw everything anew for each.

import { outline } from "../kit/swatch.js";

const SPACE = "http://www.w3.org/2000/svg";
const FIELD = 12; // an outline's field is 12 × 12
const SIZE = 17;

/**
 * A place on two axes with its interval; `open` is drawn as an outline.
 * @typedef {{ x: Spread, y: Spread, look: { colour?: string, symbol?: string }, open: boolean }} Mark
 */

function part(name, attributes, ...children) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** The ends of an interval; of two seeds both values; of one none. @param {Spread} spread */
function endsOf({ mean, half_width: half, low, high }) {
  if (mean === null) return null;
  return half === null ? [low ?? mean, high ?? mean] : [mean - half, mean + half];
}

/** From a value to a pixel of the plot's field; what an axis cannot show stands at its least. */
function scaleOf(axis, least) {
  const lowest = least ?? -Infinity;
  return (/** @type {number | null} */ value) => (value === null ? NaN : axis.d2p(Math.max(value, lowest)));
}

/** @param {Mark} mark @param {number[]} at @param {number[][]} whiskers */
function drawn({ look, open }, at, whiskers) {
  const [left, top] = at;
  const scale = SIZE / FIELD;
  const shift = (/** @type {number} */ middle) => middle - SIZE / 2;
  const lines = whiskers
    .filter((line) => line.every(Number.isFinite))
    .map(([x1, y1, x2, y2]) => part("line", { x1, y1, x2, y2, stroke: look.colour, "stroke-width": 1.5 }));
  const shape = part("path", {
    d: outline(look.symbol),
    class: open ? "open" : "full",
    transform: `translate(${shift(left)} ${shift(top)}) scale(${scale})`,
    ...(open ? { stroke: look.colour } : { fill: look.colour }),
  });
  const place = { class: "mark", "data-x": left.toFixed(1), "data-y": top.toFixed(1) };
  return part("g", place, ...lines, shape);
}

export class Pointer {
  constructor() {
    this.field = part("svg", { class: "field" });
    this.element = part("svg", { class: "pointer", "aria-hidden": "true" }, this.field);
  }

  /**
   * Where plotly has drawn the axes just now; nothing before it has, and nothing in space.
   * @param {any} plot
   * @param {{ metric: string, least: number | null }[]} axes
   * @param {Mark[]} marks
   */
  show(plot, axes, marks) {
    const { xaxis, yaxis } = plot._fullLayout ?? {}; // the only place where plotly keeps its scales
    if (!xaxis?.d2p || !yaxis?.d2p || axes.length !== 2) return this.field.replaceChildren();
    const box = { x: xaxis._offset, y: yaxis._offset, width: xaxis._length, height: yaxis._length };
    for (const [key, value] of Object.entries(box)) this.field.setAttribute(key, String(value));
    const [toX, toY] = [scaleOf(xaxis, axes[0].least), scaleOf(yaxis, axes[1].least)];
    const shown = marks.flatMap((mark) => {
      const at = [toX(mark.x.mean), toY(mark.y.mean)];
      if (!at.every(Number.isFinite)) return [];
      const across = (endsOf(mark.x) ?? []).map(toX);
      const along = (endsOf(mark.y) ?? []).map(toY);
      const whiskers = [[across[0], at[1], across[1], at[1]], [at[0], along[0], at[0], along[1]]];
      return drawn(mark, at, whiskers);
    });
    this.field.replaceChildren(...shown);
  }
}
