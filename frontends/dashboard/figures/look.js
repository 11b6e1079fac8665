// How a figure of the service looks here: the page's colours, what is outside a brush muted, the open trial ringed.

import { colours, isDark } from "../kit/theme.js";

const axesOf = (layout) => Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key));

/** The figure's layout with the page's font and colours; values of the figure win over these. */
export function themed(layout) {
  const { ink, muted, line, page } = colours();
  const font = { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink };
  const lines = { gridcolor: line, linecolor: muted, zerolinecolor: line };
  const axis = { ...lines, tickcolor: muted, showline: true, ticks: "outside", ticklen: 4 };
  const deep = { ...lines, showbackground: false };
  const scenes = Object.keys(layout).filter((key) => /^scene\d*$/.test(key));
  const deepAxes = (scene) => ["xaxis", "yaxis", "zaxis"].map((key) => [key, { ...deep, ...scene[key] }]);
  const inSpace = (scene) => ({ ...scene, ...Object.fromEntries(deepAxes(scene)) });
  return {
    ...layout,
    font,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    ...Object.fromEntries(axesOf(layout).map((key) => [key, { ...axis, ...layout[key] }])),
    ...Object.fromEntries(scenes.map((key) => [key, inSpace(layout[key])])),
    legend: { bgcolor: "rgba(0,0,0,0)", ...layout.legend },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: muted, activecolor: ink },
    hoverlabel: { bgcolor: page, bordercolor: muted, font, align: "left" },
    newselection: { line: { color: ink, width: 1, dash: "dot" } },
  };
}

/** Axes without numbers: there is nothing yet that they could measure. Names of rows stay. */
export function blank(layout) {
  const quiet = { showticklabels: false, showgrid: false, ticks: "" };
  const axes = axesOf(layout).filter((key) => !layout[key].ticktext);
  return { ...layout, ...Object.fromEntries(axes.map((key) => [key, { ...layout[key], ...quiet }])) };
}

/** Muted lines and points need more opacity on a dark page to be seen. */
export function lit(trace) {
  if (!isDark()) return trace;
  const more = (opacity) => (Array.isArray(opacity) ? opacity.map(more) : Math.min(1, 1.8 * opacity));
  const lighter = trace.opacity === undefined ? trace : { ...trace, opacity: more(trace.opacity) };
  if (trace.marker?.opacity === undefined) return lighter;
  return { ...lighter, marker: { ...trace.marker, opacity: more(trace.marker.opacity) } };
}

/** The trace with its trials outside the brush muted; traces without trials go as a whole. */
export function brushed(trace, trials) {
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
export function named(traces, freed) {
  const seen = new Map();
  return traces.map((trace) => {
    const kind = `${trace.name ?? ""}|${trace.mode ?? trace.type}`;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    const axes = trace.type === "parcoords" && freed !== null ? { uirevision: freed } : {};
    return { ...trace, ...axes, uid: uidOf(`${kind}|${seen.get(kind)}`) };
  });
}

const axesOfTrace = ({ xaxis = "x", yaxis = "y" }) => ({ xaxis, yaxis });

/** Rings round all points of the open trial, on the first axes that have one. */
export function ringOf(traces, trial) {
  const empty = { type: "scatter", mode: "markers", x: [], y: [], hoverinfo: "skip", showlegend: false };
  const isFlat = ({ type = "scatter" }) => type.startsWith("scatter") && type !== "scatter3d";
  const flat = traces.filter(isFlat);
  const placesIn = (trace) => (trace.customdata ?? []).flatMap((id, i) => (id === trial ? [i] : []));
  const first = trial === null ? undefined : flat.find((trace) => trace.customdata?.includes(trial));
  if (!first) return flat.length ? empty : null;
  const axes = axesOfTrace(first);
  const isBeside = (trace) => axesOfTrace(trace).xaxis === axes.xaxis && axesOfTrace(trace).yaxis === axes.yaxis;
  const own = flat.filter(isBeside).flatMap((trace) => placesIn(trace).map((i) => [trace.x[i], trace.y[i]]));
  const size = own.length > 1 ? 12 : 16; // many stand close to each other
  const marker = { symbol: "circle-open", size, color: colours().ink, line: { width: own.length > 1 ? 1.5 : 2 } };
  return { ...empty, ...axes, x: own.map(([x]) => x), y: own.map(([, y]) => y), marker };
}
