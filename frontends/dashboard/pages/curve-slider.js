// One training for many trade-offs, looked at place by place: a slider along its curve, what was measured there, and
// the separately trained network that lies nearest. All places are here: moving asks for nothing.

import { choose, chosen } from "../kit/address.js";
import { get, studyPath } from "../kit/api.js";
import { h, setAttr, setText } from "../kit/dom.js";
import { capital, metricLabel, overSeeds, spread } from "../kit/format.js";
import { setLit } from "../kit/light.js";
import { alongCurve } from "../kit/metrics.js";
import { placeInAddress, placeNear, placeWords, valuesIn } from "../kit/curve-places.js";
import { swatch } from "../kit/swatch.js";

const NOTHING_BESIDE = "No network was trained separately for one such place.";

/** @param {OverSeeds | undefined} value */
const spreadWords = (value) => (value ? spread(value.mean, value.half_width, value.low, value.high) : "–");

/** Where on the curve it would lie, and what else tells it from its arm's others. @param {ConstantSetting} setting */
function settingWords({ where, config }) {
  const others = Object.entries(config).filter(([key]) => !key.startsWith("weighting."));
  return [placeWords(where), placeWords(Object.fromEntries(others))].filter(Boolean).join(" · ");
}

/** "mean ± 95 % interval over 3 seeds", and how many of them carry nothing. */
function seedsWords(/** @type {Record<string, OverSeeds>} */ metrics, collapsed = 0) {
  const seeds = Math.max(0, ...Object.values(metrics).map((value) => value.seeds));
  const nothing = seeds === 1 ? "collapsed here" : `collapsed here in ${collapsed} of ${seeds}`;
  return overSeeds(seeds) + (collapsed ? `; ${nothing}` : "");
}

export class CurveSlider {
  /**
   * `onMove()` is told whenever the marks have moved, `onChange()` when another curve is wanted.
   * @param {Study} study
   * @param {Map<string, Metric>} metrics
   * @param {{ onMove: () => void, onChange: () => void }} reader
   */
  constructor(study, metrics, { onMove, onChange }) {
    this.path = `${studyPath(study.id)}/curves`;
    this.looks = new Map(study.arms.map((arm) => [arm.name, arm]));
    this.metrics = metrics;
    this.names = alongCurve(metrics, study.spec.objectives);
    this.onMove = onMove;
    this.trial = chosen("curve");
    this.wanted = valuesIn(chosen("place"));
    /** @type {Curves | null} */
    this.shown = null;
    this.index = 0;

    this.input = h("input", { type: "range", id: "along", min: "0", max: "0", step: "1", disabled: true });
    this.input.addEventListener("input", () => this.#move());
    this.input.addEventListener("change", () => this.#keep());
    this.here = h("output", { for: "along" });
    this.ends = [h("span", {}), h("span", {})];
    this.told = [h("p", { class: "muted" }), h("p", { class: "muted" })];
    this.choice = h("select", {});
    this.choice.addEventListener("change", () => {
      this.trial = this.choice.value;
      choose({ curve: this.trial });
      onChange();
    });
    this.choiceLabel = h("label", { hidden: true }, "Curve ", this.choice);
    this.note = h("p", { class: "muted" }, "Loading …");
    this.heads = [0, 1].map(() => h("th", { scope: "col", class: "num" }));
    this.rows = this.names.map((name) => {
      const head = h("th", { scope: "row", title: metrics.get(name)?.doc }, this.#label(name));
      return { name, head, cells: [h("td", { class: "num" }), h("td", { class: "num" })] };
    });
    const body = this.rows.map(({ head, cells }) => h("tr", {}, head, cells));
    const names = h("tr", {}, h("td", {}), this.heads);
    this.table = h("table", { hidden: true }, h("thead", {}, names), h("tbody", {}, body));
    this.slider = h(
      "div",
      { class: "slider", hidden: true },
      h("label", { for: "along" }, "Place on the curve"),
      this.here,
      this.input,
      h("div", { class: "ends muted", "aria-hidden": "true" }, this.ends),
      this.told,
    );
    this.element = h(
      "section",
      { class: "along", "aria-label": "Along the curve", style: `--rows: ${this.names.length}` },
      h("div", { class: "panel-head" }, h("h2", {}, "Along the curve"), this.choiceLabel),
      h("div", { class: "along-body" }, this.note, this.slider, this.table),
    );
  }

  #label(/** @type {string} */ name) {
    const metric = this.metrics.get(name);
    return capital(metric ? metricLabel(metric) : name);
  }

  async refresh() {
    const query = this.trial === null ? "" : `?${new URLSearchParams({ trial: this.trial })}`;
    try {
      this.shown = await get(this.path + query);
    } catch (error) {
      if (error.status !== 404 || this.trial === null) throw error;
      this.trial = null; // of another study, or an old link
      choose({ curve: null });
      return this.refresh();
    }
    this.#show();
  }

  /** How far the estimates can be trusted. @param {Comparison["lights"]} lights */
  showLights(lights) {
    for (const { name, head } of this.rows) setLit(head, this.#label(name), lights[name]);
  }

  /**
   * Where the reader is, and what lies nearest, on two metrics.
   * @param {{ metric: string }[]} axes
   * @returns {import("../figures/pointer.js").Mark[]}
   */
  marks([x, y]) {
    const { place, nearest } = this.#now();
    const look = (arm) => this.looks.get(arm ?? "") ?? {};
    const at = (own, arm, open) =>
      own?.metrics[x.metric] && own.metrics[y.metric]
        ? [{ x: own.metrics[x.metric], y: own.metrics[y.metric], look: look(arm), open }]
        : [];
    return [...at(place, this.#curve()?.arm, false), ...at(nearest, this.shown?.beside?.arm, true)];
  }

  #curve() {
    return this.shown?.curves.find(({ trial }) => trial === this.shown?.shown);
  }

  #now() {
    const place = this.shown?.places[this.index];
    const nearest = place && place.nearest !== null ? this.shown?.beside?.settings[place.nearest] : undefined;
    return { place, nearest };
  }

  /** What the service has now; the reader stays at the place, wherever that is by now. */
  #show() {
    const { curves, shown, places } = /** @type {Curves} */ (this.shown);
    const isThere = places.length > 1;
    this.slider.hidden = this.table.hidden = !isThere;
    this.input.disabled = !isThere;
    this.note.hidden = isThere;
    setText(this.note, "No trial has brought a curve yet.");
    this.#offer(curves, shown);
    setAttr(this.input, "max", String(Math.max(0, places.length - 1)));
    this.index = placeNear(places, this.wanted);
    this.input.value = String(this.index);
    [places[0], places.at(-1)].forEach((end, i) => setText(this.ends[i], end ? placeWords(end.where) : ""));
    this.#read();
  }

  /** @param {DrawnCurve[]} curves @param {string | null} shown */
  #offer(curves, shown) {
    const named = curves.map(({ trial, arm, config }) => ({
      trial,
      words: [arm, placeWords(config)].filter(Boolean).join(" · "),
    }));
    const text = JSON.stringify(named);
    if (this.choice.dataset.offered !== text) {
      this.choice.replaceChildren(...named.map(({ trial, words }) => h("option", { value: trial }, words)));
      this.choice.dataset.offered = text;
    }
    if (shown !== null) this.choice.value = shown;
    this.choiceLabel.hidden = curves.length < 2 && curves[0]?.trial === shown;
  }

  #move() {
    this.index = Number(this.input.value);
    this.wanted = Object.values(this.#now().place?.where ?? {});
    this.#read();
  }

  #keep() {
    choose({ place: placeInAddress(this.wanted) });
  }

