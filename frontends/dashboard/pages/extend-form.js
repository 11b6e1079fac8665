// More of a study: seeds, epochs and grid points in a small form; what is refused stands beside its field.

import { parsedList, parsed } from "../form/values.js";
import { postJson, studyPath } from "../kit/api.js";
import { h, setAttr, setText } from "../kit/dom.js";
import { plural, setting } from "../kit/format.js";

/**
 * @typedef {{ path: string, also: string, input: HTMLInputElement, problem: HTMLElement, element: HTMLElement }} Row
 */

const isPart = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Grids below a value, each with its key as `weighting.beta`. @returns {[string, any][]} */
function gridsBelow(/** @type {string} */ key, value) {
  if (!isPart(value)) return [];
  if ("grid" in value) return [[key, value.grid]];
  return Object.entries(value).flatMap(([name, part]) => gridsBelow(`${key}.${name}`, part));
}

/** The grids of an arm, those that it has from the study included. @returns {[string, any][]} */
export function gridsOf(/** @type {Spec} */ spec, arm) {
  const { problem, weighting } = arm;
  const shared = { model: { ...spec.model, ...arm.model }, training: { ...spec.training, ...arm.training } };
  return Object.entries({ problem, weighting, ...shared }).flatMap(([place, part]) => gridsBelow(place, part));
}

/** "0.001, 0.1", or "12 from 0.0001 to 1": what a grid has. */
export function gridWords(grid) {
  if (Array.isArray(grid)) return grid.map(setting).join(", ");
  return `${grid.count} from ${setting(grid.from)} to ${setting(grid.to)}`;
}

/** Whether an error at this path belongs to a field. */
const isAt = (path, place) => path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);

export class ExtendForm {
  /** `onExtended` is called when the service has taken it, `onClose` when the reader leaves it. */
  constructor(/** @type {Study} */ study, { onExtended, onClose }) {
    this.path = `${studyPath(study.id)}/extend`;
    this.onExtended = onExtended;
    this.onClose = onClose;
    const { spec } = study;
    const searching = spec.arms.find((arm) => (arm.search?.name ?? "grid") !== "grid");
    const taken = plural(spec.seeds.length, "seed");
    const noSeeds = searching ? `${searching.name} searches, and its search deals the seeds out in turn` : "";
    this.seeds = this.#row("seeds", "More seeds", noSeeds || `it has ${taken}: ${spec.seeds.join(", ")}`);
    this.seeds.input.disabled = Boolean(searching);
    const staged = spec.arms.find((arm) => JSON.stringify(arm.weighting).includes("two-stage"));
    const anew = staged ? `, but ${staged.name} begins anew, as it depends on their number` : "";
    const goesOn = `it has ${spec.training.epochs}; training goes on from there${anew}`;
    this.epochs = this.#row("epochs", "Train to epoch", goesOn);
    this.grids = spec.arms.flatMap((arm, i) =>
      gridsOf(spec, arm).map(([key, grid]) => {
        const row = this.#row(`grid.${arm.name}.${key}`, `${key} of ${arm.name}`, `it has ${gridWords(grid)}`);
        return { ...row, arm: arm.name, key, also: `arms[${i}].${key}` };
      }),
    );
    this.problems = h("ul", { class: "errors", role: "alert" });
    this.send = h("button", { class: "primary" }, "Extend the study");
    const leave = h("button", { type: "button", onclick: () => this.close() }, "Leave it as it is");
    const rows = [this.seeds, this.epochs, ...this.grids].map(({ element }) => element);
    this.element = h(
      "form",
      { class: "extend", id: "extend", "aria-label": "Extend the study", novalidate: true, hidden: true },
      h("p", { class: "muted" }, "What has finished stays. Separate several values with commas."),
      rows,
      h("div", { class: "row" }, this.send, leave),
      this.problems,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
  }

  /** @returns {Row} */
  #row(/** @type {string} */ path, /** @type {string} */ label, /** @type {string} */ hint) {
    const id = `extend-${path.replace(/[^\w]+/g, "-")}`;
    const plain = { type: "text", spellcheck: "false", autocomplete: "off", inputmode: "decimal" };
    const input = h("input", { id, "aria-describedby": `${id}-hint ${id}-problem`, ...plain });
    const problem = h("p", { class: "bad", id: `${id}-problem`, role: "alert" });
    const words = h("p", { class: "muted", id: `${id}-hint` }, hint);
    const element = h("div", { class: "extend-row" }, h("label", { for: id }, label), input, words, problem);
    return { path, also: path, input, problem, element };
  }

  open() {
    this.element.hidden = false;
    (this.seeds.input.disabled ? this.epochs : this.seeds).input.focus();
  }

  close() {
    this.element.hidden = true;
    this.#show([]);
    this.onClose();
  }

  /** What the reader asks for, as the service takes it. */
  wish() {
    const epochs = this.epochs.input.value.trim();
    /** @type {Record<string, Record<string, any[]>>} */
    const grid = {};
    for (const { arm, key, input } of this.grids) {
      const values = parsedList(input.value);
      if (values.length) (grid[arm] ??= {})[key] = values;
    }
    return { seeds: parsedList(this.seeds.input.value), epochs: epochs ? parsed(epochs) : null, grid };
  }

  async #submit() {
    this.send.disabled = true;
    try {
      await postJson(this.path, this.wish());
      this.#show([]);
      this.onExtended();
    } catch (error) {
      this.#show(error.details?.length ? error.details : [{ path: "", message: error.message }]);
    } finally {
      this.send.disabled = false;
    }
  }

  /** Each error beside its field, the others below with their path; the first field that is wrong has the focus. */
  #show(/** @type {Detail[]} */ details) {
    const rows = [this.seeds, this.epochs, ...this.grids];
    const isOf = (/** @type {Row} */ row) => ({ path }) => isAt(path, row.path) || isAt(path, row.also);
    const own = new Map(rows.map((row) => [row, details.filter(isOf(row))]));
    for (const [row, problems] of own) {
      setText(row.problem, problems.map(({ path, message }) => `${path}: ${message}`).join("; "));
      setAttr(row.input, "aria-invalid", problems.length > 0 && "true");
    }
    const placed = new Set([...own.values()].flat());
    const words = ({ path, message }) => h("li", {}, path ? [h("code", {}, path), ": "] : [], message);
    this.problems.replaceChildren(...details.filter((detail) => !placed.has(detail)).map(words));
    if (details.length) (rows.find((row) => own.get(row)?.length)?.input ?? this.send).focus();
  }
}
