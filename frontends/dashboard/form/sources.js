// What a new study may start from: nothing, a preset, an old study, or one trial of it.

import { vocabulary } from "../kit/vocabulary.js";
import { isMap } from "./paths.js";
import { same } from "./parameter-schema.js";

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

const without = (map, isLeftOut) =>
  Object.fromEntries(Object.entries(map).filter(([key, value]) => !isLeftOut(key, value)));

const isEmptyMap = (value) => isMap(value) && Object.keys(value).length === 0;

/** A part without what its schema would give it anyway. */
function lean(part, /** @type {Entry[]} */ entries) {
  const properties = entries.find((entry) => entry.name === part?.name)?.schema.properties;
  if (!isMap(part) || !properties) return part;
  return without(part, (key, value) => key !== "name" && key in properties && same(value, properties[key].default));
}

/** A section without its defaults. */
function leanSection(/** @type {Spec} */ spec, /** @type {Entry} */ entry) {
  const section = without(lean({ ...spec[entry.name], name: entry.name }, [entry]), (key) => key === "name");
  return /** @type {Record<string, any>} */ (section);
}

/** The arm without its defaults; a search that is only the default goes as a whole. */
function leanArm(arm, /** @type {Catalog} */ { problems, weightings, searches }) {
  const usual = searches.find((entry) => entry.first_choice)?.name;
  const { told: _told, ...search } = lean(arm.search, searches) ?? {}; // found anew when the study is submitted
  const parts = {
    problem: lean(arm.problem, problems),
    weighting: arm.weighting?.choice
      ? { choice: arm.weighting.choice.map((each) => lean(each, weightings)) }
      : lean(arm.weighting, weightings),
    search: same(search, { name: usual }) ? undefined : search,
  };
  return without({ ...arm, ...parts }, (_, value) => value === undefined || isEmptyMap(value));
}

/** The spec of a study as a person would have written it: defaults left out. */
export function withoutDefaults(/** @type {Spec} */ spec, /** @type {Catalog} */ catalog) {
  const entries = catalog.sections.filter((entry) => entry.name in spec);
  const sections = Object.fromEntries(entries.map((entry) => [entry.name, leanSection(spec, entry)]));
  const { attacks } = sections.evaluation ?? {};
  if (attacks) sections.evaluation.attacks = attacks.map((attack) => lean(attack, catalog.attacks));
  const own = {
    ...sections,
    ...(spec.code ? { code: spec.code.hash } : {}),
    data: lean(spec.data, catalog.data),
    model: lean(spec.model, catalog.models),
    arms: spec.arms.map((arm) => leanArm(arm, catalog)),
    objectives: spec.objectives.map((objective) => without(objective, (_, value) => value === null)),
    ...(spec.constraints ? { constraints: spec.constraints.map((each) => without(each, (_, v) => v === null)) } : {}),
  };
  const { study_defaults: defaults } = vocabulary;
  const usual = (/** @type {string} */ key, value) => key in defaults && same(value, defaults[key]);
  return without({ ...spec, ...own }, (key, value) => isEmptyMap(value) || usual(key, value));
}

function put(map, /** @type {string} */ key, value) {
  const [field, entry] = key.split(/\.(.*)/s);
  if (entry === undefined) map[field] = value;
  else map[field] = { ...(isMap(map[field]) ? map[field] : {}), [entry]: value };
}

/** One trial as a study of its own: its arm with every value fixed, its seed, nothing to search. */
export function oneTrial(/** @type {Spec} */ spec, /** @type {Trial} */ trial) {
  const arm = structuredClone(spec.arms.find(({ name }) => name === trial.arm));
  const places = {
    problem: { ...arm.problem },
    weighting: { ...arm.weighting },
    model: { ...spec.model, ...arm.model },
    training: { ...spec.training, ...arm.training },
  };
  for (const [key, value] of Object.entries(trial.config)) {
    const [place, field] = key.split(/\.(.*)/s);
    if (places[place] && field) put(places[place], field, value);
  }
  delete places.weighting.simplex; // its mixture is among the trial's own weights
  delete places.weighting.choice; // the one that was chosen is too
  const { problem, weighting, model, training } = places;
  const name = `${spec.name}: one trial of ${arm.name}`;
  const { stopping: _stopping, limits: _limits, ...rest } = spec; // are about many trials
  return { ...rest, name, model, training, seeds: [trial.seed], arms: [{ name: arm.name, problem, weighting }] };
}
