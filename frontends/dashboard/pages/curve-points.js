// The points of an open trial that has many: a row for each place of its curve.

import { h, setText } from "../kit/dom.js";
import { capital, configLabel, metricLabel, number, plural, setting } from "../kit/format.js";
import { shownFirst } from "../kit/metrics.js";

export class CurvePoints {
  /** @param {Map<string, Metric>} metrics @param {Objective[]} objectives */
  constructor(metrics, objectives) {
    this.metrics = metrics;
    this.names = shownFirst(metrics, objectives);
    this.shown = "";
    this.title = h("h3", {});
    this.table = h("table", {});
    const scrolled = { class: "scroll points", tabindex: "0", role: "region", "aria-label": "Points of this trial" };
    this.element = h("div", { hidden: true }, this.title, h("div", scrolled, this.table));
  }

  /** Only when they change: a reader may have scrolled. */
  show(/** @type {CurvePoint[]} */ points) {
    const text = JSON.stringify(points);
    if (text === this.shown) return;
    this.shown = text;
    this.element.hidden = points.length < 2;
    if (this.element.hidden) return;
    setText(this.title, plural(points.length, "point"));
    const along = Object.keys(points[0].where);
    const label = (name) => capital(metricLabel(this.metrics.get(name) ?? { label: name, unit: "" }));
    const heads = [...along.map(configLabel), ...this.names.map(label)];
    const head = h("tr", {}, heads.map((words) => h("th", { scope: "col", class: "num" }, words)));
    const row = (/** @type {CurvePoint} */ { where, metrics }) =>
      h(
        "tr",
        {},
        along.map((key) => h("th", { scope: "row", class: "num" }, setting(where[key]))),
        this.names.map((name) => h("td", { class: "num" }, number(metrics[name]))),
      );
    this.table.replaceChildren(h("thead", {}, head), h("tbody", {}, points.map(row)));
  }
}
