// The sections of the form, in the order in which a study is thought up.

import { h } from "../kit/dom.js";
import { vocabulary } from "../kit/vocabulary.js";
import { armsSection } from "./arms.js";
import { attackRows } from "./attacks.js";
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

/** @type {Record<string, { title: string, build: (form: StudyForm) => HTMLElement[] }>} */
export const SECTIONS = {
  study: { title: "Study", build: (form) => [nameRow(form), seedsRow(form)] },
  data: {
    title: "Data",
    build: (form) => namedPart(form, ["data"], { label: "data", entries: form.catalog.data, hasDefault: true }),
  },
  model: {
    title: "Model",
    build: (form) => namedPart(form, ["model"], { label: "model", entries: form.catalog.models, hasDefault: true }),
  },
  training: { title: "Training", build: (form) => sectionRows(form, "training") },
  objectives: { title: "Objectives", build: objectivesSection },
  arms: { title: "Arms", build: armsSection },
  evaluation: { title: "Evaluation", build: evaluationRows },
  resources: { title: "Resources", build: (form) => sectionRows(form, "resources") },
  limits: { title: "Limits", build: (form) => sectionRows(form, "limits") },
};

/** The keys of a study that the form has fields for. */
export const KEYS = ["name", "seeds", ...Object.keys(SECTIONS)];
