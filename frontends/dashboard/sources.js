// What a new study may start from: nothing, a preset, an old study, or one trial of it.

import { isMap } from "./form-paths.js";
import { same } from "./form-schema.js";

export const EMPTY = {
  name: "a new study",
  data: { name: "digits" },
  model: { name: "mlp" },
  training: { epochs: 20 },
  seeds: [0, 1, 2],
  arms: [
    { name: "manual β", weighting: { name: "fixed", beta: { grid: { from: 0.0001, to: 1, count: 6, scale: "log" } } } },
    { name: "MIB", weighting: { name: "mib" } },
  ],
};

const kept = (map, drop) => Object.fromEntries(Object.entries(map).filter(([key, value]) => !drop(key, value)));

/** A part without what its schema would give it anyway. */
function lean(part, entries) {
  const schema = entries.find((entry) => entry.name === part?.name)?.schema;
  if (!isMap(part) || !schema) return part;
  return kept(part, (key, value) => key !== "name" && key in schema.properties && same(value, schema.properties[key].default));
}

const isEmptyMap = (value) => isMap(value) && Object.keys(value).length === 0;

/** The spec of a study as a person would have written it: defaults left out. */
export function withoutDefaults(spec, catalog) {
  const section = (name) => lean({ ...spec[name], name }, catalog.sections);
  const sections = ["training", "evaluation", "resources", "limits"].map((name) => [name, kept(section(name), (key) => key === "name")]);
  const arms = spec.arms.map((arm) => {
    const parts = { problem: lean(arm.problem, catalog.problems), weighting: lean(arm.weighting, catalog.weightings), search: lean(arm.search, catalog.searches) };
    return kept({ ...arm, ...parts }, (key, value) => value === undefined || isEmptyMap(value) || (key === "search" && same(value, { name: "grid" })));
  });
  const evaluation = Object.fromEntries(sections).evaluation;
  if (evaluation.attacks) evaluation.attacks = evaluation.attacks.map((attack) => lean(attack, catalog.attacks));
  const objectives = spec.objectives.map((objective) => kept(objective, (_, value) => value === null));
  const own = { data: lean(spec.data, catalog.data), model: lean(spec.model, catalog.models), ...Object.fromEntries(sections), arms, objectives };
  return kept({ ...spec, ...own }, (_, value) => isEmptyMap(value));
}

function put(map, key, value) {
  const [field, entry] = key.split(/\.(.*)/s);
  if (entry === undefined) map[field] = value;
  else map[field] = { ...(isMap(map[field]) ? map[field] : {}), [entry]: value };
}

/** One trial as a study of its own: its arm with every value fixed, its seed, nothing to search. */
export function oneTrial(spec, trial) {
  const arm = structuredClone(spec.arms.find(({ name }) => name === trial.arm));
  const places = { problem: { ...arm.problem }, weighting: { ...arm.weighting }, model: { ...spec.model, ...arm.model }, training: { ...spec.training, ...arm.training } };
  for (const [key, value] of Object.entries(trial.config)) {
    const [place, field] = key.split(/\.(.*)/s);
    if (places[place] && field) put(places[place], field, value);
  }
  delete places.weighting.simplex; // its mixture is among the trial's own weights
  const { problem, weighting, model, training } = places;
  return { ...spec, name: `${spec.name}: one trial of ${arm.name}`, model, training, seeds: [trial.seed], arms: [{ name: arm.name, problem, weighting }] };
}
