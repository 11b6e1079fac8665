// The arms side by side, and each against the baseline.

import { h, keyed, setAttr, setText, swatch } from "./dom.js";
import { capital, duration, interval, number, percent } from "./format.js";

const COLLAPSED = "finished trials whose code carries less than 0.05 bit; not counted for the front";
const SHARE = "this arm’s part of the non-dominated trials of all arms";
const LOST = "a seed whose trials all failed or collapsed counts with a hypervolume of 0";

/** "50 % ± 18, less"; "97 % ± 5, no difference shown". */
export function againstWords(pair) {
  if (!pair) return "–";
  const { mean, half_width: half } = pair.ratio;
  const share = mean === null ? "" : `${percent(mean)}${half === null ? "" : ` ± ${Math.round(100 * half)}`}, `;
  if (pair.p_value === null) return `${share}${pair.seeds === 1 ? "one seed" : "not tested"}`;
  if (!pair.shown) return `${share}no difference shown`;
  return `${share}${pair.difference.mean > 0 ? "more" : "less"}`;
}

export class ArmsTable {
  constructor(study, metrics) {
    this.metrics = metrics;
    this.looks = new Map(study.arms.map((arm) => [arm.name, arm]));
    this.body = h("tbody");
    this.note = h("span", { class: "muted" });
    const names = [...(study.spec?.objectives ?? []).map((objective) => objective.metric), "accuracy"];
    this.best = [...new Set(names)].filter((name) => metrics.has(name));
    this.against = h("th", { scope: "col", class: "num" });
    const heads = [
      ["Arm"], ["Trials"], ["Failed"], ["Collapsed", COLLAPSED], ["Hypervolume", LOST], this.against,
      ...this.best.map((name) => [`Best ${this.#label(name)}`, metrics.get(name).doc]), ["Training time"], ["Front share", SHARE],
    ];
    this.width = heads.length;
    const cells = heads.map((head, i) => (head === this.against ? head : h("th", { scope: "col", class: i ? "num" : "", title: head[1] }, head[0])));
    const table = h("table", {}, h("thead", {}, h("tr", {}, cells)), this.body);
    this.element = h(
      "section",
      { class: "arms" },
      h("div", { class: "panel-head" }, h("h2", {}, "Arms"), this.note),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Arms" }, table),
    );
  }

  #label(name) {
    const { label, unit } = this.metrics.get(name) ?? { label: name, unit: "" };
    return unit ? `${label} [${unit}]` : label;
  }

  show(comparison) {
    const named = (axis) => `${this.metrics.get(axis.metric)?.label ?? axis.metric} ${axis.reference}`;
    const reference = comparison.objectives.map(named).join(", ");
    const spread = comparison.seeds > 1 ? `mean ± 95 % over ${comparison.seeds} seeds` : "one seed, no interval";
    setText(this.note, `hypervolume: ${spread}, reference point ${reference}`);
    setText(this.against, comparison.baseline ? `Against ${comparison.baseline}` : "Against");
    const pairs = new Map(comparison.pairs.map((pair) => [pair.arm, pair]));
    const update = (row, arm) => this.#update(row, arm, pairs.get(arm.name), arm.name === comparison.baseline);
    keyed(this.body, comparison.arms, (arm) => arm.name, (arm) => this.#make(arm), update);
  }

  #make(arm) {
    const head = h("th", { scope: "row" }, h("span", { class: "arm", title: arm.name }, swatch(this.looks.get(arm.name) ?? arm), arm.name));
    return h("tr", {}, head, ...Array.from({ length: this.width - 1 }, () => h("td", { class: "num" })));
  }

  #update(row, arm, pair, isBaseline) {
    const { counts, hypervolume } = arm;
    const cells = [
      `${counts.finished}/${counts.planned}`,
      String(counts.failed),
      String(counts.collapsed),
      interval(hypervolume.mean, hypervolume.half_width),
      isBaseline ? "baseline" : againstWords(pair),
      ...this.best.map((name) => number(arm.best[name])),
      duration(arm.training_seconds),
      percent(arm.front_share),
    ];
    cells.forEach((text, i) => setText(row.children[i + 1], text));
    setAttr(row.children[5], "title", pair ? capital(pair.words) : null);
    row.children[2].classList.toggle("bad", counts.failed > 0);
  }
}
