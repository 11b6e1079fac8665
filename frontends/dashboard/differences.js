// In what studies differ beside their arms: read off their specs, and said before anyone compares their fronts.

import { same } from "./form-schema.js";
import { flow } from "./yaml.js";

const each = (values) => [...new Set(values)].join(", ");

/** The keys in which parts differ, each with its values in the order of the studies; a name stands by itself. */
function keysThatDiffer(parts) {
  const names = parts.map((part) => part?.name);
  if (new Set(names).size > 1) return each(names.map(String));
  const keys = [...new Set(parts.flatMap((part) => Object.keys(part ?? {})))];
  const differ = keys.filter((key) => !parts.every((part) => same(part?.[key], parts[0]?.[key])));
  return differ.map((key) => `${key} ${each(parts.map((part) => part?.[key] == null ? "none" : flow(part[key])))}`).join("; ");
}

const objectives = (spec) => spec.objectives.map(({ metric, goal }) => `${metric} (${goal})`).join(" and ");
const estimators = (spec) => [...(spec.evaluation?.estimators ?? [])].sort().join(" and ") || "none beside the bounds";
const attacks = (spec) => (spec.evaluation?.attacks ?? []).map((attack) => attack.label ?? attack.name).sort().join(" and ") || "none";

/** What of each spec is compared; `question`: where it differs, a larger hypervolume means nothing. */
const ASPECTS = [
  { what: "data", question: true, words: (specs) => keysThatDiffer(specs.map((spec) => spec.data)) },
  { what: "objectives", question: true, words: (specs) => each(specs.map(objectives)) },
  { what: "model", words: (specs) => keysThatDiffer(specs.map((spec) => spec.model)) },
  { what: "training", words: (specs) => keysThatDiffer(specs.map((spec) => spec.training)) },
  { what: "estimators", words: (specs) => each(specs.map(estimators)) },
  { what: "attacks", words: (specs) => each(specs.map(attacks)) },
];
const IS = {
  objectives: (spec) => objectives(spec),
  estimators: (spec) => estimators(spec),
  attacks: (spec) => attacks(spec),
};

export function differences(specs) {
  const part = (what) => IS[what] ?? ((spec) => spec[what]);
  return ASPECTS.filter(({ what }) => !specs.every((spec) => same(part(what)(spec), part(what)(specs[0])))).map(
    ({ what, question = false, words }) => ({ what, question, values: words(specs) }),
  );
}

/** Sentences for the page; none where only the arms differ. */
export function differenceWords(specs) {
  const found = differences(specs);
  const list = (some) => some.map(({ what, values }) => `${what}: ${values}`).join("; ");
  const [grave, others] = [found.filter(({ question }) => question), found.filter(({ question }) => !question)];
  const first = grave.length ? `These studies differ in ${list(grave)}. Their fronts are not the same question. ` : "";
  const start = grave.length ? "They also differ" : "These studies differ";
  return `${first}${others.length ? `${start} in ${list(others)}.` : ""}`.trim();
}
