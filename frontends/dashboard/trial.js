// The detail panel of one trial: what it was, what became of it, and its learning curve.

import { get, studyPath } from "./api.js";
import { choose } from "./address.js";
import { h, setText, swatch } from "./dom.js";
import { duration, metricLabel, moment, number, setting } from "./format.js";
import { followSize, plotly, themed } from "./figures.js";
import { onTheme } from "./theme.js";

const DASHES = ["solid", "dot", "dash", "dashdot"];

/** What the two plots show: accuracy and bits of a bottleneck, else the objectives and the weights. */
function curvesOf(metrics, objectives) {
  if (metrics.has("i_xz_bits")) {
    return [{ axis: "y", names: ["accuracy", "train_accuracy"] }, { axis: "y2", names: ["i_xz_bits", "i_zy_bits"], title: "bits" }];
  }
  const weights = [...metrics.keys()].filter((name) => name.startsWith("weight_")).slice(0, DASHES.length);
  return [{ axis: "y", names: objectives }, { axis: "y2", names: weights, title: "weights" }];
}

/** Two small stacked plots over epochs; lines are labelled above them. */
export function curveFigure(reports, colour, metrics, objectives) {
  const data = [];
  const curves = curvesOf(metrics, objectives);
  for (const { axis, names } of curves) {
    names.forEach((name, i) => {
      const steps = reports.filter((report) => report[name] !== null && report[name] !== undefined);
      if (!steps.length) return;
      const label = metrics.get(name)?.label ?? name;
      const [x, y] = [steps.map((step) => step.epoch), steps.map((step) => step[name])];
      data.push({
        type: "scatter", mode: steps.length > 1 ? "lines" : "markers", x, y, yaxis: axis, name: label, showlegend: true,
        line: { color: colour, width: 1.5, dash: DASHES[i] }, marker: { color: colour },
        legend: axis === "y" ? "legend" : "legend2", hovertemplate: `epoch %{x}<br>${label} %{y:.3g}<extra></extra>`,
      });
    });
  }
  const legend = { orientation: "h", x: 0, yanchor: "bottom", font: { size: 11 } };
  const layout = {
    xaxis: { title: { text: "epoch" }, zeroline: false, anchor: "y2", rangemode: "tozero" },
    yaxis: { domain: [0.58, 0.94], zeroline: false, nticks: 4 },
    yaxis2: { domain: [0, 0.36], zeroline: false, title: { text: curves[1].title }, nticks: 4, rangemode: "tozero" },
    legend: { ...legend, y: 0.95 },
    legend2: { ...legend, y: 0.37 },
    margin: { l: 44, r: 8, t: 4, b: 40 },
    hovermode: "closest",
  };
  return { data, layout };
}

function definitions(pairs) {
  return h("dl", {}, pairs.flatMap(([term, value, title]) => [h("dt", { title }, term), h("dd", {}, value)]));
}

const size = (bytes) => (bytes < 1e6 ? `${number(bytes / 1e3)} kB` : `${number(bytes / 1e6)} MB`);

