// A parameter that may take several values: one value, a grid of them, or for a search a range or a choice.

import { h } from "./dom.js";
import { control, isPlain, select, textInput } from "./form-field.js";
import { isMap } from "./form-paths.js";
import { parsed, parsedList, shown } from "./form-values.js";

const SCALES = [["linear", "linear"], ["log", "log"]];
const WORDS = { value: "value", list: "grid: list", span: "grid: from – to", range: "range", choice: "choice" };

/** How a value is given; null for what only YAML can show. */
export function modeOf(value) {
  if (!isMap(value)) return "value";
  const [key, ...more] = Object.keys(value);
  if (more.length) return null;
  if (key === "grid") return Array.isArray(value.grid) ? "list" : isMap(value.grid) ? "span" : null;
  if (key === "range") return isMap(value.range) ? "range" : null;
  return key === "choice" && Array.isArray(value.choice) ? "choice" : null;
}

/** Values to start from when the way of giving them changes. */
function valuesIn(field, value) {
  const inside = value?.grid ?? value?.choice ?? value?.range ?? value ?? field.standard;
  if (Array.isArray(inside)) return inside;
  if (isMap(inside)) return [inside.from, inside.to].filter((each) => each !== undefined);
  return inside === undefined || inside === null ? [] : [inside];
}

function turned(field, value, mode) {
  const values = valuesIn(field, value);
  const [first, last] = [values[0], values.at(-1)];
  if (mode === "value") return first;
  if (mode === "list") return { grid: values };
  if (mode === "choice") return { choice: values };
  const old = value?.grid ?? value?.range;
  const isLog = isMap(old) ? old.scale === "log" : first > 0;
  const wide = isLog ? { from: first / 10, to: first * 10, scale: "log" } : { from: 0, to: 1, scale: "linear" };
  const ends = values.length > 1 && first < last ? { from: first, to: last, scale: isLog ? "log" : "linear" } : wide;
  const rounded = { ...ends, from: Number(ends.from.toPrecision(6)), to: Number(ends.to.toPrecision(6)) };
  return mode === "range" ? { range: rounded } : { grid: { from: rounded.from, to: rounded.to, count: old?.count ?? 5, scale: rounded.scale } };
}

function ends(kind, { id, value, onChange }, label, keys) {
  const inside = value[kind];
  const set = (key, now) => {
    if (now === undefined) delete inside[key];
    else inside[key] = now;
    onChange({ [kind]: inside });
  };
  const numbers = keys.map((key, i) =>
    h(
      "label",
      { class: "end" },
      key,
      textInput({ id: i ? `${id}-${key}` : id, value: shown(inside[key]), label: `${label} ${key}`, numeric: true, onInput: (text) => set(key, text.trim() ? parsed(text) : undefined) }),
    ),
  );
  const scale = select({ id: `${id}-scale`, value: inside.scale ?? "linear", options: SCALES, label: `${label} scale`, onChange: (now) => set("scale", now) });
  return h("span", { class: "ends" }, numbers, scale);
}

function several(kind, { id, value, onChange }, label) {
  return textInput({ id, value: shown(value[kind]), label, onInput: (text) => onChange({ [kind]: parsedList(text) }) });
}

/** The control, and the switch before it. `searched`: the arm's search takes ranges and choices in place of grids. */
export function axisControl(field, place, searched) {
  const { id, value, onChange, onMode } = place;
  const mode = modeOf(value);
  const isNumber = field.kind === "number";
  const offered = searched ? ["value", ...(isNumber ? ["range"] : []), "choice"] : ["value", "list", ...(isNumber ? ["span"] : [])];
  const options = [...new Set([...offered, mode])].map((each) => [each, WORDS[each]]);
  const how = select({ id: `${id}-how`, value: mode, options, label: `How ${field.label} is given`, onChange: (now) => onMode(turned(field, value, now)) });
  const own = {
    value: () => control(field, { id, value, onChange }),
    list: () => several("grid", place, `${field.label}, values`),
    choice: () => several("choice", place, `${field.label}, values`),
    span: () => ends("grid", place, field.label, ["from", "to", "count"]),
    range: () => ends("range", place, field.label, ["from", "to"]),
  };
  return h("span", { class: "axis" }, how, own[mode]());
}

export const canShow = (field, value) => (field.axis && modeOf(value) !== "value" ? modeOf(value) !== null : isPlain(field, value));
