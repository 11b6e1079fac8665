// Bounds that a point must keep: as many as a reader wants, each of a metric, from below or above.

import { h } from "../kit/dom.js";

/** @typedef {{ metric: HTMLSelectElement, side: HTMLSelectElement, value: HTMLInputElement }} Bound */
/** @typedef {Bound & { element: HTMLElement }} Row */

const SIDES = [["at_least", "at least"], ["at_most", "at most"]];

const options = (/** @type {string[][]} */ pairs) => pairs.map(([value, label]) => h("option", { value }, label));

export class Bounds {
  /**
   * `named` are metrics with what they are called; the first bound is one of `first`.
   * @param {string[][]} named
   * @param {Map<string, Metric>} metrics
   * @param {string} first
   */
  constructor(named, metrics, first) {
    this.named = named;
    this.metrics = metrics;
    /** @type {Row[]} */
    this.rows = [];
    this.list = h("span", { class: "bounds" });
    this.more = h("button", { type: "button", onclick: () => this.#add().metric.focus() }, "Add a bound");
    this.element = h("span", { class: "fields" }, this.list, this.more);
    this.#add(first, "1");
  }

  /** As the service takes them, by side: metric:number, several with commas between. */
  asked() {
    /** @type {Record<string, string>} */
    const bySide = {};
    for (const { metric, side, value } of this.rows) {
      const bound = `${metric.value}:${value.value}`;
      bySide[side.value] = side.value in bySide ? `${bySide[side.value]},${bound}` : bound;
    }
    return bySide;
  }

  /** The next is of a metric that has none yet: at most where less is better, else at least. */
  #add(metric = this.#free(), number = "") {
    const row = this.#row();
    row.metric.value = metric;
    row.side.value = this.metrics.get(metric)?.goal === "minimize" ? "at_most" : "at_least";
    row.value.value = number;
    this.rows.push(row);
    this.#show();
    return row;
  }

  #free() {
    const names = this.named.map(([name]) => name);
    return names.find((name) => this.rows.every(({ metric }) => metric.value !== name)) ?? names[0];
  }

  /** @returns {Row} */
  #row() {
    const metric = h("select", { "aria-label": "bounded metric" }, options(this.named));
    const side = h("select", { "aria-label": "which bound" }, options(SIDES));
    const value = h("input", { type: "number", step: "any", required: true, "aria-label": "bound" });
    const remove = h("button", { type: "button", onclick: () => this.#remove(row) }, "Remove");
    const row = { element: h("span", { role: "group" }, metric, side, value, remove), metric, side, value };
    return row;
  }

  #remove(/** @type {Row} */ row) {
    this.rows = this.rows.filter((each) => each !== row);
    this.#show();
    this.more.focus();
  }

  /** A single bound stays: without any the rule would be another. */
  #show() {
    this.rows.forEach(({ element }, i) => {
      element.setAttribute("aria-label", `Bound ${i + 1}`);
      const remove = /** @type {HTMLButtonElement} */ (element.lastElementChild);
      remove.hidden = this.rows.length === 1;
      remove.setAttribute("aria-label", `Remove bound ${i + 1}`);
    });
    this.list.replaceChildren(...this.rows.map(({ element }) => element));
  }
}
