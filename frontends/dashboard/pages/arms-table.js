// The arms side by side, and each against the baseline.

import { choose, chosen } from "../kit/address.js";
import { h, keyed, setAttr, setText } from "../kit/dom.js";
import {
  capital, configLabel, duration, metricLabel, number, overSeeds, percent, percentRange, setting, settingRange, spread,
} from "../kit/format.js";
import { setLit } from "../kit/light.js";
import { shownFirst } from "../kit/metrics.js";
import { swatch } from "../kit/swatch.js";
import { vocabulary } from "../kit/vocabulary.js";

const LEAST_BITS = setting(vocabulary.limits.collapsed_below_bits);
const COLLAPSED = `collapsed: less than ${LEAST_BITS} bit in the code, or nothing of the label; off the front`;
const SHARE = "the part of all arms’ joint hypervolume that only this arm attains, mean over seeds";
const LOST = "a seed whose trials all failed, collapsed or are infeasible counts with a hypervolume of 0";

const AGAINST = "distance to the baseline’s front of the same seed, in units of its ranges, which depend on how far "
  + "its settings reach: compare it within this study only. “At the same …” rests on a gap in the metric’s own unit, "
  + "which does not; nothing is “on the front” that such a gap speaks against";
const LANDS = "the baseline’s settings that land where this arm lands, with the ends of their 95 % interval over seeds"
  + "; none for an arm that draws a front itself";
const DOMINATED = "the share of the arm’s front that the baseline’s dominates, with Wilson’s 95 % interval over seeds";
const EPSILON = "additive ε-indicator: what the arm lacks to dominate the exact front, or that of all arms; 0 is best";
const OPTIMISM = "beside the best values: how much better the arm’s front looks on the split that chose it, "
  + "mean over its trials; above 0 is the winner’s curse";
const IGD = "IGD⁺: mean distance from that front to the arm; 0 is best";

/** "below the front, −0.12 ± 0.03"; "on the front, 0 ± 0.01" between its readings; "not shown to be …, one seed". */
export function againstWords(/** @type {ComparedArm} */ arm, /** @type {Pair | undefined} */ pair) {
  if (!pair || !pair.standing) return "–";
  const { mean, half_width: half, seeds } = arm.distance;
  const words = [pair.standing_words];
  if (mean || half) words.push(spread(mean, half));
  if (seeds === 1) words.push("one seed");
  else if (mean && pair.distance_p_value === null) words.push("not tested");
  return words.join(", ");
}

/** "β ≈ 0.0488 (0.031 to 0.077)"; of an arm that draws a front "β ≈ 0.001 to 0.3". @param {ComparedArm} arm */
export function landsWords({ amounts_to_over_seeds: amounts, lands_between: between }) {
  const fromTo = (ends) => ends.map(({ mean, lower, upper }) => settingRange(mean, lower, upper)).join(" to ");
  const single = Object.entries(amounts).map(([key, amount]) => [key, [amount]]);
  const known = /** @type {[string, any[]][]} */ (single.length ? single : Object.entries(between ?? {}));
  return known.map(([key, ends]) => `${configLabel(key)} ≈ ${fromTo(ends)}`).join(" and ") || "–";
}

/** @param {Spread | null | undefined} value */
const overSeedsText = (value) => (value ? spread(value.mean, value.half_width, value.low, value.high) : "–");

/**
 * "2.94 ± 0.11", or with its optimism "2.94 ± 0.11 (+0.0200)".
 * @param {Spread | undefined} best @param {number | undefined} gap
 */
export function bestWords(best, gap) {
  const reached = overSeedsText(best);
  return gap === undefined || reached === "–" ? reached : `${reached} (${gap > 0 ? "+" : ""}${number(gap)})`;
}

/** "16 s + 42 s": its own, and that of the networks which verify its curve. @param {ComparedArm} arm */
function trainingWords({ training_seconds: own, verified }) {
  return verified ? `${duration(own)} + ${duration(verified.training_seconds)} verifying` : duration(own);
}

