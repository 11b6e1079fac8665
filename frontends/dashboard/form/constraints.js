// The constraints of a study: what a metric must reach for a trial to count.

import { h } from "../kit/dom.js";
import { metricLabel } from "../kit/format.js";
import { select, textInput } from "./field.js";
import { isMap } from "./paths.js";
import { asWritten, row } from "./row.js";
import { parsed, shown } from "./values.js";

const PATH = ["constraints"];
const SIDES = [["at_least", "at least"], ["at_most", "at most"]];

/** @typedef {import("./study-form.js").StudyForm} StudyForm */

/** Metrics that every trial measures; on the split that chooses they have another name, which nobody writes. */
const boundable = (/** @type {Metric[]} */ metrics) => metrics.filter((metric) => metric.validation_of === null);

/** The side that is better, at the metric's own reference. @param {Metric | undefined} metric */
const sideOf = (metric) => (metric?.goal === "minimize" ? "at_most" : "at_least");

function constraintRow(/** @type {StudyForm} */ form, /** @type {number} */ i) {
  const path = [...PATH, i];
  const label = `constraint ${i + 1}`;
  const constraint = form.read(path);
  if (!isMap(constraint)) return asWritten(form, path, label, constraint);
  const side = (constraint.at_most ?? null) === null ? "at_least" : "at_most";
  const bound = constraint[side] ?? undefined;
  const chosen = form.metrics.find((metric) => metric.name === constraint.metric);
  const options = boundable(form.metrics).map((metric) => [metric.name, metricLabel(metric)]);
  const setMetric = (metric) => form.set([...path, "metric"], metric, { render: true });
  const setSide = (now) => form.set(path, { metric: constraint.metric, [now]: bound }, { render: true });
  const setBound = (text) => form.set([...path, side], text.trim() ? parsed(text) : undefined);
  const build = (id) => {
    const remove = h("button", { type: "button", "aria-label": `Remove ${label}` }, "Remove");
    remove.addEventListener("click", () => form.remove(path));
    const value = { id: `${id}-bound`, value: shown(bound), label: `${label}, bound`, numeric: true };
    return h(
      "span",
      { class: "axis" },
      select({ id, value: constraint.metric ?? "", options, label: `${label}, metric`, onChange: setMetric }),
      select({ id: `${id}-side`, value: side, options: SIDES, label: `${label}, side`, onChange: setSide }),
      textInput({ ...value, onInput: setBound }),
      remove,
    );
  };
  return row(form, path, { label, hint: chosen?.doc ?? "", build, group: true });
}

export function constraintsSection(/** @type {StudyForm} */ form) {
  const constraints = form.read(PATH) ?? [];
  if (!Array.isArray(constraints)) return [asWritten(form, PATH, "constraints", constraints)];
  const isFree = (/** @type {Metric} */ metric) => !constraints.some((each) => each?.metric === metric.name);
  const next = boundable(form.metrics).find((metric) => metric.reference !== null && isFree(metric));
  const add = h("button", { type: "button", id: "add-constraint", disabled: !next }, "Add a constraint");
  add.addEventListener("click", () => {
    if (!next) return;
    const bound = { metric: next.name, [sideOf(next)]: next.reference };
    form.set([...PATH, constraints.length], bound, { render: true });
  });
  const hint = form.section("constraint")?.doc;
  const rows = constraints.map((_, i) => constraintRow(form, i));
  return [...rows, row(form, PATH, { label: "constraints", hint, build: () => add, group: true })];
}
