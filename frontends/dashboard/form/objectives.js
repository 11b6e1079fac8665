// The objectives of a study: those of its first arm's problem, or axes of the reader's own.

import { h } from "../kit/dom.js";
import { metricLabel } from "../kit/format.js";
import { vocabulary } from "../kit/vocabulary.js";
import { select, textInput } from "./field.js";
import { isMap } from "./paths.js";
import { asWritten, row } from "./row.js";
import { parsed, shown } from "./values.js";

const { least: FEWEST, most: MOST } = vocabulary.limits.objectives;

/** @typedef {import("./study-form.js").StudyForm} StudyForm */

/** Metrics that can be an objective: none that only describes a training, none of the split that chooses. */
const choosable = (/** @type {Metric[]} */ metrics) =>
  metrics.filter((metric) => metric.reference !== null && metric.validation_of === null);

function goals(/** @type {StudyForm} */ form) {
  const names = form.section("objective")?.schema.properties.goal.enum ?? [];
  return names.map((goal) => [goal, goal]);
}

function objectiveRow(/** @type {StudyForm} */ form, /** @type {number} */ i, /** @type {number} */ count) {
  const path = ["objectives", i];
  const label = `axis ${i + 1}`;
  const objective = form.read(path);
  if (!isMap(objective)) return asWritten(form, path, label, objective);
  const metrics = choosable(form.metrics);
  const chosen = form.metrics.find((metric) => metric.name === objective.metric);
  const setMetric = (name) => {
    const metric = metrics.find((each) => each.name === name);
    form.set(path, { metric: name, goal: metric?.goal ?? objective.goal }, { render: true });
  };
  const setGoal = (goal) => form.set([...path, "goal"], goal);
  const setReference = (text) => form.set([...path, "reference"], text.trim() ? parsed(text) : undefined);
  const options = metrics.map((metric) => [metric.name, metricLabel(metric)]);
  const metricSelect = { value: objective.metric ?? "", options, label: `${label}, metric`, onChange: setMetric };
  const goalSelect = { value: objective.goal ?? "", options: goals(form), label: `${label}, goal`, onChange: setGoal };
  const build = (id) => {
    const reference = textInput({
      id: `${id}-reference`,
      value: shown(objective.reference ?? undefined),
      placeholder: shown(chosen?.reference ?? undefined),
      numeric: true,
      onInput: setReference,
    });
    const isNeeded = count <= FEWEST;
    const remove = h("button", { type: "button", disabled: isNeeded, "aria-label": `Remove ${label}` }, "Remove");
    remove.addEventListener("click", () => form.set(path, undefined, { render: true }));
    return h(
      "span",
      { class: "axis" },
      select({ id, ...metricSelect }),
      select({ id: `${id}-goal`, ...goalSelect }),
      h("label", { class: "end" }, "reference", reference),
      remove,
    );
  };
  return row(form, path, { label, hint: chosen?.doc ?? "", build, group: true });
}

/** Without objectives in the study those of its first arm's problem are used; a button writes them down. */
function ownObjectives(/** @type {StudyForm} */ form) {
  const own = form.ownObjectives;
  const labelOf = (/** @type {string} */ name) => form.metrics.find((metric) => metric.name === name)?.label ?? name;
  const names = own.map(({ metric }) => labelOf(metric)).join(" and ");
  const words = own.length ? `Those of the first arm’s problem: ${names}.` : "Those of the first arm’s problem.";
  const pick = h("button", { type: "button", id: "choose-objectives", disabled: !own.length }, "Choose others");
  const plain = own.map(({ metric, goal }) => ({ metric, goal }));
  pick.addEventListener("click", () => form.set(["objectives"], plain, { render: true }));
  return h("p", { class: "section-end row" }, h("span", {}, words), pick);
}

export function objectivesSection(/** @type {StudyForm} */ form) {
  const objectives = form.read(["objectives"]);
  if (objectives === undefined) return [ownObjectives(form)];
  if (!Array.isArray(objectives)) return [asWritten(form, ["objectives"], "objectives", objectives)];
  const count = objectives.length;
  const isFree = (/** @type {Metric} */ metric) => !objectives.some((each) => each?.metric === metric.name);
  const next = choosable(form.metrics).find(isFree);
  const add = h("button", { type: "button", id: "add-objective", disabled: count >= MOST || !next }, "Add an axis");
  add.addEventListener("click", () => {
    if (next) form.set(["objectives", count], { metric: next.name, goal: next.goal }, { render: true });
  });
  const error = h("p", { class: "field-error" });
  form.register("objectives", { element: error, error, target: null });
  const rows = objectives.map((_, i) => objectiveRow(form, i, count));
  return [...rows, error, h("p", { class: "section-end" }, add)];
}
