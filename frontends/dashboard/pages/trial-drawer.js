// The detail panel of one trial: what it was, what became of it, and its learning curve.

import { curveFigure } from "../figures/curve.js";
import { followSize, plotly } from "../figures/drawing.js";
import { themed } from "../figures/look.js";
import { choose } from "../kit/address.js";
import { get, studyPath } from "../kit/api.js";
import { h, setText } from "../kit/dom.js";
import { duration, metricLabel, moment, number, setting } from "../kit/format.js";
import { lightMark } from "../kit/light.js";
import { isCalibration } from "../kit/metrics.js";
import { swatch } from "../kit/swatch.js";
import { onTheme } from "../kit/theme.js";
import { vocabulary } from "../kit/vocabulary.js";
import { CurvePoints } from "./curve-points.js";
import { placeOf } from "./trial-place.js";

const LEAST_BITS = setting(vocabulary.limits.collapsed_below_bits);
const VERIFIES = ", trained for this β alone to check its arm’s curve there: it counts for no front";
const INFEASIBLE = ", infeasible: it breaks a constraint of the study";
const COLLAPSED = `, collapsed: its code carries less than ${LEAST_BITS} bit or nothing about the label`;

const LEARNING = "Learning curve";
const AT_THE_MIDDLE = ", at the middle of its range";

/** @typedef {{ term: string, value: string, title?: string, lit?: MetricLight }} Fact */

/** @param {Fact[]} rows */
function definitions(rows) {
  const pair = (/** @type {Fact} */ { term, value, title, lit }) => [
    h("dt", { title }, term),
    h("dd", {}, lit && lightMark(lit), value),
  ];
  return h("dl", {}, rows.flatMap(pair));
}

const size = (bytes) => (bytes < 1e6 ? `${number(bytes / 1e3)} kB` : `${number(bytes / 1e6)} MB`);

export class TrialDrawer {
  /** @param {Study} study @param {Map<string, Metric>} metrics @param {() => void} onClose */
  constructor(study, metrics, onClose) {
    this.path = studyPath(study.id);
    this.study = study.id;
    this.looks = new Map(study.arms.map((arm) => [arm.name, arm]));
    this.metrics = metrics;
    this.objectives = study.spec.objectives;
    this.onClose = onClose;
    /** @type {string | null} */
    this.trial = null;
    /** @type {OpenTrial | null} */
    this.shown = null;
    this.shownText = "";
    this.linkedText = "";
    this.heading = h("h2", { tabindex: "-1" });
    this.state = h("p", {});
    this.facts = h("div", {});
    this.curveTitle = h("h3", {}, LEARNING);
    this.points = new CurvePoints(metrics, study.spec.objectives);
    this.links = h("p", { class: "row trial-links" });
    this.log = h("pre", { class: "log", tabindex: "0", role: "region", "aria-label": "Log of this trial" });
    this.curve = h("div", { class: "curve", role: "figure", "aria-label": "Learning curve" });
    const close = h("button", { type: "button", onclick: () => this.close() }, "Close");
    this.element = h(
      "aside",
      { class: "drawer", "aria-label": "Trial", hidden: true },
      h("div", { class: "panel-head" }, this.heading, close),
      this.state,
      this.links,
      this.curveTitle,
      this.curve,
      this.points.element,
      this.facts,
      h("h3", {}, "Log"),
      this.log,
    );
    onTheme(() => this.#draw());
    followSize(this.curve);
  }

  open(/** @type {string} */ trial) {
    if (this.element.hidden) this.opener = /** @type {HTMLElement | null} */ (document.activeElement);
    if (this.trial !== trial) {
      setText(this.heading, "Loading …");
      for (const part of [this.state, this.links, this.facts, this.log]) part.replaceChildren();
      this.points.show([]);
      this.shown = null;
      this.shownText = this.linkedText = "";
    }
    this.trial = trial;
    choose({ trial });
    this.element.hidden = false;
    document.body.classList.add("with-drawer");
    this.heading.focus({ preventScroll: true });
  }

  close() {
    this.trial = null;
    choose({ trial: null });
    this.element.hidden = true;
    document.body.classList.remove("with-drawer");
    if (this.opener?.isConnected) this.opener.focus({ preventScroll: true });
    this.onClose();
  }

  async refresh() {
    if (this.trial === null) return;
    const asked = this.trial;
    /** @type {OpenTrial} */
    let trial;
    try {
      trial = await get(`${this.path}/trials/${encodeURIComponent(asked)}`);
    } catch (error) {
      if (error.status !== 404) throw error;
      if (asked !== this.trial) return;
      setText(this.heading, "There is no such trial");
      setText(this.state, error.message);
      return;
    }
    if (trial.id !== this.trial) return;
    this.shown = trial;
    const { log, reports, ...rest } = trial;
    const text = JSON.stringify(rest);
    if (text !== this.shownText) this.#showFacts(trial);
    this.shownText = text;
    this.#showLinks(trial);
    this.#showLog(log);
    await this.#draw();
  }

  /** Only when they change: a reader may be on one of them. @param {OpenTrial} trial */
  #showLinks(trial) {
    const bytes = trial.artifacts.checkpoint;
    const text = `${trial.id} ${bytes}`;
    if (text === this.linkedText) return;
    this.linkedText = text;
    const [study, id] = [this.study, trial.id].map(encodeURIComponent);
    const copy = h("a", { href: `/new?from=${study}&trial=${id}` }, "Copy as study");
    const file = { href: `${this.path}/trials/${id}/checkpoint`, download: true };
    const weights = bytes
      ? h("a", file, `Weights (safetensors, ${size(bytes)})`)
      : h("span", { class: "muted" }, "No checkpoint");
    this.links.replaceChildren(copy, weights);
  }

