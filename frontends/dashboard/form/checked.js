// What the service says about a study before it runs: its trials and their cost, or what must be corrected.

import { h, setText } from "../kit/dom.js";
import { capital, duration, plural, whole } from "../kit/format.js";
import { swatch } from "../kit/swatch.js";

/** "About 1 m 10 s in all, 25 s of training." */
function costWords(/** @type {CostEstimate} */ { training_seconds: training, wall_seconds: wall }) {
  if (training === null) return "How long it takes is not known yet.";
  if (wall === null) return `About ${duration(training)} of training.`;
  return `About ${duration(wall)} in all, ${duration(training)} of training.`;
}

export class Checked {
  /** `onLine(line)` and `onField(path)` go to where an error is; `isForm()` tells which view is open. */
  constructor({ onLine, onField, isForm }) {
    this.onLine = onLine;
    this.onField = onField;
    this.isForm = isForm;
    /** @type {Detail[]} */
    this.details = [];
    this.words = h("p", { class: "check-words" }, "Checking …");
    this.cost = h("p", { class: "check-cost" });
    this.basis = h("p", { class: "muted check-basis" });
    this.list = h("ul", { class: "errors" });
    this.warnings = h("ul", { class: "warnings", "aria-label": "Warnings" });
    /** @type {Detail[]} */
    this.cautions = [];
    this.short = h("span", { class: "run-words muted", "aria-hidden": "true" }); // where the rest is out of sight
    this.table = h("div", {});
    const status = h("div", { role: "status" }, this.words, this.cost);
    this.element = h("div", { id: "check", class: "check" }, status, this.basis, this.table, this.warnings, this.list);
  }

  #say(/** @type {string} */ words, isBad = false) {
    setText(this.words, words);
    setText(this.short, words);
    this.words.classList.toggle("bad", isBad);
    this.short.classList.toggle("bad", isBad);
  }

  #clear() {
    setText(this.cost, "");
    setText(this.basis, "");
    this.table.replaceChildren();
    this.list.replaceChildren();
    this.details = [];
    this.cautions = [];
    this.redraw();
  }

  unreachable() {
    this.#clear();
    this.#say("Not checked: the service cannot be reached.");
  }

  /** `details` of an error, or the error itself where it has none. */
  showErrors(/** @type {{ message: string, details?: Detail[] }} */ error) {
    this.#clear();
    this.details = error.details?.length ? error.details : [{ path: "", message: error.message }];
    this.#say(this.details.length === 1 ? "One thing to correct" : `${this.details.length} things to correct`, true);
    this.redraw();
    return this.details;
  }

  /** Errors and warnings again, with the links that the open view needs. */
  redraw() {
    const row = (detail) => h("li", {}, this.#link(detail), ...this.#text(detail));
    this.list.replaceChildren(...this.details.map(row));
    this.warnings.replaceChildren(...this.cautions.map(row));
  }

  #link(/** @type {Detail} */ { path, line }) {
    const button = (text, act) => h("button", { type: "button", class: "link", onclick: act }, text);
    if (this.isForm()) return path ? button(path, () => this.onField(path)) : null;
    return line ? button(`line ${line}`, () => this.onLine(line)) : null;
  }

  #text(/** @type {Detail} */ { path, message, line }) {
    const isLinked = this.isForm() && path;
    const place = path && !isLinked ? [line ? " " : "", h("code", {}, path)] : [];
    return [...place, path ? ": " : line ? " " : "", message];
  }

  showCount(/** @type {ValidStudy} */ { trials, arms, cost, warnings }) {
    this.#clear();
    this.cautions = warnings;
    this.redraw();
    this.#say(`${plural(trials, "trial")} in ${plural(arms.length, "arm")}`);
    setText(this.cost, costWords(cost));
    setText(this.basis, cost.training_seconds === null ? `${capital(cost.basis)}.` : `By ${cost.basis}.`);
    const seconds = new Map(cost.arms.map((arm) => [arm.name, arm.training_seconds]));
    const head = (name, i) => h("th", { scope: "col", class: i ? "num" : "" }, name);
    const heads = ["Arm", "Trials", "Training"].map(head);
    const rows = arms.map((arm) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, h("span", { class: "arm" }, swatch(arm), h("span", {}, arm.name))),
        h("td", { class: "num" }, whole(arm.trials)),
        h("td", { class: "num" }, duration(seconds.get(arm.name))),
      ),
    );
    this.table.replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
  }
}
