// The catalog of a study with code of its own: its problems in place of ours, with their parameters as fields.

import { vocabulary } from "../kit/vocabulary.js";

const AXES = ["Grid", "Range", "Choice"].map((kind) => ({ $ref: `#/$defs/${kind}` }));

/** @typedef {CodeAnswer["problems"][number]} OwnProblem */

/** A parameter as the catalog writes one of ours: a value or an axis. @param {OwnProblem["parameters"][number]} own */
function propertyOf({ kind, choices, default: standard, required, optional, doc }) {
  const inner = choices ? { enum: choices } : { type: vocabulary.parameter_types[kind] };
  const value = { oneOf: [inner, ...AXES] };
  const said = { description: doc, ...(required ? {} : { default: standard }) };
  return optional ? { anyOf: [value, { type: "null" }], ...said } : { ...value, ...said };
}

/** @param {OwnProblem} own @param {Schema["$defs"]} defs @param {boolean} isOnly @returns {FormProblem} */
function entryOf(own, defs, isOnly) {
  const properties = Object.fromEntries(own.parameters.map((each) => [each.name, propertyOf(each)]));
  const required = own.parameters.filter((each) => each.required).map((each) => each.name);
  const schema = /** @type {Schema} */ ({ properties, required, $defs: defs });
  const names = own.parameters.map((each) => each.name);
  const { name, doc, kind, terms } = own;
  const form = { often_set: names, first_choice: isOnly, weighs: kind === "problem" };
  return { name, doc, schema, terms, code: [], entry: null, ...form };
}

/** Ways to give several values are described alike for every parameter, so any that has them will do. */
const axesIn = (/** @type {Catalog} */ { weightings }) =>
  weightings.find((entry) => entry.schema.$defs?.Span)?.schema.$defs;

/** @param {Catalog} catalog @param {CodeAnswer} code @returns {FormCatalog} */
export function ownCatalog(catalog, code) {
  const isOnly = code.problems.length === 1;
  const problems = code.problems.map((each) => entryOf(each, axesIn(catalog), isOnly));
  return { ...catalog, problems, code: code.entry };
}