  #showLog(/** @type {string[]} */ lines) {
    const atEnd = this.log.scrollTop + this.log.clientHeight >= this.log.scrollHeight - 4;
    setText(this.log, lines.length ? lines.join("\n") : "Nothing was logged.");
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  /** Whether a metric is shown as the mark of another one. @param {string} name */
  #isBeside(name) {
    const metric = this.metrics.get(name);
    return metric !== undefined && isCalibration(metric);
  }

  #metricRow(/** @type {OpenTrial} */ trial, /** @type {string} */ name) {
    const metric = this.metrics.get(name);
    const value = trial.metrics[name];
    const ends = trial.intervals[name];
    const between = ends ? ` (${ends.map((end) => number(end)).join(" … ")})` : "";
    return {
      term: metric ? metricLabel(metric) : name,
      value: (metric?.integer ? setting(value) : number(value)) + between,
      title: metric?.doc,
      lit: trial.lights[name],
    };
  }

  #showFacts(/** @type {OpenTrial} */ trial) {
    const name = `${trial.arm} · seed ${trial.seed}`;
    const mark = swatch(this.looks.get(trial.arm) ?? {});
    if (this.heading.textContent !== name) this.heading.replaceChildren(mark, name);
    const reason = trial.reason ? `: ${trial.reason}` : "";
    const front = trial.on_front ? ", on the front" : trial.verifies ? VERIFIES : "";
    const off = trial.collapsed ? COLLAPSED : trial.feasible === false ? INFEASIBLE : "";
    setText(this.state, `${trial.state}${reason}${off}${front}`);
    this.state.className = trial.state === "failed" ? "bad" : "";
    const config = Object.entries(trial.config).map(([term, value]) => ({ term, value: setting(value) }));
    const shown = Object.keys(trial.metrics).filter((name) => !this.#isBeside(name));
    const metrics = shown.map((name) => this.#metricRow(trial, name));
    const facts = [
      { term: "trial", value: trial.id },
      { term: "training time", value: duration(trial.training_seconds) },
      { term: "started", value: moment(trial.started_at) },
      { term: "ended", value: moment(trial.ended_at) },
      ...(trial.host ? [{ term: "host", value: trial.host }] : []),
    ];
    const where = trial.places > 1 ? AT_THE_MIDDLE : "";
    const title = "in brackets: 95 % intervals over test examples, this trained model given";
    setText(this.curveTitle, LEARNING + where);
    this.points.show(trial.points);
    this.facts.replaceChildren(
      h("h3", { title }, `Last report${where}`),
      metrics.length ? definitions(metrics) : h("p", { class: "muted" }, "No report yet."),
      ...metrics.flatMap(({ term, lit }) =>
        lit ? [h("p", { class: "lit muted" }, lightMark(lit), `${term}: ${lit.words}.`)] : [],
      ),
      ...placeOf(trial.against_front, this.metrics, this.objectives),
      h("h3", {}, "Configuration"),
      definitions(config),
      h("h3", {}, "Run"),
      definitions(facts),
    );
  }

  async #draw() {
    if (this.trial === null || !this.shown) return;
    const Plotly = await plotly();
    if (this.trial === null || !this.shown) return; // closed while plotly.js was loaded
    const { reports, arm } = this.shown;
    const { data, layout } = curveFigure(reports, this.looks.get(arm)?.colour, this.metrics, this.objectives);
    await Plotly.react(this.curve, data, themed(layout), { displayModeBar: false });
  }
}
