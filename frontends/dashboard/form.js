// A study as a form, made from the catalog. The study itself stays a plain object: what the form cannot show stays in it.

import { h } from "./dom.js";
import { armsSection } from "./form-arms.js";
import { textInput } from "./form-field.js";
import { attackRows, objectivesSection } from "./form-lists.js";
import { asWritten, fieldRows, namedPart, row } from "./form-part.js";
import { isMap, outwards, read, write } from "./form-paths.js";
import { parsedList, shown } from "./form-values.js";

const KNOWN = ["name", "data", "model", "training", "seeds", "objectives", "arms", "evaluation", "resources", "limits"];
const FEW_ARMS = 2;
const MOST_SEEDS = 1000;

export class StudyForm {
  /** `onChange(spec)` after every change a reader makes. */
  constructor({ catalog, onChange }) {
    this.catalog = catalog;
    this.onChange = onChange;
    this.metrics = catalog.metrics;
    this.ownObjectives = [];
    this.opened = new Map();
    this.places = new Map();
    this.watchers = [];
    this.details = [];
    this.element = h("div", { class: "form" });
  }

  show(spec) {
    this.spec = structuredClone(spec);
    this.opened.clear();
    const arms = Array.isArray(spec.arms) ? spec.arms : [];
    arms.forEach((_, i) => this.opened.set(`arms[${i}]`, arms.length <= FEW_ARMS));
    this.render();
  }

  /** What the study as it stands reports, and its objectives when it names none. */
  learn({ metrics, objectives }) {
    const before = JSON.stringify([this.metrics, this.ownObjectives]);
    if (metrics) this.metrics = metrics;
    if (objectives && this.spec?.objectives === undefined) this.ownObjectives = objectives;
    if (this.spec && JSON.stringify([this.metrics, this.ownObjectives]) !== before) this.#renderSection("objectives");
  }

  read(path) {
    return read(this.spec, path);
  }

  set(path, value, { render = false } = {}) {
    write(this.spec, path, value);
    if (render) this.render();
    this.#changed();
  }

  remove(path) {
    write(this.spec, path, undefined);
    const list = this.read(path.slice(0, -1));
    if (Array.isArray(list) && !list.length) write(this.spec, path.slice(0, -1), undefined);
    this.render();
    this.#changed();
  }

  insertArm(place, arm) {
    this.#spliceArms(place, 0, arm);
    this.goTo(`arms[${place}].name`);
  }

  removeArm(place) {
    this.#spliceArms(place, 1);
    document.getElementById("add-arm").focus();
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
  watch(act) {
    this.watchers.push(act);
    act();
  }

  register(path, place) {
    this.places.set(path, place);
  }

  /** Details that stay open or closed when the form is made anew. */
  folded(key, summary, children, kind = "more") {
    const element = h("details", { class: kind, open: this.opened.get(key) ?? false }, h("summary", {}, summary), children);
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
    const others = Object.entries(this.spec).filter(([key]) => !KNOWN.includes(key));
    const unknown = others.map(([key, value]) => asWritten(this, [key], key, value, "not a part of a study"));
    this.element.replaceChildren(...this.sections.values(), ...unknown);
    this.mark(this.details);
    if (held && this.element.isConnected) document.getElementById(held)?.focus({ preventScroll: true });
  }

  #renderSection(name) {
    const held = document.activeElement?.id;
    const rows = this.sections.get(name).querySelector(".rows");
    if (rows.contains(document.activeElement) && document.activeElement.matches("input")) return; // someone types there
    rows.replaceChildren(...SECTIONS[name].build(this).flat());
    this.mark(this.details);
    if (held) document.getElementById(held)?.focus({ preventScroll: true });
  }

  /** Each error at the field it belongs to, or at the nearest part around it. */
  mark(details) {
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

  #placeOf(path) {
    const found = outwards(path).find((each) => this.places.has(each));
    return found === undefined ? null : this.places.get(found);
  }

  has(path) {
    return this.#placeOf(path) !== null;
  }

  /** Opens what the field lies in, and goes there. */
  goTo(path) {
    const place = this.#placeOf(path);
    if (!place) return;
    for (let around = place.element; around; around = around.parentElement) if (around.matches("details")) around.open = true;
    place.element.scrollIntoView({ block: "center" });
    (place.target ?? place.element.querySelector("input, select, button"))?.focus({ preventScroll: true });
  }
}

const section = (form, name) => form.catalog.sections.find((entry) => entry.name === name).schema;

function plainSection(name, options) {
  return (form) => {
    const value = form.read([name]);
    if (value !== undefined && !isMap(value)) return [asWritten(form, [name], name, value)];
    return fieldRows(form, [name], section(form, name), options);
  };
}

function seedsRow(form) {
  const seeds = form.read(["seeds"]);
  const isList = seeds === undefined || (Array.isArray(seeds) && seeds.every((seed) => typeof seed !== "object"));
  if (!isList) return asWritten(form, ["seeds"], "seeds", seeds);
  const build = (id) => {
    const count = textInput({ id: `${id}-count`, value: String(seeds?.length ?? 1), label: "how many seeds", numeric: true, onInput: (text) => setCount(text) });
    const list = textInput({
      id, value: seeds === undefined ? "" : shown(seeds), placeholder: "0",
      onInput: (text) => {
        const now = text.trim() ? parsedList(text) : undefined;
        count.value = String(now?.length ?? 1);
        form.set(["seeds"], now);
      },
    });
    const setCount = (text) => {
      const wanted = Number(text);
      if (!Number.isInteger(wanted) || wanted < 1 || wanted > MOST_SEEDS) return;
      const now = Array.from({ length: wanted }, (_, i) => i);
      list.value = shown(now);
      form.set(["seeds"], now);
    };
    return h("span", { class: "axis" }, list, h("label", { class: "end" }, "count", count));
  };
  return row(form, ["seeds"], { label: "seeds", hint: "every arm is trained with each of these; three or more give an interval", build });
}

function nameRow(form) {
  const build = (id) => textInput({ id, value: shown(form.read(["name"])), onInput: (text) => form.set(["name"], text) });
  return row(form, ["name"], { label: "name", hint: "what the study asks", build });
}

const SECTIONS = {
  study: { title: "Study", build: (form) => [nameRow(form), seedsRow(form)] },
  data: { title: "Data", build: (form) => namedPart(form, ["data"], { label: "data", entries: form.catalog.data, fallback: "digits" }) },
  model: { title: "Model", build: (form) => namedPart(form, ["model"], { label: "model", entries: form.catalog.models, fallback: "mlp" }) },
  training: { title: "Training", build: plainSection("training") },
  objectives: { title: "Objectives", build: objectivesSection },
  arms: { title: "Arms", build: armsSection },
  evaluation: {
    title: "Evaluation",
    build: (form) => {
      const rows = plainSection("evaluation", { skip: ["attacks"] })(form);
      return isMap(form.read(["evaluation"]) ?? {}) ? [...rows, ...attackRows(form)] : rows;
    },
  },
  resources: { title: "Resources", build: plainSection("resources") },
  limits: { title: "Limits", build: plainSection("limits") },
};
