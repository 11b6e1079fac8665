// The lists of a study that are not its arms: objectives, and the attacks of its evaluation.

import { h } from "./dom.js";
import { select, textInput } from "./form-field.js";
import { isMap } from "./form-paths.js";
import { asWritten, namedPart, row } from "./form-part.js";
import { parsed, shown } from "./form-values.js";
import { metricLabel } from "./format.js";

const GOALS = [["minimize", "minimize"], ["maximize", "maximize"]];
const FEWEST = 2;
const MOST = 4;

/** Metrics that can be an objective: all but those that only describe a training. */
const choosable = (metrics) => metrics.filter((metric) => metric.reference !== null);

function objectiveRow(form, i, count) {
  const path = ["objectives", i];
  const objective = form.read(path);
  if (!isMap(objective)) return asWritten(form, path, `axis ${i + 1}`, objective);
  const metrics = choosable(form.metrics);
  const chosen = form.metrics.find((metric) => metric.name === objective.metric);
  const label = `axis ${i + 1}`;
  const setMetric = (name) => {
    const metric = metrics.find((each) => each.name === name);
    form.set(path, { metric: name, goal: metric?.goal ?? objective.goal }, { render: true });
  };
  const options = metrics.map((metric) => [metric.name, metricLabel(metric)]);
  const reference = (id) =>
    textInput({
      id: `${id}-reference`, value: shown(objective.reference ?? undefined), placeholder: shown(chosen?.reference ?? undefined), numeric: true,
      onInput: (text) => form.set([...path, "reference"], text.trim() ? parsed(text) : undefined),
    });
  const build = (id) =>
    h(
      "span",
      { class: "axis" },
      select({ id, value: objective.metric ?? "", options, label: `${label}, metric`, onChange: setMetric }),
      select({ id: `${id}-goal`, value: objective.goal ?? "", options: GOALS, label: `${label}, goal`, onChange: (goal) => form.set([...path, "goal"], goal) }),
      h("label", { class: "end" }, "reference", reference(id)),
      h("button", { type: "button", disabled: count <= FEWEST, "aria-label": `Remove ${label}`, onclick: () => form.set(path, undefined, { render: true }) }, "Remove"),
    );
  return row(form, path, { label, hint: chosen?.doc ?? "", build, group: true });
}

/** Without objectives in the study those of its first arm's problem are taken; a button writes them down. */
export function objectivesSection(form) {
  const objectives = form.read(["objectives"]);
  if (objectives !== undefined && !Array.isArray(objectives)) return [asWritten(form, ["objectives"], "objectives", objectives)];
  const own = form.ownObjectives;
  if (objectives === undefined) {
    const names = own.map(({ metric }) => form.metrics.find((each) => each.name === metric)?.label ?? metric).join(" and ");
    const pick = h("button", { type: "button", id: "choose-objectives", disabled: !own.length }, "Choose others");
    const plain = own.map(({ metric, goal }) => ({ metric, goal }));
    pick.addEventListener("click", () => form.set(["objectives"], plain, { render: true }));
    const words = own.length ? `Those of the first arm’s problem: ${names}.` : "Those of the first arm’s problem.";
    return [h("p", { class: "section-end row" }, h("span", {}, words), pick)];
  }
  const count = objectives.length;
  const next = choosable(form.metrics).find((metric) => !objectives.some((each) => each?.metric === metric.name));
  const add = h("button", { type: "button", id: "add-objective", disabled: count >= MOST || !next }, "Add an axis");
  add.addEventListener("click", () => form.set(["objectives", count], { metric: next.name, goal: next.goal }, { render: true }));
  const error = h("p", { class: "field-error" });
  form.register("objectives", { element: error, error, target: null });
  return [...objectives.map((_, i) => objectiveRow(form, i, count)), error, h("p", { class: "section-end" }, add)];
}

export function attackRows(form) {
  const path = ["evaluation", "attacks"];
  const attacks = form.read(path);
  if (attacks !== undefined && !Array.isArray(attacks)) return [asWritten(form, path, "attacks", attacks)];
  const count = attacks?.length ?? 0;
  const { attacks: entries } = form.catalog;
  const one = (i) => {
    const at = [...path, i];
    const remove = h("button", { type: "button", onclick: () => form.remove(at) }, "Remove this attack");
    const part = namedPart(form, at, { label: `attack ${i + 1}`, entries });
    return h("div", { class: "attack" }, part, h("p", { class: "section-end" }, remove));
  };
  const add = h("button", { type: "button", id: "add-attack" }, "Add an attack");
  add.addEventListener("click", () => {
    const used = new Set((attacks ?? []).map((attack) => attack?.name));
    const name = ["pgd", "fgsm", ...entries.map((entry) => entry.name)].find((each) => !used.has(each)) ?? "pgd";
    form.set([...path, count], { name }, { render: true });
  });
  const rows = Array.from({ length: count }, (_, i) => one(i));
  const build = () => add;
  return [...rows, row(form, path, { label: "attacks", hint: "accuracy under each is reported as robust_<attack>", build, group: true })];
}