export class ArmsTable {
  /** @param {ArmLook[]} arms @param {Objective[]} objectives @param {Map<string, Metric>} metrics */
  constructor(arms, objectives, metrics) {
    this.metrics = metrics;
    this.looks = new Map(arms.map((arm) => [arm.name, arm]));
    this.body = h("tbody");
    this.note = h("span", { class: "muted" });
    this.best = shownFirst(metrics, objectives);
    this.against = h("th", { scope: "col", class: "num", title: AGAINST });
    this.alone = h("p", { class: "muted", hidden: true });
    this.flattered = h("input", { type: "checkbox", checked: chosen("optimism") === "1" });
    this.flattered.addEventListener("change", () => {
      choose({ optimism: this.flattered.checked ? "1" : null });
      if (this.shown) this.show(this.shown);
    });
    const words = " show optimism";
    this.asked = h("label", { class: "muted", title: OPTIMISM, hidden: true }, this.flattered, words);
    const head = (text, title) => h("th", { scope: "col", class: text === "Arm" ? "" : "num", title }, text);
    this.bestHeads = new Map(this.best.map((name) => [name, head(this.#bestTitle(name), metrics.get(name)?.doc)]));
    this.singleHeads = [head("Δm [%]"), head("Mean rank")];
    const heads = [
      head("Arm"),
      head("Trials"),
      head("Failed, collapsed", COLLAPSED),
      head("Hypervolume", LOST),
      this.against,
      head("Lands at", LANDS),
      head("Dominated", DOMINATED),
      head("ε", EPSILON),
      head("IGD⁺", IGD),
      ...this.singleHeads,
      ...this.bestHeads.values(),
      head("Training time"),
      head("Front lost without it", SHARE),
    ];
    this.heads = heads;
    this.table = h("table", {}, h("thead", {}, h("tr", {}, heads)), this.body);
    this.element = h(
      "section",
      { class: "arms" },
      h("div", { class: "panel-head" }, h("h2", {}, "Arms"), this.note, this.asked),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Arms" }, this.table),
      this.alone,
    );
  }

  #bestTitle(/** @type {string} */ name) {
    const metric = this.metrics.get(name);
    return `Best ${metric ? metricLabel(metric) : name}`;
  }

  show(/** @type {Comparison} */ comparison) {
    this.shown = comparison;
    this.asked.hidden = !comparison.arms.some((arm) => Object.keys(arm.optimism).length);
    const named = (axis) => `${this.metrics.get(axis.metric)?.label ?? axis.metric} ${setting(axis.reference)}`;
    const reference = comparison.objectives.map(named).join(", ");
    const unit = comparison.baseline ? `; distance to ${comparison.baseline}’s front in units of its ranges` : "";
    const split = comparison.selection_words ? `; ${comparison.selection_words}` : "";
    setText(this.note, `hypervolume: ${overSeeds(comparison.seeds)}, reference point ${reference}${unit}${split}`);
    for (const [name, cell] of this.bestHeads) setLit(cell, this.#bestTitle(name), comparison.lights[name]);
    setText(this.against, comparison.baseline ? `Against ${comparison.baseline}` : "Against");
    const { single } = comparison;
    setText(this.alone, single?.words ?? "");
    for (const element of [this.alone, ...this.singleHeads]) element.hidden = !single;
    this.table.classList.toggle("against-single", Boolean(single));
    const pairs = new Map(comparison.pairs.map((pair) => [pair.arm, pair]));
    const update = (row, arm) => this.#update(row, arm, pairs.get(arm.name), arm.name === comparison.baseline);
    keyed(this.body, comparison.arms, (arm) => arm.name, (arm) => this.#make(arm), update);
  }

  #make(/** @type {ComparedArm} */ arm) {
    const mark = swatch(this.looks.get(arm.name) ?? arm);
    const head = h("th", { scope: "row" }, h("span", { class: "arm", title: arm.name }, mark, arm.name));
    return h("tr", {}, head, ...Array.from({ length: this.heads.length - 1 }, () => h("td", { class: "num" })));
  }

  /** @param {ComparedArm} arm @param {string} name */
  #best(arm, name) {
    return bestWords(arm.best_over_seeds[name], this.flattered.checked ? arm.optimism[name] : undefined);
  }

  /** @param {HTMLElement} row @param {ComparedArm} arm @param {Pair | undefined} pair @param {boolean} isBaseline */
  #update(row, arm, pair, isBaseline) {
    const { counts, hypervolume, dominated_over_seeds: dominated } = arm;
    const cells = [
      `${counts.finished}/${counts.planned}`,
      `${counts.failed}, ${counts.collapsed}${counts.infeasible ? `, ${counts.infeasible} infeasible` : ""}`,
      spread(hypervolume.mean, hypervolume.half_width, hypervolume.low, hypervolume.high),
      isBaseline ? "baseline" : againstWords(arm, pair),
      landsWords(arm),
      percentRange(dominated.mean, dominated.lower, dominated.upper),
      overSeedsText(arm.epsilon_over_seeds),
      overSeedsText(arm.igd_plus_over_seeds),
      overSeedsText(arm.delta_m),
      overSeedsText(arm.mean_rank),
      ...this.best.map((name) => this.#best(arm, name)),
      trainingWords(arm),
      percent(arm.front_share),
    ];
    cells.forEach((text, i) => setText(row.children[i + 1], text));
    this.singleHeads.forEach((head) => setAttr(row.children[this.heads.indexOf(head)], "hidden", head.hidden));
    setAttr(row.children[cells.length - 1], "title", arm.verified?.words || null);
    setAttr(row.children[4], "title", pair ? capital(pair.words) : null);
    row.children[2].classList.toggle("bad", counts.failed > 0);
  }
}
