// Plotly figures of the service in the page's colours; a pick in one opens the trial.

import { get } from "./api.js";
import { h, setAttr, setText } from "./dom.js";
import { colours, isDark, onTheme } from "./theme.js";

const CONFIG = {
  displaylogo: false,
  displayModeBar: "hover",
  modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
};

let loading = null;

/** plotly.js, wherever its loading stands. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    let script = document.getElementById("plotly");
    if (!script) {
      script = h("script", { src: "/assets/plotly.min.js", id: "plotly" });
      document.head.append(script);
    }
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => reject(new Error("plotly.js could not be loaded; is the plotly package installed?")));
  });
  return loading;
}

/** The figure's layout with the page's font and colours; values of the figure win over these. */
export function themed(layout) {
  const { ink, muted, line, page } = colours();
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink };
  const axis = { gridcolor: line, linecolor: muted, tickcolor: muted, zerolinecolor: line, showline: true, ticks: "outside", ticklen: 4 };
  const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));
  return {
    ...layout,
    font,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    ...Object.fromEntries(axes.map((key) => [key, { ...axis, ...layout[key] }])),
    legend: { bgcolor: "rgba(0,0,0,0)", ...layout.legend },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: muted, activecolor: ink },
    hoverlabel: { bgcolor: page, bordercolor: muted, font, align: "left" },
  };
}

/** Axes without numbers: there is nothing yet that they could measure. Names of rows stay. */
function blank(layout) {
  const quiet = { showticklabels: false, showgrid: false, ticks: "" };
  const axes = Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key) && !layout[key].ticktext);
  return { ...layout, ...Object.fromEntries(axes.map((key) => [key, { ...layout[key], ...quiet }])) };
}

/** Muted lines and points need more opacity on a dark page to be seen. */
function lit(trace) {
  if (!isDark()) return trace;
  const more = (opacity) => Math.min(1, 1.8 * opacity);
  const lighter = trace.opacity === undefined ? trace : { ...trace, opacity: more(trace.opacity) };
  if (trace.marker?.opacity === undefined) return lighter;
  return { ...lighter, marker: { ...trace.marker, opacity: more(trace.marker.opacity) } };
}

/** A ring round the open trial, wherever the figure has it. */
function ringOf(traces, trial) {
  for (const trace of traces) {
    const place = trial === null || !trace.customdata ? -1 : trace.customdata.indexOf(trial);
    if (place >= 0) {
      const marker = { symbol: "circle-open", size: 16, color: colours().ink, line: { width: 2 } };
      return { type: "scatter", mode: "markers", x: [trace.x[place]], y: [trace.y[place]], marker, hoverinfo: "skip", showlegend: false };
    }
  }
  return { type: "scatter", mode: "markers", x: [], y: [], hoverinfo: "skip", showlegend: false };
}

function summary(title, figure) {
  const counts = new Map();
  for (const trace of figure.data) {
    if (trace.customdata) counts.set(trace.name, (counts.get(trace.name) ?? 0) + trace.customdata.length);
  }
  const arms = [...counts].map(([arm, count]) => `${arm}: ${count} trials`).join("; ");
  return `${title}. ${figure.layout.meta?.subtitle ?? ""}. ${arms}`;
}

/** Follows its box: plotly itself only follows the window, and the box also shrinks beside an open trial. */
export function followSize(plot) {
  let width = plot.clientWidth;
  new ResizeObserver(() => {
    if (plot.clientWidth === width || plot.clientWidth === 0) return;
    width = plot.clientWidth;
    if (window.Plotly && plot.data) window.Plotly.Plots.resize(plot);
  }).observe(plot);
}

export class FigurePanel {
  /** `address()` is the figure's URL now; `controls` stand beside the title; `height` is what it needs at least. */
  constructor({ title, address, filename, controls = [], height = 0, onPick }) {
    this.title = title;
    this.address = address;
    this.onPick = onPick;
    this.trial = null;
    this.config = { ...CONFIG, toImageButtonOptions: { format: "svg", filename, width: 720, height: 480 } };
    this.subtitle = h("p", { class: "subtitle muted" });
    this.plot = h("div", { class: "plot", role: "figure", "aria-label": title });
    this.note = h("p", { class: "plot-note muted" }, "Loading …");
    this.element = h(
      "section",
      { class: "panel" },
      h("div", { class: "panel-head" }, h("h2", {}, title), ...controls),
      this.subtitle,
      h("div", { class: "plot-box", style: height ? `--needs: ${height}px` : null }, this.plot, this.note),
    );
    onTheme(() => this.draw());
    followSize(this.plot);
  }

  async refresh() {
    this.figure = await get(this.address());
    try {
      await this.draw();
    } catch (error) {
      setText(this.note, error.message);
    }
  }

  select(trial) {
    this.trial = trial;
    return this.draw();
  }

  async draw() {
    if (!this.figure) return;
    const Plotly = await plotly();
    const { data, layout } = this.figure;
    setText(this.subtitle, layout.meta?.subtitle ?? "");
    setAttr(this.subtitle, "title", layout.meta?.subtitle);
    setAttr(this.plot, "aria-label", summary(this.title, this.figure));
    const isEmpty = data.every((trace) => !trace.x?.some((value) => value !== null));
    setText(this.note, isEmpty ? layout.meta?.empty || "Points appear with the first reports." : "");
    await Plotly.react(this.plot, [...data.map(lit), ringOf(data, this.trial)], themed(isEmpty ? blank(layout) : layout), this.config);
    if (!this.listens) {
      this.listens = true;
      this.plot.on("plotly_click", (event) => {
        const trial = event.points.find((point) => typeof point.customdata === "string")?.customdata;
        if (trial) this.onPick(trial);
      });
    }
  }
}
