// A figure drawn at once on a canvas, from the same data, until plotly.js has come and takes its place.

import { setting } from "../kit/format.js";
import { outline } from "../kit/swatch.js";
import { colours, isDark } from "../kit/theme.js";

const TICKS = 8;
const PAD = 0.05;
const DASHES = { dot: [2, 3], dash: [6, 4], dashdot: [6, 3, 2, 3] };

const FIELD = 12; // an outline's field is 12 × 12, a circle fills three quarters of it
const CIRCLE = 9;

/** @type {Map<string, Path2D>} */
const outlines = new Map();

/** The marker's outline round the origin, in the size of a circle of this diameter. */
function outlineOf(symbol, size) {
  const key = `${symbol} ${size}`;
  let path = outlines.get(key);
  if (!path) {
    path = new Path2D();
    const scale = size / CIRCLE;
    const shift = (-scale * FIELD) / 2;
    path.addPath(new Path2D(outline(symbol)), new DOMMatrix([scale, 0, 0, scale, shift, shift]));
    outlines.set(key, path);
  }
  return path;
}

/** What of a layout's axis a sketch needs: from data to pixels, and where the ticks stand. */
function scaleOf(axis, values, from, to) {
  const isLog = axis.type === "log";
  const turn = (value) => (isLog ? Math.log10(value) : value);
  const known = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0)).map(turn);
  if (!known.length) return null;
  let [low, high] = axis.range ?? [Math.min(...known), Math.max(...known)];
  if (!axis.range) {
    const room = PAD * (high - low || Math.abs(high) || 1);
    [low, high] = [low - room, high + room];
    if (axis.rangemode === "tozero" && !isLog) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  }
  return { at: (value) => from + ((turn(value) - low) / (high - low)) * (to - from), low, high, isLog };
}

/** Values on the axis with their labels. */
export function ticksOf({ low, high, isLog }, axis) {
  const labelAt = (value, i) => String(axis.ticktext?.[i] ?? value).split("<br>")[0];
  if (axis.tickvals) return axis.tickvals.map((value, i) => [value, labelAt(value, i)]);
  const span = high - low;
  const raw = span / TICKS;
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5].find((each) => each * power >= raw) ?? 10;
  const step = isLog ? Math.max(1, Math.round(raw)) : power * factor;
  const ticks = [];
  // Counted in whole steps: sums of steps would miss 0 by a little.
  for (let i = Math.ceil(low / step); i * step <= high; i += 1) {
    const value = isLog ? 10 ** (i * step) : i * step;
    ticks.push([value, setting(value)]);
  }
  return ticks;
}