export class TrialDrawer {
  constructor(study, metrics, onClose) {
    this.path = studyPath(study.id);
    this.study = study.id;
    this.looks = new Map(study.arms.map((arm) => [arm.name, arm]));
    this.metrics = metrics;
    this.objectives = study.spec.objectives.map((objective) => objective.metric);
    this.onClose = onClose;
    this.trial = null;
    this.heading = h("h2", { tabindex: "-1" });
    this.state = h("p", {});
    this.facts = h("div", {});
    this.links = h("p", { class: "row trial-links" });
    this.log = h("pre", { class: "log", tabindex: "0", "aria-label": "Log of this trial" });
    this.curve = h("div", { class: "curve", role: "figure", "aria-label": "Learning curve" });
    const close = h("button", { type: "button", onclick: () => this.close() }, "Close");
    this.element = h(
      "aside",
      { class: "drawer", "aria-label": "Trial", hidden: true },
      h("div", { class: "panel-head" }, this.heading, close),
      this.state,
      this.links,
      h("h3", {}, "Learning curve"),
      this.curve,
      this.facts,
      h("h3", {}, "Log"),
      this.log,
    );
    onTheme(() => this.#draw());
    followSize(this.curve);
  }

  open(trial) {
    if (this.element.hidden) this.opener = document.activeElement;
    if (this.trial !== trial) {
      setText(this.heading, "Loading …");
      for (const part of [this.state, this.links, this.facts, this.log]) part.replaceChildren();
      this.shown = this.written = null;
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
    const written = JSON.stringify(rest);
    if (written !== this.written) {
      this.#write(trial);
      if (this.linked !== `${trial.id} ${trial.artifacts?.checkpoint}`) this.#writeLinks(trial);
    }
    this.written = written;
    this.#writeLog(trial);
    await this.#draw();
  }

  #writeLinks(trial) {
    const copy = h("a", { href: `/new?from=${encodeURIComponent(this.study)}&trial=${encodeURIComponent(trial.id)}` }, "Copy as study");
    const bytes = trial.artifacts?.checkpoint;
    const weights = bytes
      ? h("a", { href: `${this.path}/trials/${encodeURIComponent(trial.id)}/checkpoint`, download: true }, `Weights (safetensors, ${size(bytes)})`)
      : h("span", { class: "muted" }, "No checkpoint");
    this.links.replaceChildren(copy, weights);
    this.linked = `${trial.id} ${bytes}`;
  }

  #writeLog(trial) {
    const lines = trial.log ?? [];
    const atEnd = this.log.scrollTop + this.log.clientHeight >= this.log.scrollHeight - 4;
    setText(this.log, lines.length ? lines.join("\n") : "Nothing was logged.");
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  #write(trial) {
    const title = `${trial.arm} · seed ${trial.seed}`;
    if (this.heading.textContent !== title) this.heading.replaceChildren(swatch(this.looks.get(trial.arm) ?? {}), title);
    const collapsed = trial.collapsed ? ", collapsed: its code carries less than 0.05 bit" : "";
    const front = trial.on_front ? ", on the front" : "";
    const reason = trial.reason ? `: ${trial.reason}` : "";
    setText(this.state, `${trial.state}${reason}${collapsed}${front}`);
    this.state.className = trial.state === "failed" ? "bad" : "";
    const config = Object.entries(trial.config).map(([key, value]) => [key, setting(value)]);
    const metrics = Object.entries(trial.metrics).map(([name, value]) => {
      const metric = this.metrics.get(name);
      const between = trial.intervals[name] ? ` (${trial.intervals[name].map((end) => number(end)).join(" … ")})` : "";
      return [metric ? metricLabel(metric) : name, (name === "epoch" ? setting(value) : number(value)) + between, metric?.doc];
    });
    const facts = [
      ["trial", trial.id],
      ["training time", duration(trial.training_seconds)],
      ["started", moment(trial.started_at)],
      ["ended", moment(trial.ended_at)],
      ...(trial.host ? [["host", trial.host]] : []),
    ];
    this.facts.replaceChildren(
      h("h3", { title: "in brackets: 95 % intervals over test examples, this trained model given" }, "Last report"),
      metrics.length ? definitions(metrics) : h("p", { class: "muted" }, "No report yet."),
      h("h3", {}, "Configuration"),
      definitions(config),
      h("h3", {}, "Run"),
      definitions(facts),
    );
  }

  async #draw() {
    if (this.trial === null || !this.shown) return;
    const Plotly = await plotly();
    const { data, layout } = curveFigure(this.shown.reports, this.looks.get(this.shown.arm)?.colour, this.metrics, this.objectives);
    await Plotly.react(this.curve, data, themed(layout), { displayModeBar: false });
  }
}
