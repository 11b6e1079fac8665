// The further figures of a study, each in a panel of its own; what they show is fetched when they come into view.

import { studyPath } from "./api.js";
import { h } from "./dom.js";
import { FigurePanel } from "./figures.js";
import { capital, metricLabel } from "./format.js";

const MAIN = ["information-plane", "pareto-front"];
const ROWS = ["accuracy-by-method", "convergence"];
const ROW_HEIGHT = 36;
const ACCURACY = /^(accuracy(_.+)?|robust_(?!images$).+)$/;

/** Which accuracy the rows show; nothing to choose where there is only one. */
function accuracySelect(metrics, onChange) {
  const known = [...metrics.values()].filter((metric) => ACCURACY.test(metric.name));
  const select = h("select", { onchange: onChange }, known.map((metric) => h("option", { value: metric.name }, metricLabel(metric))));
  return { select, element: known.length > 1 ? h("label", {}, "of ", select) : null };
}

/** An accuracy to reach; empty: the service's own choice, which the subtitle states. */
function thresholdInput(onChange) {
  const input = h("input", { type: "number", min: "0.01", max: "1", step: "0.01", placeholder: "auto", onchange: onChange });
  return { input, element: h("label", {}, "at least ", input) };
}

/** Panels for the figures that this study has something for, beside the two main ones. `again(panel)` fetches anew. */
export function furtherPanels(study, metrics, onPick, again) {
  return study.figures.filter((name) => !MAIN.includes(name)).map((name) => {
    const path = `${studyPath(study.id)}/figures/${name}`;
    const title = capital(name.replaceAll("-", " "));
    const isRows = ROWS.includes(name);
    const accuracy = isRows ? accuracySelect(metrics, () => again(panel)) : null;
    const threshold = name === "convergence" ? thresholdInput(() => threshold.input.reportValidity() && again(panel)) : null;
    const address = () => {
      const query = new URLSearchParams();
      if (threshold?.input.value) query.set("x", threshold.input.value);
      if (accuracy?.select.value) query.set("y", accuracy.select.value);
      return `${path}?${query}`;
    };
    const controls = [threshold?.element, accuracy?.element].filter(Boolean);
    const panel = new FigurePanel({
      title,
      address,
      filename: `${study.name} ${title.toLowerCase()}`,
      controls: controls.length ? [h("div", { class: "selects" }, controls)] : [],
      height: isRows ? ROW_HEIGHT * study.arms.length + 80 : 0,
      onPick,
    });
    return panel;
  });
}
