// A study as a form, made from the catalog. The study itself is a plain object: what the form cannot show stays in it.

import { byId, h } from "../kit/dom.js";
import { outwards, read, write } from "./paths.js";
import { asWritten } from "./row.js";
import { KEYS, SECTIONS } from "./sections.js";

const FEW_ARMS = 2;

/** @typedef {{ element: HTMLElement, error: HTMLElement, target: HTMLElement | null }} Place */

export class StudyForm {
  /**
   * `onChange(spec)` after every change a reader makes.
   * @param {{ catalog: FormCatalog, onChange: (spec: Spec) => void }} parts
   */
  constructor({ catalog, onChange }) {
    this.catalog = catalog;
    this.onChange = onChange;
    this.metrics = catalog.metrics;
    /** @type {Objective[]} */
    this.ownObjectives = [];
    /** @type {Map<string, boolean>} */
    this.opened = new Map();
    /** @type {Map<string, Place>} */
    this.places = new Map();
    /** @type {(() => void)[]} */
    this.watchers = [];
    /** @type {Detail[]} */
    this.details = [];
    /** @type {Map<string, HTMLElement>} */
    this.sections = new Map();
    /** @type {any} */
    this.spec = null;
    this.element = h("div", { class: "form" });
  }

  show(/** @type {Spec} */ spec, /** @type {FormCatalog} */ catalog = this.catalog) {
    this.catalog = catalog;
    this.spec = structuredClone(spec);
    this.opened.clear();
    const arms = Array.isArray(spec.arms) ? spec.arms : [];
    arms.forEach((_, i) => this.opened.set(`arms[${i}]`, arms.length <= FEW_ARMS));
    this.render();
  }

  /** What the study as it stands reports, and its objectives when it names none. */
  learn(/** @type {ValidStudy} */ { metrics, objectives }) {
    const before = JSON.stringify([this.metrics, this.ownObjectives]);
    this.metrics = metrics;
    if (this.spec?.objectives === undefined) this.ownObjectives = objectives;
    if (!this.spec || JSON.stringify([this.metrics, this.ownObjectives]) === before) return;
    for (const name of ["objectives", "constraints"]) this.#renderSection(name);
  }

  /** What the catalog says about a section. @param {string} name */
  section(name) {
    return this.catalog.sections.find((entry) => entry.name === name);
  }

  read(/** @type {Path} */ path) {
    return read(this.spec, path);
  }

  /** Undefined takes away what is there. */
  set(/** @type {Path} */ path, value, { render = false } = {}) {
    write(this.spec, path, value);
    if (render) this.render();
    this.#changed();
  }

  /** Takes an item out of a list, and with the last one the list. @param {Path} path */
  remove(path) {
    write(this.spec, path, undefined);
    const list = this.read(path.slice(0, -1));
    if (Array.isArray(list) && !list.length) write(this.spec, path.slice(0, -1), undefined);
    this.render();
    this.#changed();
  }

  insertArm(/** @type {number} */ place, arm) {
    this.#spliceArms(place, 0, arm);
    this.goTo(`arms[${place}].name`);
  }

  removeArm(/** @type {number} */ place) {
    this.#spliceArms(place, 1);
    byId("add-arm").focus();
  }

  /** The arms that move take with them whether they are open. */
  #spliceArms(place, removed, ...added) {
    const arms = this.spec.arms ?? [];
    const open = arms.map((_, i) => this.opened.get(`arms[${i}]`) ?? false);
    arms.splice(place, removed, ...added);
    open.splice(place, removed, ...added.map(() => true));
    open.forEach((isOpen, i) => this.opened.set(`arms[${i}]`, isOpen));
    this.spec.arms = arms;
    this.render();
    this.#changed();
  }

  #changed() {
    for (const act of this.watchers) act();
    this.onChange(this.spec);
  }

  /** Called after every change until the form is made anew, and once now. */
  watch(/** @type {() => void} */ act) {
    this.watchers.push(act);
    act();
  }

  register(/** @type {string} */ path, /** @type {Place} */ place) {
    this.places.set(path, place);
  }

  /** Details that stay open or closed when the form is made anew. */
  folded(/** @type {string} */ key, summary, children, kind = "more") {
    const isOpen = this.opened.get(key) ?? false;
    const element = h("details", { class: kind, open: isOpen }, h("summary", {}, summary), children);
    element.addEventListener("toggle", () => this.opened.set(key, element.open));
    return element;
  }

  render() {
    const held = document.activeElement?.id;
    this.places.clear();
    this.watchers = [];
    this.sections = new Map(
      Object.entries(SECTIONS).map(([name, { title, build }]) => {
        const rows = h("div", { class: "rows" }, build(this));
        return [name, h("fieldset", { class: `section ${name}` }, h("legend", {}, title), rows)];
      }),
    );
    const others = Object.entries(this.spec).filter(([key]) => !KEYS.includes(key));
    const unknown = others.map(([key, value]) => asWritten(this, [key], key, value, "not a part of a study"));
    this.element.replaceChildren(...this.sections.values(), ...unknown);
    this.mark(this.details);
    if (held && this.element.isConnected) document.getElementById(held)?.focus({ preventScroll: true });
  }

  #renderSection(/** @type {keyof typeof SECTIONS} */ name) {
    const held = document.activeElement?.id;
    const rows = this.sections.get(name)?.querySelector(".rows");
    const isTyping = document.activeElement?.matches("input") && rows?.contains(document.activeElement);
    if (!rows || isTyping) return;
    rows.replaceChildren(...SECTIONS[name].build(this).flat());
    this.mark(this.details);
    if (held) document.getElementById(held)?.focus({ preventScroll: true });
  }

  /** Each error at the field it belongs to, or at the nearest part around it. */
  mark(/** @type {Detail[]} */ details) {
    this.details = details;
    for (const { element, error, target } of this.places.values()) {
      error.textContent = "";
      element.classList.remove("wrong");
      target?.removeAttribute("aria-invalid");
    }
    for (const detail of details) {
      const place = this.#placeOf(detail.path);
      if (!place) continue;
      place.error.textContent = [place.error.textContent, detail.message].filter(Boolean).join("; ");
      place.element.classList.add("wrong");
      if (place.target?.matches("input, select, textarea")) place.target.setAttribute("aria-invalid", "true");
    }
  }

  #placeOf(/** @type {string} */ path) {
    const nearest = outwards(path).find((each) => this.places.has(each));
    return nearest === undefined ? null : this.places.get(nearest);
  }

  /** Opens what the field lies in, and goes there. @param {string} path */
  goTo(path) {
    const place = this.#placeOf(path);
    if (!place) return;
    /** @type {HTMLElement | null} */
    let around = place.element;
    for (; around; around = around.parentElement) if (around instanceof HTMLDetailsElement) around.open = true;
    place.element.scrollIntoView({ block: "center" });
    /** @type {HTMLElement | null} */
    const first = place.target ?? place.element.querySelector("input, select, button");
    first?.focus({ preventScroll: true });
  }
}
