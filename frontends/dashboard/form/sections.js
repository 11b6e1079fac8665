// The sections of the form, in the order in which a study is thought up.

import { h } from "../kit/dom.js";
import { vocabulary } from "../kit/vocabulary.js";
import { armsSection } from "./arms.js";
import { attackRows } from "./attacks.js";
import { constraintsSection } from "./constraints.js";
import { textInput } from "./field.js";
import { objectivesSection } from "./objectives.js";
import { namedPart, sectionRows } from "./part.js";
import { isMap } from "./paths.js";
import { asWritten, row } from "./row.js";
import { parsedList, shown } from "./values.js";

/** @typedef {import("./study-form.js").StudyForm} StudyForm */

const SEEDS = "every arm is trained with each of these; three or more give an interval";

function nameRow(/** @type {StudyForm} */ form) {
  const onInput = (text) => form.set(["name"], text);
  const build = (id) => textInput({ id, value: shown(form.read(["name"])), onInput });
  return row(form, ["name"], { label: "name", hint: "what the study asks", build });
}

/** The seeds as a list, and beside it how many: either writes the other. */
function seedsRow(/** @type {StudyForm} */ form) {
  const seeds = form.read(["seeds"]);
  const isList = seeds === undefined || (Array.isArray(seeds) && seeds.every((seed) => typeof seed !== "object"));
  if (!isList) return asWritten(form, ["seeds"], "seeds", seeds);
  const { least, most } = vocabulary.limits.seeds;
  const build = (id) => {
    const setList = (text) => {
      const now = text.trim() ? parsedList(text) : undefined;
      count.value = String(now?.length ?? 1);
      form.set(["seeds"], now);
    };
    const setCount = (text) => {
      const wanted = Number(text);
      if (!Number.isInteger(wanted) || wanted < least || wanted > most) return;
      const now = Array.from({ length: wanted }, (_, i) => i);
      list.value = shown(now);
      form.set(["seeds"], now);
    };
    const list = textInput({ id, value: shown(seeds), placeholder: "0", onInput: setList });
    const length = { id: `${id}-count`, value: String(seeds?.length ?? 1), label: "how many seeds" };
    const count = textInput({ ...length, numeric: true, onInput: setCount });
    return h("span", { class: "axis" }, list, h("label", { class: "end" }, "count", count));
  };
  return row(form, ["seeds"], { label: "seeds", hint: SEEDS, build });
}

function evaluationRows(/** @type {StudyForm} */ form) {
  const rows = sectionRows(form, "evaluation", ["attacks"]);
  return isMap(form.read(["evaluation"]) ?? {}) ? [...rows, ...attackRows(form)] : rows;
}

function codeRow(/** @type {StudyForm} */ form) {
  const build = () => h("span", {}, form.catalog.code, " ", h("code", {}, String(form.read(["code"])).slice(0, 12)));
  return row(form, ["code"], { label: "code", hint: "the file that the arms’ problems stand in", build, group: true });
}

/** The file that the problems stand in, and packages that it needs; nothing of it where they are ours. */
function codeRows(/** @type {StudyForm} */ form) {
  if (form.catalog.code === undefined) return [];
  const packages = form.read(["requirements"]);
  const rows = packages === undefined ? [] : [asWritten(form, ["requirements"], "packages", packages)];
  return [codeRow(form), ...rows];
}

/** Data or model: chosen among ours, or what the study's own code gives; how it is split stays as it is written. */
function givenPart(/** @type {StudyForm} */ form, /** @type {string} */ name, /** @type {Entry[]} */ entries) {
  if (form.catalog.code === undefined) return namedPart(form, [name], { label: name, entries, hasDefault: true });
  const own = form.read([name]);
  if (own !== undefined) return [asWritten(form, [name], name, own)];
  return [h("p", { class: "section-end muted" }, `What ${form.catalog.code} gives.`)];
}

/** @type {Record<string, { title: string, build: (form: StudyForm) => HTMLElement[] }>} */
export const SECTIONS = {
  study: {
    title: "Study",
    build: (form) => [nameRow(form), ...codeRows(form), seedsRow(form)],
  },
  data: { title: "Data", build: (form) => givenPart(form, "data", form.catalog.data) },
  model: { title: "Model", build: (form) => givenPart(form, "model", form.catalog.models) },
  training: { title: "Training", build: (form) => sectionRows(form, "training") },
  objectives: { title: "Objectives", build: objectivesSection },
  constraints: { title: "Constraints", build: constraintsSection },
  arms: { title: "Arms", build: armsSection },
  evaluation: { title: "Evaluation", build: evaluationRows },
  resources: { title: "Resources", build: (form) => sectionRows(form, "resources") },
  limits: { title: "Limits", build: (form) => sectionRows(form, "limits") },
  stopping: { title: "Stopping early", build: (form) => sectionRows(form, "stopping") },
};

/** The keys of a study that the form has fields for. */
export const KEYS = ["name", "seeds", "code", "requirements", ...Object.keys(SECTIONS)];
