// Plotly figures of the service in the page's colours; a pick in one opens the trial, a brush mutes the others.

import { get } from "./api.js";
import { h, setAttr, setText } from "./dom.js";
import { saveMenu } from "./save.js";
import { sketch } from "./sketch.js";
import { colours, isDark, onTheme } from "./theme.js";

const FLAT_BAR = [["zoom2d", "pan2d", "select2d", "lasso2d", "resetScale2d"]];
const DEEP_BAR = [["zoom3d", "tableRotation", "resetCameraDefault3d"]];
const WITHOUT_BAR = ["parcoords"];

let loading = null;

/** plotly.js, loaded once somebody wants to draw. Running it takes a second: what was sketched is painted before. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src: "/assets/plotly.min.js" });
    requestAnimationFrame(() => setTimeout(() => document.head.append(script), 0));
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => {
      loading = null; // the next drawing tries again
      script.remove();
      reject(new Error("plotly.js could not be loaded; is the plotly package installed?"));
    });
  });
  return loading;
}

const axesOf = (layout, kinds = "[xy]") => Object.keys(layout).filter((key) => new RegExp(`^${kinds}axis\\d*$`).test(key));

/** The figure's layout with the page's font and colours; values of the figure win over these. */
export function themed(layout) {
  const { ink, muted, line, page } = colours();
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink };
  const axis = { gridcolor: line, linecolor: muted, tickcolor: muted, zerolinecolor: line, showline: true, ticks: "outside", ticklen: 4 };
  const deep = { gridcolor: line, linecolor: muted, zerolinecolor: line, showbackground: false };
  const scenes = Object.keys(layout).filter((key) => /^scene\d*$/.test(key));
  const scene = (found) => ({ ...found, ...Object.fromEntries(["xaxis", "yaxis", "zaxis"].map((key) => [key, { ...deep, ...found[key] }])) });
  return {
    ...layout,
    font,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    ...Object.fromEntries(axesOf(layout).map((key) => [key, { ...axis, ...layout[key] }])),
    ...Object.fromEntries(scenes.map((key) => [key, scene(layout[key])])),
    legend: { bgcolor: "rgba(0,0,0,0)", ...layout.legend },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: muted, activecolor: ink },
    hoverlabel: { bgcolor: page, bordercolor: muted, font, align: "left" },
    newselection: { line: { color: ink, width: 1, dash: "dot" } },
  };
}

/** Axes without numbers: there is nothing yet that they could measure. Names of rows stay. */
function blank(layout) {
  const quiet = { showticklabels: false, showgrid: false, ticks: "" };
  const axes = axesOf(layout).filter((key) => !layout[key].ticktext);
  return { ...layout, ...Object.fromEntries(axes.map((key) => [key, { ...layout[key], ...quiet }])) };
}

/** Muted lines and points need more opacity on a dark page to be seen. */
function lit(trace) {
  if (!isDark()) return trace;
  const more = (opacity) => (Array.isArray(opacity) ? opacity.map(more) : Math.min(1, 1.8 * opacity));
  const lighter = trace.opacity === undefined ? trace : { ...trace, opacity: more(trace.opacity) };
  if (trace.marker?.opacity === undefined) return lighter;
  return { ...lighter, marker: { ...trace.marker, opacity: more(trace.marker.opacity) } };
}

/** The trace with its trials outside the brush muted; traces without trials go as a whole. */
function brushed(trace, trials) {
  if (trials === null || trace.type === "parcoords" || trace.type === "scatter3d") return trace;
  if (!trace.customdata) return trace.mode === "lines" ? { ...trace, opacity: 0.35 * (trace.opacity ?? 1) } : trace;
  const selectedpoints = trace.customdata.flatMap((trial, i) => (trials.has(trial) ? [i] : []));
  return { ...trace, selectedpoints, unselected: { marker: { opacity: 0.08 } } };
}

const uids = new Map();

/** The same for the same words, in letters that plotly can make a class of. */
function uidOf(words) {
  if (!uids.has(words)) uids.set(words, `trace${uids.size}`);
  return uids.get(words);
}