function drawAxes(pen, x, y, layout, box, { ink, muted, line }) {
  pen.font = "12px system-ui, sans-serif";
  pen.lineWidth = 1;
  for (const [value, label] of ticksOf(x, layout.xaxis)) {
    const at = Math.round(x.at(value)) + 0.5;
    pen.strokeStyle = line;
    pen.strokeRect(at, box.top, 0, box.bottom - box.top);
    pen.fillStyle = ink;
    pen.textAlign = "center";
    pen.fillText(label, at, box.bottom + 18);
  }
  for (const [value, label] of ticksOf(y, layout.yaxis)) {
    const at = Math.round(y.at(value)) + 0.5;
    pen.strokeStyle = line;
    pen.strokeRect(box.left, at, box.right - box.left, 0);
    pen.fillStyle = ink;
    pen.textAlign = "right";
    pen.fillText(label, box.left - 8, at + 4);
  }
  pen.strokeStyle = muted;
  pen.strokeRect(box.left + 0.5, box.top, 0, box.bottom - box.top);
  pen.strokeRect(box.left, box.bottom + 0.5, box.right - box.left, 0);
  pen.textAlign = "center";
  pen.fillText(layout.xaxis.title?.text ?? "", (box.left + box.right) / 2, box.bottom + 42);
  pen.save();
  pen.translate(box.left - 42, (box.top + box.bottom) / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(layout.yaxis.title?.text ?? "", 0, 0);
  pen.restore();
}

const each = (value, i) => (Array.isArray(value) ? value[i] : value);

/** A marker's colour: as it stands, or the step of its colour scale that is nearest. */
function colourOf({ color, colorscale, cmin = 0, cmax = 1 }, i) {
  const value = each(color, i);
  if (typeof value !== "number" || !Array.isArray(colorscale)) return value ?? "gray";
  const share = (value - cmin) / (cmax - cmin || 1);
  return colorscale.reduce((best, step) => (Math.abs(step[0] - share) < Math.abs(best[0] - share) ? step : best))[1];
}

/** Names above the plot, as plotly's legend has them. */
function drawLegend(pen, traces, { left, right }, ink) {
  let at = left + 18;
  for (const trace of traces.filter((each) => each.name && each.showlegend !== false)) {
    const marks = trace.marker ?? {};
    if (trace.mode?.includes("markers")) {
      const marker = { ...marks, color: colourOf(marks, 0), symbol: each(marks.symbol, 0), size: 8, opacity: 1 };
      drawMarkers(pen, { x: [at], y: [24], marker }, { at: Number }, { at: Number });
    } else {
      drawLines(pen, { ...trace, x: [at - 14, at + 14], y: [24, 24], fill: undefined }, { at: Number }, { at: Number });
    }
    pen.fillStyle = ink;
    pen.textAlign = "left";
    pen.fillText(trace.name, at + 22, 28);
    if (at > right) return;
    at += 58 + pen.measureText(trace.name).width;
  }
}

function drawLines(pen, trace, x, y) {
  const { shape, color, width = 2, dash } = trace.line ?? {};
  pen.strokeStyle = color ?? trace.marker?.color ?? "currentColor";
  pen.lineWidth = width;
  pen.setLineDash(DASHES[dash] ?? []);
  pen.beginPath();
  let last = null;
  trace.x.forEach((value, i) => {
    const at = value === null || trace.y[i] === null ? null : [x.at(value), y.at(trace.y[i])];
    if (at && last) {
      if (shape === "hv") pen.lineTo(at[0], last[1]);
      if (shape === "vh") pen.lineTo(last[0], at[1]);
      pen.lineTo(...at);
    } else if (at) pen.moveTo(...at);
    last = at;
  });
  if (trace.fill === "toself") {
    pen.fillStyle = trace.fillcolor ?? pen.strokeStyle;
    pen.fill();
  } else if (width > 0) pen.stroke();
  pen.setLineDash([]);
}

function drawMarkers(pen, { x: xs, y: ys, ...trace }, x, y) {
  const marker = trace.marker ?? {};
  const more = isDark() ? 1.8 : 1;
  xs.forEach((value, i) => {
    if (value === null || ys[i] === null) return;
    const symbol = String(each(marker.symbol, i) ?? "");
    const path = outlineOf(symbol.replace("-open", ""), each(marker.size, i) ?? 6);
    const [left, top] = [x.at(value), y.at(ys[i])];
    pen.globalAlpha = Math.min(1, more * (each(marker.opacity, i) ?? 1));
    pen.fillStyle = pen.strokeStyle = colourOf(marker, i);
    pen.translate(left, top);
    if (symbol.endsWith("-open")) pen.stroke(path);
    else pen.fill(path);
    pen.translate(-left, -top);
  });
}

/** Draws onto the box; returns what takes the sketch away, or null where a sketch cannot show the figure. */
export function sketch(/** @type {HTMLElement} */ box, /** @type {Figure} */ { data, layout }) {
  const isSeen = (trace) => trace.x?.length && trace.visible !== "legendonly";
  const traces = data.filter((trace) => (trace.type ?? "scatter").startsWith("scatter") && isSeen(trace));
  if (!traces.length || !layout.xaxis || layout.xaxis2 || data.some((trace) => trace.type === "scatter3d")) return null;
  const [width, height] = [box.clientWidth, box.clientHeight];
  const { l = 56, r = 12, b = 48 } = layout.margin ?? {};
  const area = { left: l, right: width - r, top: 40, bottom: height - b };
  const marked = traces.filter((trace) => trace.customdata);
  const values = (axis) => (marked.length ? marked : traces).flatMap((trace) => trace[axis]);
  const x = scaleOf(layout.xaxis, values("x"), area.left, area.right);
  const y = scaleOf(layout.yaxis, values("y"), area.bottom, area.top);
  if (!x || !y) return null;
  const canvas = document.createElement("canvas");
  const sharp = devicePixelRatio || 1;
  canvas.className = "sketch";
  canvas.setAttribute("aria-hidden", "true");
  [canvas.width, canvas.height] = [width * sharp, height * sharp];
  const pen = canvas.getContext("2d");
  if (!pen) return null;
  pen.scale(sharp, sharp);
  drawAxes(pen, x, y, layout, area, colours());
  drawLegend(pen, traces, area, colours().ink);
  pen.beginPath();
  pen.rect(area.left, 0, area.right - area.left, area.bottom + 4);
  pen.clip();
  for (const trace of traces) {
    pen.globalAlpha = trace.opacity ?? 1;
    if (trace.mode?.includes("lines")) drawLines(pen, trace, x, y);
    if (trace.mode?.includes("markers")) drawMarkers(pen, trace, x, y);
    pen.globalAlpha = 1;
  }
  box.append(canvas);
  return () => canvas.remove();
}
