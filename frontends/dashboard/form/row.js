// A row of the form: label, control, hint, and a place for what is wrong with it.

import { h } from "../kit/dom.js";
import { flow } from "../kit/yaml.js";
import { pathText } from "./paths.js";

const CONTROLS = "input, select, textarea";

/**
 * `build(id)` makes the control; a group of controls is labelled as a whole.
 * @param {import("./study-form.js").StudyForm} form
 * @param {Path} path
 * @param {{ label: string, hint?: string, build: (id: string) => HTMLElement, group?: boolean }} parts
 */
export function row(form, path, { label, hint = "", build, group = false }) {
  const text = pathText(path);
  const id = `f-${text.replaceAll(/\W+/g, "-").replace(/-$/, "")}`;
  const inner = build(id);
  const first = inner.matches(CONTROLS) ? inner : /** @type {HTMLElement | null} */ (inner.querySelector(CONTROLS));
  first?.setAttribute("aria-describedby", `${id}-error${hint ? ` ${id}-hint` : ""}`);
  const error = h("p", { class: "field-error", id: `${id}-error` });
  const name = group ? h("span", { id: `${id}-label`, class: "label" }, label) : h("label", { for: id }, label);
  const says = h("p", { class: "hint", id: hint ? `${id}-hint` : null }, hint);
  const role = group ? { role: "group", "aria-labelledby": `${id}-label` } : {};
  const element = h("div", { class: "field", ...role }, name, h("div", { class: "control" }, inner, error), says);
  form.register(text, { element, error, target: first });
  return element;
}

/**
 * What the form has no field for stays as it is written.
 * @param {import("./study-form.js").StudyForm} form
 * @param {Path} path
 * @param {string} label
 * @param {unknown} value
 * @param {string} [hint]
 */
export function asWritten(form, path, label, value, hint) {
  const note = h("span", { class: "muted" }, " set in YAML");
  const build = () => h("span", { class: "as-written" }, h("code", {}, flow(value)), note);
  return row(form, path, { label, hint, build, group: true });
}