/** Each trace by its name and kind, so that one hidden by the reader stays that one; a cleared brush frees the axes. */
function named(traces, freed) {
  const seen = new Map();
  return traces.map((trace) => {
    const kind = `${trace.name ?? ""}|${trace.mode ?? trace.type}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    const axes = trace.type === "parcoords" && freed !== null ? { uirevision: freed } : {};
    return { ...trace, ...axes, uid: uidOf(`${kind}|${seen.get(kind)}`) };
  });
}

/** A ring round the open trial, wherever the figure has it. */
function ringOf(traces, trial) {
  const empty = { type: "scatter", mode: "markers", x: [], y: [], hoverinfo: "skip", showlegend: false };
  const flat = traces.filter((trace) => (trace.type ?? "scatter").startsWith("scatter") && trace.type !== "scatter3d");
  for (const trace of flat) {
    const place = trial === null || !trace.customdata ? -1 : trace.customdata.indexOf(trial);
    if (place >= 0) {
      const marker = { symbol: "circle-open", size: 16, color: colours().ink, line: { width: 2 } };
      return { ...empty, x: [trace.x[place]], y: [trace.y[place]], xaxis: trace.xaxis ?? "x", yaxis: trace.yaxis ?? "y", marker };
    }
  }
  return flat.length ? empty : null;
}

function summary(title, figure) {
  const { subtitle = "", summary: said } = figure.layout.meta ?? {};
  const counts = new Map();
  for (const trace of figure.data) {
    if (trace.customdata) counts.set(trace.name, (counts.get(trace.name) ?? 0) + trace.customdata.length);
  }
  const arms = [...counts].map(([arm, count]) => `${arm}: ${count} trials`).join("; ");
  const plain = arms.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"); // names as they were written
  return [title, said ?? plain, subtitle].filter(Boolean).join(". ");
}

const isEmpty = (data) => data.every((trace) => !(trace.x ?? trace.dimensions?.[0]?.values)?.some?.((value) => value !== null));

/** The trials within all brushes of a parallel-coordinates plot; none without a brush. */
function withinAxes(plot) {
  const [lines] = plot.data;
  const ranged = lines.dimensions.filter((axis) => axis.constraintrange);
  if (!ranged.length) return null;
  const rangesOf = ({ constraintrange: found }) => (Array.isArray(found[0]) ? found : [found]);
  const inside = (axis, value) => rangesOf(axis).some(([low, high]) => low <= value && value <= high);
  const trials = plot.layout.meta?.trials ?? [];
  return trials.filter((_, i) => ranged.every((axis) => inside(axis, axis.values[i])));
}

/** Follows its box: plotly itself only follows the window, and the box also shrinks beside an open trial. */
export function followSize(plot) {
  let size = `${plot.clientWidth} ${plot.clientHeight}`;
  new ResizeObserver(() => {
    const now = `${plot.clientWidth} ${plot.clientHeight}`;
    if (now === size || plot.clientWidth === 0) return;
    size = now;
    if (window.Plotly && plot.data) window.Plotly.Plots.resize(plot);
  }).observe(plot);
}

export class FigurePanel {
  /** `address()` is the figure's URL now; `controls` stand beside the title; `height` is what it needs at least. */
  constructor({ name = "", title, address, filename, controls = [], height = 0, onPick, brush = null }) {
    this.title = title;
    this.address = address;
    this.onPick = onPick;
    this.brush = brush;
    this.trial = null;
    this.subtitle = h("p", { class: "subtitle muted" });
    this.plot = h("div", { class: "plot", role: "figure", "aria-label": title });
    this.note = h("p", { class: "plot-note muted" }, "Loading …");
    const save = saveMenu(title, () => ({ figure: this.figure, plot: this.plot, filename, title }));
    this.element = h(
      "section",
      { class: "panel", "data-figure": name },
      h("div", { class: "panel-head" }, h("h2", {}, title), ...controls, save),
      this.subtitle,
      h("div", { class: "plot-box", style: height ? `--needs: ${height}px` : null }, this.plot, this.note),
    );
    onTheme(() => this.draw());
    brush?.onChange(() => this.draw());
    followSize(this.plot);
  }

  /** A refusal stands where the figure would; what is lost is asked for again by whoever called. */
  async refresh() {
    try {
      this.figure = await get(this.address());
      await this.draw();
    } catch (error) {
      setText(this.note, error.message);
      if (!(error.status >= 400 && error.status < 500)) throw error;
    }
  }

  select(trial) {
    this.trial = trial;
    return this.draw();
  }

  async draw() {
    if (!this.figure || this.element.closest("[hidden]")) return;
    const { data, layout } = this.figure;
    const empty = isEmpty(data);
    if (layout.meta?.height) this.plot.parentElement.style.setProperty("--needs", `${layout.meta.height}px`);
    setText(this.subtitle, layout.meta?.subtitle ?? "");
    setAttr(this.subtitle, "title", layout.meta?.subtitle);
    if (layout.meta?.height) this.plot.parentElement.style.setProperty("--needs", `${layout.meta.height}px`);
    setAttr(this.plot, "aria-label", summary(this.title, this.figure));
    if (!window.Plotly) {
      this.unsketch?.();
      this.unsketch = sketch(this.plot.parentElement, this.figure);
    }
    const said = empty ? layout.meta?.empty || "Points appear with the first reports." : "";
    if (empty || this.unsketch) setText(this.note, said);
    const Plotly = await plotly();
    setText(this.note, said);
    const trials = this.brush?.trials ?? null;
    const ring = ringOf(data, this.trial);
    const traces = [...data.map((trace) => brushed(lit(trace), trials)), ...(ring ? [ring] : [])];
    const version = this.brush?.version ?? 1;
    const drawn = { ...themed(empty ? blank(layout) : layout), selections: [], selectionrevision: version };
    await Plotly.react(this.plot, named(traces, trials === null ? version : null), drawn, this.#config(data));
    this.unsketch?.();
    this.unsketch = null;
    if (!this.listens) this.#listen();
  }

  #config(data) {
    const types = new Set(data.map((trace) => trace.type));
    const bar = types.has("scatter3d") ? DEEP_BAR : FLAT_BAR;
    const hidden = WITHOUT_BAR.some((type) => types.has(type));
    return { displaylogo: false, displayModeBar: hidden ? false : "hover", modeBarButtons: bar };
  }

  #listen() {
    this.listens = true;
    const idOf = (point) => (typeof point.customdata === "string" ? point.customdata : null);
    this.plot.on("plotly_click", (event) => {
      const trial = event.points.map(idOf).find(Boolean);
      if (trial) this.onPick?.(trial);
    });
    if (!this.brush) return;
    this.plot.on("plotly_selected", (event) => {
      if (!event?.range && !event?.lassoPoints) return; // plotly says it again, emptied, after each of our own drawings
      this.brush.set([...new Set(event.points.map(idOf).filter(Boolean))]);
    });
    this.plot.on("plotly_deselect", () => this.brush.set(null));
    this.plot.on("plotly_restyle", ([changes]) => {
      const brushed = Object.keys(changes).some((key) => key.includes("constraintrange"));
      if (brushed && this.plot.data[0]?.type === "parcoords") this.brush.set(withinAxes(this.plot));
    });
  }
}
