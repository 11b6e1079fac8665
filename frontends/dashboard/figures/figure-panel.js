// One figure of the service in a panel; a pick in it opens the trial, a brush mutes the others everywhere.

import { get } from "../kit/api.js";
import { h, setAttr, setText } from "../kit/dom.js";
import { onTheme } from "../kit/theme.js";
import { followSize, plotly } from "./drawing.js";
import { blank, brushed, lit, named, ringOf, themed } from "./look.js";
import { Pointer } from "./pointer.js";
import { saveMenu } from "./save.js";
import { sketch } from "./sketch.js";

const FLAT_BAR = [["zoom2d", "pan2d", "select2d", "lasso2d", "resetScale2d"]];
const DEEP_BAR = [["zoom3d", "tableRotation", "resetCameraDefault3d"]];
const WITHOUT_BAR = ["parcoords"];

function summary(title, figure) {
  const { subtitle = "", finding, summary: said = finding } = figure.layout.meta ?? {};
  const counts = new Map();
  for (const trace of figure.data) {
    if (trace.customdata) counts.set(trace.name, (counts.get(trace.name) ?? 0) + trace.customdata.length);
  }
  const arms = [...counts].map(([arm, count]) => `${arm}: ${count} trials`).join("; ");
  const asWritten = arms.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  return [title, said ?? asWritten, subtitle].filter(Boolean).join(". ");
}

const valuesOf = (trace) => trace.x ?? trace.dimensions?.[0]?.values;
const isEmpty = (data) => data.every((trace) => !valuesOf(trace)?.some?.((value) => value !== null));

/** The trials within all brushes of a parallel-coordinates plot; none without a brush. */
function withinAxes(plot) {
  const [lines] = plot.data;
  const ranged = lines.dimensions.filter((axis) => axis.constraintrange);
  if (!ranged.length) return null;
  const rangesOf = ({ constraintrange: range }) => (Array.isArray(range[0]) ? range : [range]);
  const inside = (axis, value) => rangesOf(axis).some(([low, high]) => low <= value && value <= high);
  const trials = plot.layout.meta?.trials ?? [];
  return trials.filter((_, i) => ranged.every((axis) => inside(axis, axis.values[i])));
}

export class FigurePanel {
  /**
   * `address()` is the figure's URL now; `controls` stand beside the title; `height` is what it needs at least.
   * @param {object} parts
   * @param {string} parts.name
   * @param {string} parts.title
   * @param {() => string} parts.address
   * @param {string} parts.filename
   * @param {HTMLElement[]} parts.controls
   * @param {number} parts.height
   * @param {(trial: string) => void} parts.onPick
   * @param {import("./brush.js").Brush | null} parts.brush
   */
  constructor({ name, title, address, filename, controls, height, onPick, brush }) {
    this.title = title;
    this.address = address;
    this.onPick = onPick;
    this.brush = brush;
    /** @type {string | null} */
    this.trial = null;
    /** @type {Figure | null} */
    this.figure = null;
    /** @type {(() => void) | null} */
    this.unsketch = null;
    this.listens = false;
    this.pointer = new Pointer();
    /** @type {(axes: { metric: string, least: number | null }[]) => import("./pointer.js").Mark[]} */
    this.marks = () => [];
    this.finding = h("p", { class: "finding", hidden: true });
    this.subtitle = h("p", { class: "subtitle muted" });
    const plot = h("div", { class: "plot", role: "figure", "aria-label": title });
    this.plot = /** @type {PlotElement} */ (plot); // once plotly has drawn on it
    this.note = h("p", { class: "plot-note muted" }, "Loading …");
    const needs = { class: "plot-box", style: height ? `--needs: ${height}px` : null };
    this.box = h("div", needs, this.plot, this.pointer.element, this.note);
    const save = saveMenu(title, () => ({ figure: this.figure, plot: this.plot, filename, title }));
    this.element = h(
      "section",
      { class: "panel", "data-figure": name },
      h("div", { class: "panel-head" }, h("h2", {}, title), ...controls, save),
      this.finding,
      this.subtitle,
      this.box,
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

  select(/** @type {string | null} */ trial) {
    this.trial = trial;
    return this.draw();
  }

  /** `marks(axes)` is what a reader points at, on the metrics that this figure's axes measure. */
  point(/** @type {FigurePanel["marks"]} */ marks) {
    this.marks = marks;
    this.#mark();
  }

  #mark() {
    const axes = this.figure?.layout.meta?.axes ?? [];
    this.pointer.show(this.plot, axes, axes.length === 2 ? this.marks(axes) : []);
  }

  async draw() {
    if (!this.figure || this.element.closest("[hidden]")) return;
    const { data, layout } = this.figure;
    const empty = isEmpty(data);
    setText(this.finding, layout.meta?.finding ?? "");
    this.finding.hidden = !layout.meta?.finding;
    setText(this.subtitle, layout.meta?.subtitle ?? "");
    setAttr(this.subtitle, "title", layout.meta?.subtitle);
    if (layout.meta?.height) this.box.style.setProperty("--needs", `${layout.meta.height}px`);
    setAttr(this.plot, "aria-label", summary(this.title, this.figure));
    if (!window.Plotly) {
      this.unsketch?.();
      this.unsketch = sketch(this.box, this.figure);
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
    this.#mark();
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
      if (trial) this.onPick(trial);
    });
    for (const kind of ["plotly_afterplot", "plotly_relayouting"]) this.plot.on(kind, () => this.#mark());
    const { brush } = this;
    if (!brush) return;
    this.plot.on("plotly_selected", (event) => {
      if (!event?.range && !event?.lassoPoints) return; // plotly says it again, emptied, after each of our own drawings
      brush.set([...new Set(event.points.map(idOf).filter(Boolean))]);
    });
    this.plot.on("plotly_deselect", () => brush.set(null));
    this.plot.on("plotly_restyle", ([changes]) => {
      const isBrushed = Object.keys(changes).some((key) => key.includes("constraintrange"));
      if (isBrushed && this.plot.data[0]?.type === "parcoords") brush.set(withinAxes(this.plot));
    });
  }
}
