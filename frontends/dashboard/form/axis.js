// A parameter that may take several values: one value, a grid of them, or for a search a range or a choice.

import { h } from "../kit/dom.js";
import { control, isPlain, select, textInput } from "./field.js";
import { isMap } from "./paths.js";
import { parsed, parsedList, shown } from "./values.js";

/** @typedef {import("./parameter-schema.js").Field} Field */

const WORDS = { value: "value", list: "grid: list", span: "grid: from – to", range: "range", choice: "choice" };

/** How a value is given; null for what only YAML can show. */
function modeOf(value) {
  if (!isMap(value)) return "value";
  const [key, ...more] = Object.keys(value);
  if (more.length) return null;
  if (key === "grid") return Array.isArray(value.grid) ? "list" : isMap(value.grid) ? "span" : null;
  if (key === "range") return isMap(value.range) ? "range" : null;
  return key === "choice" && Array.isArray(value.choice) ? "choice" : null;
}

/** Values to start from when the way of giving them changes. */
function valuesIn(/** @type {Field} */ field, value) {
  const inside = value?.grid ?? value?.choice ?? value?.range ?? value ?? field.standard;
  if (Array.isArray(inside)) return inside;
  if (isMap(inside)) return [inside.from, inside.to].filter((each) => each !== undefined);
  return inside === undefined || inside === null ? [] : [inside];
}

const rounded = (value) => (typeof value === "number" ? Number(value.toPrecision(6)) : value);

/** Two ends for values that had none: those of the list, or a decade to each side, or from 0 to 1. */
function endsOf(values, isLog) {
  const [first, last] = [values[0], values.at(-1)];
  if (values.length > 1 && first < last) return [first, last];
  return isLog ? [first / 10, first * 10] : [0, 1];
}

/** The value given in another way, as near as can be to how it was. */
function turned(/** @type {Field} */ field, value, mode) {
  const values = valuesIn(field, value);
  if (mode === "value") return values[0];
  if (mode === "list") return { grid: values };
  if (mode === "choice") return { choice: values };
  const old = value?.grid ?? value?.range;
  const isLog = isMap(old) ? old.scale === "log" : values[0] > 0;
  const [from, to] = endsOf(values, isLog).map(rounded);
  const scale = isLog ? "log" : "linear";
  return mode === "range" ? { range: { from, to, scale } } : { grid: { from, to, count: old?.count ?? 5, scale } };
}

/** Fields for the ends of a grid or range, and its scale. */
function ends(kind, field, { id, value, onChange }, keys) {
  const inside = value[kind];
  const set = (key, now) => {
    if (now === undefined) delete inside[key];
    else inside[key] = now;
    onChange({ [kind]: inside });
  };
  const numbers = keys.map((key, i) => {
    const onInput = (text) => set(key, text.trim() ? parsed(text) : undefined);
    const place = { id: i ? `${id}-${key}` : id, value: shown(inside[key]), label: `${field.label} ${key}` };
    return h("label", { class: "end" }, key, textInput({ ...place, numeric: true, onInput }));
  });
  const scale = select({
    id: `${id}-scale`,
    value: inside.scale ?? field.scales[0],
    options: field.scales.map((name) => [name, name]),
    label: `${field.label} scale`,
    onChange: (now) => set("scale", now),
  });
  return h("span", { class: "ends" }, numbers, scale);
}

/** A field for a list of values. */
function several(kind, field, { id, value, onChange }) {
  const onInput = (text) => onChange({ [kind]: parsedList(text) });
  return textInput({ id, value: shown(value[kind]), label: `${field.label}, values`, onInput });
}

/** The ways in which a value can be given: a search takes ranges and choices in place of grids. */
function modesFor(/** @type {Field} */ field, isSearched) {
  const isNumber = field.kind === "number";
  if (isSearched) return isNumber ? ["value", "range", "choice"] : ["value", "choice"];
  return isNumber ? ["value", "list", "span"] : ["value", "list"];
}

/** The control, and the switch before it. */
export function axisControl(/** @type {Field} */ field, place, /** @type {boolean} */ isSearched) {
  const { id, value, onMode } = place;
  const mode = modeOf(value) ?? "value";
  const how = select({
    id: `${id}-how`,
    value: mode,
    options: [...new Set([...modesFor(field, isSearched), mode])].map((each) => [each, WORDS[each]]),
    label: `How ${field.label} is given`,
    onChange: (now) => onMode(turned(field, value, now)),
  });
  const own = {
    value: () => control(field, place),
    list: () => several("grid", field, place),
    choice: () => several("choice", field, place),
    span: () => ends("grid", field, place, ["from", "to", "count"]),
    range: () => ends("range", field, place, ["from", "to"]),
  };
  return h("span", { class: "axis" }, how, own[mode]());
}

/** Whether the form can show this value of the field at all. */
export function canShow(/** @type {Field} */ field, value) {
  const mode = modeOf(value);
  return field.axis && mode !== "value" ? mode !== null : isPlain(field, value);
}
