// A small stepped line of the hypervolume as trials finished: what it grew from and to, in a row of a table.

import { h } from "../kit/dom.js";
import { number } from "../kit/format.js";

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 72;
const HEIGHT = 18;

/** The points of the steps, on a field of WIDTH × HEIGHT; a line that never changes lies at the bottom. */
export function steps(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (i) => (values.length === 1 ? 0 : (i / (values.length - 1)) * (WIDTH - 2)) + 1;
  const y = (value) => HEIGHT - 2 - (high > low ? ((value - low) / (high - low)) * (HEIGHT - 4) : 0);
  const place = (px, py) => `${px.toFixed(1)} ${py.toFixed(1)}`;
  const parts = values.slice(1).map((value, i) => `H${x(i + 1).toFixed(1)}V${y(value).toFixed(1)}`);
  return `M${place(x(0), y(values[0]))}${parts.join("")}${values.length === 1 ? `H${WIDTH - 1}` : ""}`;
}

/** An element that shows a study's spark; `set(values)` again whenever they change. */
export class Spark {
  constructor() {
    const svg = document.createElementNS(SPACE, "svg");
    this.path = document.createElementNS(SPACE, "path");
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("role", "img");
    svg.append(this.path);
    this.svg = svg;
    this.latest = h("span", {});
    this.element = h("span", { class: "spark" }, svg, this.latest);
    this.shown = null;
  }

  set(values) {
    const known = (values ?? []).filter((value) => value !== null);
    const key = known.join();
    if (key === this.shown) return;
    this.shown = key;
    this.svg.toggleAttribute("hidden", known.length === 0);
    this.latest.textContent = number(known.at(-1));
    if (!known.length) return;
    this.path.setAttribute("d", steps(known));
    const [first, last] = [number(known[0]), number(known.at(-1))];
    const words = first === last ? `hypervolume ${last}` : `hypervolume from ${first} to ${last}`;
    this.svg.setAttribute("aria-label", words);
  }
}
