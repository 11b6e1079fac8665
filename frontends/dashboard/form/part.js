// A part of a study: chosen by name with parameters of its own (data, weighting …), or a section (training, limits).

import { h } from "../kit/dom.js";
import { axisControl, canShow } from "./axis.js";
import { control, select } from "./field.js";
import { isMap, pathText } from "./paths.js";
import { asWritten, row } from "./row.js";
import { fieldOf, fieldsOf } from "./parameter-schema.js";

/** What a required parameter starts with: a study without it would be refused at once. */
const STARTS_WITH = { trials: 30 };

/** @typedef {import("./study-form.js").StudyForm} StudyForm */
/** @typedef {import("./parameter-schema.js").Field} Field */

class Part {
  /**
   * @param {StudyForm} form
   * @param {Path} path where it stands in the study
   * @param {{ name?: string, isSearched?: boolean }} how `name` is written along with the first parameter
   */
  constructor(form, path, { name, isSearched = false } = {}) {
    this.form = form;
    this.path = path;
    this.name = name;
    this.isSearched = isSearched;
  }

  set(/** @type {Path} */ path, value, options = {}) {
    const isUnnamed = this.name !== undefined && this.form.read([...this.path, "name"]) === undefined;
    if (value !== undefined && isUnnamed) this.form.set([...this.path, "name"], this.name);
    this.form.set(path, value, options);
  }

  /** The parameters of an entry: those often set, required or written, and the rest behind "more". */
  rows(/** @type {Entry} */ entry, /** @type {string[]} */ skipped = []) {
    const given = this.form.read(this.path) ?? {};
    const isFirst = ({ name, required }) =>
      required || entry.often_set.includes(name) || given[name] !== undefined;
    const made = fieldsOf(entry.schema)
      .filter((field) => !skipped.includes(field.name))
      .map((field) => ({ field, rows: this.#rowsOf([...this.path, field.name], field) }));
    const first = made.filter(({ field }) => isFirst(field)).flatMap(({ rows }) => rows);
    const rest = made.filter(({ field, rows }) => !isFirst(field) && rows.length);
    if (!rest.length) return first;
    const labels = rest.map(({ field }) => field.label).join(", ");
    const summary = h("span", {}, `${rest.length} more: `, h("span", { class: "muted" }, labels));
    const more = rest.flatMap(({ rows }) => rows);
    return [...first, this.form.folded(`${pathText(this.path)} more`, summary, more)];
  }

  /** @returns {HTMLElement[]} */
  #rowsOf(/** @type {Path} */ path, /** @type {Field} */ field) {
    const value = this.form.read(path);
    if (field.kind === "map" && (value === undefined || isMap(value))) return this.#mapRows(path, field);
    if (!canShow(field, value)) {
      const isNone = value === undefined || value === null;
      return isNone ? [] : [asWritten(this.form, path, field.label, value, field.hint)];
    }
    const onChange = (now) => this.set(path, now);
    const onMode = (now) => this.set(path, now, { render: true });
    const build = (id) =>
      field.axis
        ? axisControl(field, { id, value, onChange, onMode }, this.isSearched)
        : control(field, { id, value, onChange });
    return [row(this.form, path, { label: field.label, hint: field.hint, build, group: field.kind === "several" })];
  }

  /** A value for each of some terms, and a field that adds a term. */
  #mapRows(/** @type {Path} */ path, /** @type {Field} */ field) {
    const { scales } = field;
    const rows = Object.keys(this.form.read(path) ?? {}).flatMap((key) =>
      this.#rowsOf([...path, key], { ...fieldOf(key, field.item, { scales }), label: `weight of ${key}` }),
    );
    const label = `term to give one of ${field.label}`;
    const name = h("input", { type: "text", "aria-label": label, placeholder: "term", class: "short" });
    const add = h("button", { type: "button" }, "Add");
    add.addEventListener("click", () => {
      const term = name.value.trim();
      if (term) this.set([...path, term], 1, { render: true });
      else name.focus();
    });
    const build = (id) => {
      name.id = id;
      return h("span", { class: "axis" }, name, add);
    };
    return [...rows, row(this.form, path, { label: field.label, hint: field.hint, build })];
  }
}

/** The first sentence of a doc; the rest is one hover away. */
const firstSentence = (doc) => doc.replaceAll("`", "").match(/^.*?\.(?=\s+[\p{L}(]|$)/su)?.[0] ?? doc;

/** The part under its new name, with the parameters that the new choice also has. */
function renamed(part, /** @type {Entry | undefined} */ next, name) {
  const { properties = {}, required = [] } = next?.schema ?? {};
  const kept = Object.entries(part ?? {}).filter(([key]) => key !== "name" && key in properties);
  const started = Object.entries(STARTS_WITH).filter(([key]) => required.includes(key));
  return { name, ...Object.fromEntries(started), ...Object.fromEntries(kept) };
}

/**
 * A part chosen by name, and below it its parameters.
 * @param {StudyForm} form
 * @param {Path} path
 * @param {{ label: string, entries: Entry[], hasDefault?: boolean, isSearched?: boolean }} how
 */
export function namedPart(form, path, { label, entries, hasDefault = false, isSearched = false }) {
  const part = form.read(path);
  const isChoice = part?.choice !== undefined && part.name === undefined; // of parts, which a search chooses from
  if (part !== undefined && (!isMap(part) || isChoice)) return [asWritten(form, path, label, part)];
  const standard = hasDefault ? entries.find((entry) => entry.first_choice)?.name : undefined;
  const name = part?.name ?? standard;
  const named = (/** @type {string} */ wanted) => entries.find((entry) => entry.name === wanted);
  const entry = named(name);
  const onChange = (now) => form.set(path, renamed(part, named(now), now), { render: true });
  const options = entries.map((each) => [each.name, each.name]);
  const build = (id) => select({ id, value: name ?? "", options, onChange });
  const head = row(form, path, { label, hint: firstSentence(entry?.doc ?? ""), build });
  head.classList.add("part-head");
  head.querySelector(".hint")?.setAttribute("title", entry?.doc ?? "");
  return [head, ...(entry ? new Part(form, path, { name, isSearched }).rows(entry) : [])];
}

/** A section: its parameters, but for those that stand elsewhere. */
export function sectionRows(/** @type {StudyForm} */ form, /** @type {string} */ name, skipped = []) {
  const value = form.read([name]);
  if (value !== undefined && !isMap(value)) return [asWritten(form, [name], name, value)];
  const entry = form.section(name);
  return entry ? new Part(form, [name]).rows(entry, skipped) : [];
}