  /** Everything that says where the reader is. */
  #read() {
    const { place, nearest } = this.#now();
    setText(this.here, place ? placeWords(place.where) : "");
    if (place) {
      const arm = this.#curve()?.arm;
      this.#head(0, arm, placeWords(place.where));
      setText(this.told[0], `${arm}: ${seedsWords(place.metrics, place.collapsed)}`);
    }
    if (nearest && this.shown?.beside) {
      const { arm, verifies } = this.shown.beside;
      this.#head(1, arm, `${verifies ? "trained alone" : "nearest"}: ${settingWords(nearest)}`);
      setText(this.told[1], `${arm}${verifies ? ", trained alone" : ""}: ${seedsWords(nearest.metrics)}`);
    } else setText(this.told[1], NOTHING_BESIDE);
    for (const { name, cells } of this.rows) {
      setText(cells[0], spreadWords(place?.metrics[name]));
      setText(cells[1], spreadWords(nearest?.metrics[name]));
    }
    for (const element of [this.heads[1], ...this.rows.map(({ cells }) => cells[1])]) element.hidden = !nearest;
    const read = this.rows.map(({ name }) => `${this.#label(name)} ${spreadWords(place?.metrics[name])}`);
    setAttr(this.input, "aria-valuetext", place ? [placeWords(place.where), ...read].join(", ") : null);
    this.onMove();
  }

  #head(/** @type {number} */ i, /** @type {string | undefined} */ arm, /** @type {string} */ words) {
    const head = this.heads[i];
    if (head.dataset.arm !== arm) {
      const name = h("span", { class: "arm", title: arm }, swatch(this.looks.get(arm ?? "") ?? {}), arm);
      head.replaceChildren(name, h("span", { class: "at" }));
      head.dataset.arm = arm;
    }
    setText(/** @type {Element} */ (head.lastElementChild), words);
  }
}
