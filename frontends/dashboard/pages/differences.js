// In what studies differ beside their arms: read off their specs, and said before anyone compares their fronts.

import { same } from "../form/parameter-schema.js";
import { flow } from "../kit/yaml.js";

const each = (values) => [...new Set(values)].join(", ");

/** The keys in which parts differ, each with its values in the order of the studies; a name stands by itself. */
function keysThatDiffer(parts) {
  const names = parts.map((part) => part?.name);
  if (new Set(names).size > 1) return each(names.map(String));
  const keys = [...new Set(parts.flatMap((part) => Object.keys(part ?? {})))];
  const differ = keys.filter((key) => !parts.every((part) => same(part?.[key], parts[0]?.[key])));
  const valueOf = (part, key) => (part?.[key] == null ? "none" : flow(part[key]));
  return differ.map((key) => `${key} ${each(parts.map((part) => valueOf(part, key)))}`).join("; ");
}

const joined = (words) => [...words].sort().join(" and ");
const objectives = (spec) => spec.objectives.map(({ metric, goal }) => `${metric} (${goal})`).join(" and ");
const estimators = (spec) => joined(spec.evaluation?.estimators ?? []) || "none beside the bounds";
const attacks = (spec) => joined((spec.evaluation?.attacks ?? []).map(({ label, name }) => label ?? name)) || "none";

/** What of each spec is compared, and how it reads. Where a `question` differs, a larger hypervolume means nothing. */
const ASPECTS = [
  { what: "data", question: true, of: (spec) => spec.data, words: keysThatDiffer },
  { what: "objectives", question: true, of: objectives, words: each },
  { what: "model", question: false, of: (spec) => spec.model, words: keysThatDiffer },
  { what: "training", question: false, of: (spec) => spec.training, words: keysThatDiffer },
  { what: "estimators", question: false, of: estimators, words: each },
  { what: "attacks", question: false, of: attacks, words: each },
];

function differences(/** @type {Spec[]} */ specs) {
  return ASPECTS.flatMap(({ what, question, of, words }) => {
    const parts = specs.map(of);
    return parts.every((part) => same(part, parts[0])) ? [] : [{ question, words: `${what}: ${words(parts)}` }];
  });
}

/** Sentences for the page; none where only the arms differ. */
export function differenceWords(/** @type {Spec[]} */ specs) {
  const all = differences(specs);
  const list = (some) => some.map(({ words }) => words).join("; ");
  const [grave, others] = [all.filter(({ question }) => question), all.filter(({ question }) => !question)];
  const first = `These studies differ in ${list(grave)}. Their fronts are not the same question.`;
  const second = `${grave.length ? "They also differ" : "These studies differ"} in ${list(others)}.`;
  return [grave.length && first, others.length && second].filter(Boolean).join(" ");
}
