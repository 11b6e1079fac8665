// A part of a study: chosen by name with its own parameters (data, model, weighting …), or a section (training, limits).

import { h } from "./dom.js";
import { axisControl, canShow } from "./form-axis.js";
import { control, select } from "./form-field.js";
import { isMap, pathText } from "./form-paths.js";
import { fieldOf, fieldsOf } from "./form-schema.js";
import { flow } from "./yaml.js";

// Often set, so shown at first; the others stand behind "more" until they are written.
const COMMON = new Set([
  "epochs", "batch_size", "learning_rate", "optimizer", "train_fraction", "widths", "channels", "hidden", "latent",
  "correlations", "of", "size", "rate", "front", "main", "auxiliaries", "beta", "rate_bits", "mu", "power", "form", "alpha", "c",
  "temperature", "sampler", "trials", "epsilon", "every", "estimators", "cpus", "gpus", "concurrency", "seconds",
]);

/** Label, control, hint and a place for what is wrong, in one row. */
export function row(form, path, { label, hint = "", build, group = false }) {
  const text = pathText(path);
  const id = `f-${text.replaceAll(/\W+/g, "-").replace(/-$/, "")}`;
  const error = h("p", { class: "field-error", id: `${id}-error` });
  const inner = build(id);
  const name = h(group ? "span" : "label", group ? { id: `${id}-label`, class: "label" } : { for: id }, label);
  const says = hint ? h("p", { class: "hint", id: `${id}-hint` }, hint) : h("p", { class: "hint" });
  const props = group ? { role: "group", "aria-labelledby": `${id}-label` } : {};
  const element = h("div", { class: "field", ...props }, name, h("div", { class: "control" }, inner, error), says);
  const first = inner.matches?.("input, select, textarea") ? inner : inner.querySelector?.("input, select, textarea");
  first?.setAttribute("aria-describedby", `${id}-error${hint ? ` ${id}-hint` : ""}`);
  form.register(text, { element, error, target: first });
  return element;
}

/** What the form has no field for stays as it is written. */
export function asWritten(form, path, label, value, hint) {
  const build = () => h("span", { class: "as-written" }, h("code", {}, flow(value)), h("span", { class: "muted" }, " set in YAML"));
  return row(form, path, { label, hint, build, group: true });
}

function mapRow(form, path, field, searched, ensure) {
  const entries = Object.entries(form.read(path) ?? {});
  const rows = entries.map(([key]) => fieldRow(form, [...path, key], { ...fieldOf(key, field.item), label: `weight of ${key}` }, searched, ensure));
  const name = h("input", { type: "text", "aria-label": `term to give one of ${field.label}`, placeholder: "term", class: "short" });
  const add = h("button", { type: "button" }, "Add");
  add.addEventListener("click", () => {
    if (!name.value.trim()) return name.focus();
    ensure();
    form.set([...path, name.value.trim()], 1, { render: true });
  });
  return [...rows, row(form, path, { label: field.label, hint: field.hint, build: (id) => (name.setAttribute("id", id), h("span", { class: "axis" }, name, add)) })];
}

function fieldRow(form, path, field, searched, ensure) {
  const value = form.read(path);
  if (field.kind === "map" && (value === undefined || isMap(value))) return mapRow(form, path, field, searched, ensure);
  if (!canShow(field, value)) {
    return value === undefined || value === null ? null : asWritten(form, path, field.label, value, field.hint);
  }
  const change = (options) => (now) => {
    if (now !== undefined) ensure();
    form.set(path, now, options);
  };
  const place = (id) => ({ id, value, onChange: change({}), onMode: change({ render: true }) });
  const build = (id) => (field.axis ? axisControl(field, place(id), searched) : control(field, place(id)));
  return row(form, path, { label: field.label, hint: field.hint, build, group: field.kind === "several" });
}

/** The fields of a schema: those often set, required or written, and the rest behind "more". */
export function fieldRows(form, path, schema, { searched = false, ensure = () => {}, skip = [] } = {}) {
  const fields = fieldsOf(schema).filter((field) => !skip.includes(field.name));
  const written = form.read(path) ?? {};
  const isFirst = (field) => field.required || COMMON.has(field.name) || written[field.name] !== undefined;
  const made = fields.map((field) => [field, [fieldRow(form, [...path, field.name], field, searched, ensure) ?? []].flat()]);
  const first = made.filter(([field]) => isFirst(field)).flatMap(([, rows]) => rows);
  const rest = made.filter(([field, rows]) => !isFirst(field) && rows.length);
  if (!rest.length) return first;
  const labels = rest.map(([field]) => field.label).join(", ");
  const summary = h("span", {}, `${rest.length} more: `, h("span", { class: "muted" }, labels));
  return [...first, form.folded(`${pathText(path)} more`, summary, rest.flatMap(([, rows]) => rows))];
}

/** The first sentence of a doc; the rest is one hover away. */
const firstSentence = (doc) => doc.replaceAll("`", "").match(/^.*?\.(?=\s+[\p{L}(]|$)/su)?.[0] ?? doc;

/** A part chosen by name. Fields that the new choice also has are kept. */
export function namedPart(form, path, { label, entries, fallback, searched, hint }) {
  const part = form.read(path);
  if (part !== undefined && !isMap(part)) return [asWritten(form, path, label, part)];
  const name = part?.name ?? fallback;
  const entry = entries.find((candidate) => candidate.name === name);
  const choose = (now) => {
    const next = entries.find((candidate) => candidate.name === now);
    const kept = Object.entries(part ?? {}).filter(([key]) => key !== "name" && next && key in next.schema.properties);
    const given = Object.fromEntries((next?.schema.required ?? []).filter((key) => key === "trials").map((key) => [key, 30]));
    form.set(path, { name: now, ...given, ...Object.fromEntries(kept) }, { render: true });
  };
  const options = entries.map((candidate) => [candidate.name, candidate.name]);
  const build = (id) => select({ id, value: name ?? "", options, onChange: choose });
  const head = row(form, path, { label, hint: hint ?? firstSentence(entry?.doc ?? ""), build });
  head.classList.add("part-head");
  head.lastElementChild.title = entry?.doc ?? "";
  const ensure = () => form.read(path)?.name ?? form.set([...path, "name"], name);
  return [head, ...(entry ? fieldRows(form, path, entry.schema, { searched, ensure }) : [])];
}
