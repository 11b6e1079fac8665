// The arms: each a problem with a weighting and a search; add, copy, rename, remove.

import { h } from "./dom.js";
import { textInput } from "./form-field.js";
import { isMap, pathText } from "./form-paths.js";
import { asWritten, namedPart, row } from "./form-part.js";
import { flow } from "./yaml.js";

const KNOWN = ["name", "problem", "weighting", "search"];

const isEmpty = (value) => isMap(value) && Object.keys(value).length === 0;

/** What distinguishes an arm, in one line. */
function gist(arm) {
  const { name, ...given } = isMap(arm.weighting) ? arm.weighting : {};
  const values = Object.entries(given).map(([key, value]) => `${key} ${flow(value)}`);
  const search = arm.search?.name === "optuna" ? [`${arm.search.trials ?? "?"} trials by ${arm.search.sampler ?? "tpe"}`] : [];
  const others = Object.entries(arm).filter(([key, value]) => !KNOWN.includes(key) && !isEmpty(value));
  const overrides = others.map(([key, value]) => `${key} ${flow(value)}`);
  return [name ?? "no weighting", ...values, ...search, ...overrides].join(", ");
}

function freeName(form, start) {
  const taken = new Set(form.read(["arms"]).map((arm) => arm?.name));
  for (let i = 2; ; i += 1) if (!taken.has(`${start} ${i}`)) return `${start} ${i}`;
}

function armElement(form, i, isOnly) {
  const path = ["arms", i];
  const arm = form.read(path);
  if (!isMap(arm)) return asWritten(form, path, `arm ${i + 1}`, arm);
  const searched = arm.search?.name === "optuna";
  const { problems, weightings, searches } = form.catalog;
  const buttons = h(
    "div",
    { class: "arm-buttons" },
    h("button", { type: "button", onclick: () => form.insertArm(i + 1, { ...structuredClone(arm), name: freeName(form, arm.name ?? "arm") }) }, "Copy"),
    h("button", { type: "button", disabled: isOnly, onclick: () => form.removeArm(i) }, "Remove"),
  );
  const name = row(form, [...path, "name"], {
    label: "name",
    hint: "shown everywhere; differs from the other arms’",
    build: (id) => textInput({ id, value: arm.name ?? "", onInput: (text) => form.set([...path, "name"], text) }),
  });
  const others = Object.entries(arm).filter(([key, value]) => !KNOWN.includes(key) && !isEmpty(value));
  const words = { model: "overrides of the study’s model", training: "overrides of the study’s training" };
  const rows = [
    name,
    ...namedPart(form, [...path, "problem"], { label: "problem", entries: problems, fallback: "bottleneck", searched }),
    ...namedPart(form, [...path, "weighting"], { label: "weighting", entries: weightings, searched }),
    ...namedPart(form, [...path, "search"], { label: "search", entries: searches, fallback: "grid" }),
    ...others.map(([key, value]) => asWritten(form, [...path, key], key, value, words[key])),
    buttons,
  ];
  const [title, line] = [h("span", { class: "arm-title" }), h("span", { class: "muted arm-gist" })];
  const error = h("p", { class: "field-error" });
  form.watch(() => {
    title.textContent = arm.name || "without a name";
    line.textContent = gist(arm);
  });
  const element = form.folded(pathText(path), h("span", { class: "arm-line" }, title, " ", line), [error, ...rows], "arm-form");
  form.register(pathText(path), { element, error, target: element.querySelector("summary") });
  return element;
}

export function armsSection(form) {
  const arms = form.read(["arms"]);
  if (arms !== undefined && !Array.isArray(arms)) return [asWritten(form, ["arms"], "arms", arms)];
  const count = arms?.length ?? 0;
  const error = h("p", { class: "field-error" });
  form.register("arms", { element: error, error, target: null });
  const add = h("button", { type: "button", id: "add-arm" }, "Add an arm");
  add.addEventListener("click", () => {
    const name = count ? freeName({ read: () => arms }, "arm") : "arm 1";
    form.insertArm(count, { name, weighting: { name: "mib" } });
  });
  return [...Array.from({ length: count }, (_, i) => armElement(form, i, count === 1)), error, h("p", { class: "section-end" }, add)];
}
