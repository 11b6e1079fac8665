// The arms: each a problem with a weighting and a search; add, copy, rename, remove.

import { h } from "../kit/dom.js";
import { flow } from "../kit/yaml.js";
import { textInput } from "./field.js";
import { namedPart } from "./part.js";
import { isMap, pathText } from "./paths.js";
import { asWritten, row } from "./row.js";

/** @typedef {import("./study-form.js").StudyForm} StudyForm */

const WITH_FIELDS = ["name", "problem", "weighting", "search"];
const OVERRIDES = { model: "overrides of the study’s model", training: "overrides of the study’s training" };

const isEmpty = (value) => isMap(value) && Object.keys(value).length === 0;

/** What an arm has beyond what the form has fields for. */
const othersOf = (arm) => Object.entries(arm).filter(([key, value]) => !WITH_FIELDS.includes(key) && !isEmpty(value));

/** The arm's search, where it suggests values. */
function suggesting(/** @type {StudyForm} */ form, arm) {
  return form.catalog.searches.find((entry) => entry.suggests && entry.name === arm.search?.name);
}

/** What distinguishes an arm, in one line. */
function gist(/** @type {StudyForm} */ form, arm) {
  const none = form.catalog.code === undefined ? "no weighting" : (arm.problem?.name ?? "");
  const { name = none, choice, ...given } = isMap(arm.weighting) ? arm.weighting : {};
  const said = Array.isArray(choice) ? `one of ${choice.map((each) => each?.name).join(", ")}` : name;
  const entry = suggesting(form, arm);
  const sampler = arm.search?.sampler ?? entry?.schema.properties.sampler?.default ?? entry?.name;
  const search = entry ? [`${arm.search.trials ?? "?"} trials by ${sampler}`] : [];
  const keyAndValue = ([key, value]) => `${key} ${flow(value)}`;
  return [said, ...Object.entries(given).map(keyAndValue), ...search, ...othersOf(arm).map(keyAndValue)].join(", ");
}

function freeName(arms, /** @type {string} */ start) {
  const taken = new Set(arms.map((arm) => arm?.name));
  for (let i = 2; ; i += 1) if (!taken.has(`${start} ${i}`)) return `${start} ${i}`;
}

function buttonsOf(/** @type {StudyForm} */ form, /** @type {number} */ i, arms) {
  const copy = h("button", { type: "button" }, "Copy");
  copy.addEventListener("click", () => {
    const name = freeName(arms, arms[i].name ?? "arm");
    form.insertArm(i + 1, { ...structuredClone(arms[i]), name });
  });
  const remove = h("button", { type: "button", disabled: arms.length === 1 }, "Remove");
  remove.addEventListener("click", () => form.removeArm(i));
  return h("div", { class: "arm-buttons" }, copy, remove);
}

function armElement(/** @type {StudyForm} */ form, /** @type {number} */ i, arms) {
  const path = ["arms", i];
  const arm = arms[i];
  if (!isMap(arm)) return asWritten(form, path, `arm ${i + 1}`, arm);
  const isSearched = suggesting(form, arm) !== undefined;
  const { problems, weightings, searches } = form.catalog;
  const own = problems.find((entry) => entry.name === arm.problem?.name || (entry.first_choice && !arm.problem));
  if (own?.weighs === false) delete arm.weighting; // a script weighs nothing, or by itself
  const weighting = { label: "weighting", entries: weightings, isSearched };
  const setName = (text) => form.set([...path, "name"], text);
  const name = row(form, [...path, "name"], {
    label: "name",
    hint: "shown everywhere; differs from the other arms’",
    build: (id) => textInput({ id, value: arm.name ?? "", onInput: setName }),
  });
  const rows = [
    name,
    ...namedPart(form, [...path, "problem"], { label: "problem", entries: problems, hasDefault: true, isSearched }),
    ...(own?.weighs === false ? [] : namedPart(form, [...path, "weighting"], weighting)),
    ...namedPart(form, [...path, "search"], { label: "search", entries: searches, hasDefault: true }),
    ...othersOf(arm).map(([key, value]) => asWritten(form, [...path, key], key, value, OVERRIDES[key])),
    buttonsOf(form, i, arms),
  ];
  const [title, line] = [h("span", { class: "arm-title" }), h("span", { class: "muted arm-gist" })];
  const error = h("p", { class: "field-error" });
  form.watch(() => {
    title.textContent = arm.name || "without a name";
    line.textContent = gist(form, arm);
  });
  const head = h("span", { class: "arm-line" }, title, " ", line);
  const element = form.folded(pathText(path), head, [error, ...rows], "arm-form");
  form.register(pathText(path), { element, error, target: element.querySelector("summary") });
  return element;
}

export function armsSection(/** @type {StudyForm} */ form) {
  const arms = form.read(["arms"]) ?? [];
  if (!Array.isArray(arms)) return [asWritten(form, ["arms"], "arms", arms)];
  const error = h("p", { class: "field-error" });
  form.register("arms", { element: error, error, target: null });
  const add = h("button", { type: "button", id: "add-arm" }, "Add an arm");
  add.addEventListener("click", () => {
    const weighting = form.catalog.weightings.find((entry) => entry.first_choice)?.name;
    const name = arms.length ? freeName(arms, "arm") : "arm 1";
    const own = form.catalog.code === undefined ? {} : { problem: { name: form.catalog.problems[0].name } };
    form.insertArm(arms.length, { name, ...own, weighting: { name: weighting } });
  });
  return [...arms.map((_, i) => armElement(form, i, arms)), error, h("p", { class: "section-end" }, add)];
}
