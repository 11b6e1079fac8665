// A trial's learning curve: two small stacked plots over epochs; lines are labelled above them.

import { number } from "../kit/format.js";
import { curvesOf, epochIn } from "../kit/metrics.js";

const DASHES = ["solid", "dot", "dash", "dashdot"];

/**
 * @param {OpenTrial["reports"]} reports
 * @param {string | undefined} colour
 * @param {Map<string, Metric>} metrics
 * @param {Objective[]} objectives
 */
export function curveFigure(reports, colour, metrics, objectives) {
  const epoch = epochIn(metrics);
  const time = metrics.get(epoch)?.label ?? "";
  const [upper, lower] = curvesOf(metrics, objectives);
  const lines = ({ names }, axis) =>
    names.slice(0, DASHES.length).flatMap((name, i) => {
      const steps = reports.filter((report) => report[name] !== null && report[name] !== undefined);
      if (!steps.length) return [];
      const label = metrics.get(name)?.label ?? name;
      return {
        type: "scatter",
        mode: steps.length > 1 ? "lines" : "markers",
        x: steps.map((step) => step[epoch]),
        y: steps.map((step) => step[name]),
        yaxis: axis,
        name: label,
        showlegend: true,
        line: { color: colour, width: 1.5, dash: DASHES[i] },
        marker: { color: colour },
        legend: axis === "y" ? "legend" : "legend2",
        text: steps.map((step) => number(step[name])),
        hovertemplate: `${time} %{x}<br>${label} %{text}<extra></extra>`,
      };
    });
  const legend = { orientation: "h", x: 0, yanchor: "bottom", font: { size: 11 } };
  const layout = {
    xaxis: { title: { text: time }, zeroline: false, anchor: "y2", rangemode: "tozero" },
    yaxis: { domain: [0.58, 0.94], zeroline: false, nticks: 4 },
    yaxis2: { domain: [0, 0.36], zeroline: false, title: { text: lower.title }, nticks: 4, rangemode: "tozero" },
    legend: { ...legend, y: 0.95 },
    legend2: { ...legend, y: 0.37 },
    margin: { l: 44, r: 8, t: 4, b: 40 },
    hovermode: "closest",
  };
  return { data: [...lines(upper, "y"), ...lines(lower, "y2")], layout };
}
