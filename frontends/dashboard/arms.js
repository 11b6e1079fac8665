// The arms side by side.

import { h, keyed, setText, swatch } from "./dom.js";
import { duration, interval, number, percent } from "./format.js";

const COLUMNS = ["Arm", "Trials", "Failed", "Collapsed", "Hypervolume", "Best accuracy", "Training time", "Front share"];
const COLLAPSED = "finished trials whose code carries less than 0.05 bit; not counted for the front";
const SHARE = "this arm’s part of the non-dominated trials of all arms";

export class ArmsTable {
  constructor(study, metrics) {
    this.metrics = metrics;
    this.looks = new Map(study.arms.map((arm) => [arm.name, arm]));
    this.body = h("tbody");
    this.note = h("span", { class: "muted" });
    const titles = { Collapsed: COLLAPSED, "Front share": SHARE };
    const heads = COLUMNS.map((name, i) => h("th", { scope: "col", class: i ? "num" : "", title: titles[name] }, name));
    const table = h("table", {}, h("thead", {}, h("tr", {}, heads)), this.body);
    this.element = h(
      "section",
      { class: "arms" },
      h("div", { class: "panel-head" }, h("h2", {}, "Arms"), this.note),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Arms" }, table),
    );
  }

  show(comparison) {
    const named = (axis) => `${this.metrics.get(axis.metric)?.label ?? axis.metric} ${axis.reference}`;
    const reference = comparison.objectives.map(named).join(", ");
    const spread = comparison.seeds > 1 ? `mean ± 95 % over ${comparison.seeds} seeds` : "one seed, no interval";
    setText(this.note, `hypervolume: ${spread}, reference point ${reference}`);
    keyed(this.body, comparison.arms, (arm) => arm.name, (arm) => this.#make(arm), (row, arm) => this.#update(row, arm));
  }

  #make(arm) {
    const head = h("th", { scope: "row" }, h("span", { class: "arm" }, swatch(this.looks.get(arm.name) ?? {}), arm.name));
    return h("tr", {}, head, ...COLUMNS.slice(1).map(() => h("td", { class: "num" })));
  }

  #update(row, arm) {
    const { counts, hypervolume } = arm;
    const cells = [
      `${counts.finished}/${counts.planned}`,
      String(counts.failed),
      String(counts.collapsed),
      interval(hypervolume.mean, hypervolume.half_width),
      number(arm.best.accuracy),
      duration(arm.training_seconds),
      percent(arm.front_share),
    ];
    cells.forEach((text, i) => setText(row.children[i + 1], text));
    row.children[2].classList.toggle("bad", counts.failed > 0);
  }
}
