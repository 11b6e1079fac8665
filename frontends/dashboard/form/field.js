// One parameter as a field: a text, a number, a choice, several of some, or a list.

import { h } from "../kit/dom.js";
import { same } from "./parameter-schema.js";
import { shown, typed } from "./values.js";

/** @typedef {import("./parameter-schema.js").Field} Field */

/**
 * A text field; empty means the default, which stands in it in grey. `onInput` gets the text.
 * @param {object} parts
 * @param {string} parts.id
 * @param {string} parts.value
 * @param {(text: string) => void} parts.onInput
 * @param {string} [parts.placeholder]
 * @param {string} [parts.label]
 * @param {boolean} [parts.numeric]
 * @param {string} [parts.list]
 */
export function textInput({ id, value, placeholder = "", label, numeric = false, list, onInput }) {
  const plain = { type: "text", spellcheck: "false", autocomplete: "off" };
  const short = numeric ? { inputmode: "decimal", class: "short" } : {};
  const input = h("input", { id, value, placeholder, "aria-label": label, list, ...plain, ...short });
  input.addEventListener("input", () => onInput(input.value));
  return input;
}

/**
 * A select that also shows a value that is none of its options: someone wrote it, and it must be seen.
 * @param {{ id: string, value: any, options: any[][], label?: string, onChange: (value: any) => void }} parts
 */
export function select({ id, value, options, label, onChange }) {
  const texts = options.map(([key]) => String(key));
  const known = texts.includes(String(value)) ? options : [...options, [value, `${shown(value)}, not known`]];
  const isChosen = (key) => String(key) === String(value);
  const items = known.map(([key, text]) => h("option", { value: String(key), selected: isChosen(key) }, text));
  const element = h("select", { id, "aria-label": label }, items);
  element.addEventListener("change", () => onChange(known[element.selectedIndex][0]));
  return element;
}

function choice(field, { id, value, onChange }) {
  const options = field.options.map((option) => [option, String(option)]);
  const onChoice = (now) => onChange(same(now, field.standard) ? undefined : now);
  return select({ id, value: value ?? field.standard, options, onChange: onChoice });
}

function yesOrNo(field, { id, value, onChange }) {
  const box = h("input", { id, type: "checkbox", checked: value ?? field.standard });
  box.addEventListener("change", () => onChange(same(box.checked, field.standard) ? undefined : box.checked));
  return box;
}

function several(field, { id, value, onChange }) {
  const chosen = new Set(Array.isArray(value) ? value : (field.standard ?? []));
  const boxes = field.options.map((option, i) => {
    const box = h("input", { type: "checkbox", id: i ? null : id, checked: chosen.has(option) });
    box.addEventListener("change", () => {
      if (box.checked) chosen.add(option);
      else chosen.delete(option);
      const now = field.options.filter((each) => chosen.has(each));
      onChange(now.length ? now : undefined);
    });
    return h("label", { class: "tick" }, box, option);
  });
  return h("div", { class: "ticks" }, boxes);
}

/** A default such as 8/255 in as many digits as a small field shows. */
const rounded = (value) => shown(typeof value === "number" ? Number(value.toPrecision(4)) : value);

function words(field, { id, value, onChange }) {
  const list = field.options?.length ? `${id}-options` : undefined;
  const input = textInput({
    id,
    list,
    value: value === undefined ? "" : shown(value),
    placeholder: field.required ? "" : rounded(field.standard ?? null),
    numeric: field.kind === "number",
    onInput: (text) => onChange(typed(field, text)),
  });
  if (!list) return input;
  const options = field.options.map((option) => h("option", { value: String(option) }));
  return h("span", {}, input, h("datalist", { id: list }, options));
}

const WIDGETS = { enum: choice, boolean: yesOrNo, several, number: words, text: words, list: words };

/** The control for a plain value of the field. */
export const control = (/** @type {Field} */ field, place) => WIDGETS[field.kind](field, place);

/** Whether this is a plain value of the field, such as its control shows. */
export function isPlain(/** @type {Field} */ field, value) {
  if (value === undefined) return field.kind in WIDGETS;
  const isList = field.kind === "list" || field.kind === "several";
  if (isList && value !== null) return Array.isArray(value) && value.every((part) => typeof part !== "object");
  return field.kind in WIDGETS && (value === null || typeof value !== "object");
}
