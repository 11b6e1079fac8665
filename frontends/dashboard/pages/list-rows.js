// The rows of the list: one study each, kept while it changes, so that nothing jumps under the reader.

import { h, keyed, setAttr, setText } from "../kit/dom.js";
import { left, moment, percent } from "../kit/format.js";
import { progressBar, setProgress } from "../kit/progress.js";
import { Spark } from "../figures/spark.js";
import { swatch } from "../kit/swatch.js";
import { lookOf, stateWords } from "../kit/state-words.js";
import { tagLink } from "./notes.js";

const hypervolume = (/** @type {ListedStudy} */ study) => study.spark?.at(-1) ?? -1;

// Title, class of the head's cell, and what sorting goes by; the first click sorts text upwards and numbers downwards.
/**
 * @typedef {{ name: string, title: string, kind?: string, by?: (study: ListedStudy) => string | number }} ListColumn
 * @type {ListColumn[]}
 */
const COLUMNS = [
  { name: "select", title: "Select", kind: "pick" },
  { name: "study", title: "Study", by: (study) => study.name.toLowerCase() },
  { name: "state", title: "State", by: lookOf },
  { name: "progress", title: "Progress", by: (study) => study.progress },
  { name: "trials", title: "Trials", kind: "num", by: (study) => study.counts.planned },
  { name: "failed", title: "Failed", kind: "num", by: (study) => study.counts.failed },
  { name: "arms", title: "Arms", kind: "wide", by: (study) => study.arms.length },
  { name: "hypervolume", title: "Hypervolume", by: hypervolume },
  { name: "created", title: "Created", kind: "num wide", by: (study) => study.created_at },
];

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Sorted by "name" or "-name" of a column; as they came for anything else. */
export function sorted(/** @type {ListedStudy[]} */ studies, /** @type {string} */ sort) {
  const { by } = COLUMNS.find(({ name }) => name === sort.replace(/^-/, "")) ?? {};
  if (!by) return studies;
  const turn = sort.startsWith("-") ? -1 : 1;
  return [...studies].sort((a, b) => turn * compare(by(a), by(b)));
}

export class Rows {
  /** `onSelect(id, checked)`, `onSort(sort)`: what the reader did; `isSelected(id)`, `isFull()`: what is chosen. */
  constructor({ onSelect, onSort, isSelected, isFull }) {
    this.onSelect = onSelect;
    this.onSort = onSort;
    this.isSelected = isSelected;
    this.isFull = isFull;
    this.sort = "";
    /** @type {WeakMap<Element, Spark>} */
    this.sparks = new WeakMap();
    /** @type {Map<string, HTMLElement>} */
    this.heads = new Map();
    this.body = h("tbody");
    const heads = COLUMNS.map((column) => this.#head(column));
    this.table = h("table", { class: "studies" }, h("thead", {}, h("tr", {}, heads)), this.body);
    this.element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Studies" }, this.table);
  }

  #head(/** @type {ListColumn} */ { name, title, kind = "", by }) {
    if (!by) return h("th", { scope: "col", class: kind }, h("span", { class: "unseen" }, title));
    const button = h("button", { type: "button", class: "sort" }, title);
    const head = h("th", { scope: "col", class: kind }, button);
    button.addEventListener("click", () => this.onSort(this.#next(name)));
    this.heads.set(name, head);
    return head;
  }

  /** One click sorts, the second turns it round, the third gives the newest first again. */
  #next(name) {
    const first = name === "study" || name === "state" ? name : `-${name}`;
    const second = first === name ? `-${name}` : name;
    return this.sort === first ? second : this.sort === second ? "" : first;
  }

  show(studies, sort) {
    this.sort = sort;
    for (const [name, head] of this.heads) {
      setAttr(head, "aria-sort", sort === name ? "ascending" : sort === `-${name}` ? "descending" : null);
    }
    const make = (/** @type {ListedStudy} */ study) => this.#make(study);
    keyed(this.body, sorted(studies, sort), (study) => study.id, make, (row, study) => this.#update(row, study));
  }

  #make(/** @type {ListedStudy} */ study) {
    const box = h("input", { type: "checkbox", "aria-label": `Select ${study.name}` });
    box.addEventListener("change", () => this.onSelect(study.id, box.checked));
    const arms = study.arms.map((arm) => h("span", { class: "arm" }, swatch(arm), arm.name));
    const spark = new Spark();
    const link = h("a", { href: `/studies/${encodeURIComponent(study.id)}` });
    const row = h(
      "tr",
      {},
      h("td", { class: "pick" }, box),
      h("th", { scope: "row" }, link, h("span", { class: "tags" }), h("p", { class: "excerpt muted" })),
      h("td", { class: "state" }),
      h("td", { class: "bar-cell" }, progressBar(), h("span", { class: "muted eta" })),
      h("td", { class: "num trials-cell" }),
      h("td", { class: "num failed-cell" }),
      h("td", { class: "wide arms-cell" }, arms),
      h("td", { class: "spark-cell" }, spark.element, h("p", { class: "flattered muted", hidden: true })),
      h("td", { class: "num wide", title: study.created_at }, moment(study.created_at)),
    );
    this.sparks.set(row, spark);
    return row;
  }

  #update(/** @type {HTMLElement} */ row, /** @type {ListedStudy} */ study) {
    const [pick, title, state, bar, trials, failed] = /** @type {any[]} */ ([...row.children]);
    const box = pick.firstElementChild;
    const [link, tags, excerpt] = title.children;
    setText(link, study.name);
    setText(excerpt, study.excerpt ?? "");
    const marks = [study.pinned ? "pinned" : null, ...(study.tags ?? [])].filter((each) => each !== null);
    if (marks.join("\n") !== tags.dataset.marks) {
      tags.dataset.marks = marks.join("\n");
      const pin = study.pinned ? [h("span", { class: "tag pin" }, "pinned")] : [];
      tags.replaceChildren(...pin, ...(study.tags ?? []).map(tagLink));
    }
    box.checked = this.isSelected(study.id);
    box.disabled = !box.checked && this.isFull();
    setText(state, study.state === "running" ? lookOf(study) : stateWords(study));
    state.dataset.state = lookOf(study);
    setAttr(state, "title", study.reason);
    setProgress(bar.firstElementChild, study);
    const share = percent(study.progress);
    setText(bar.lastElementChild, study.eta_seconds === null ? share : `${share} · ${left(study.eta_seconds)}`);
    setText(trials, `${study.counts.finished}/${study.counts.planned}`);
    setText(failed, String(study.counts.failed));
    failed.classList.toggle("bad", study.counts.failed > 0);
    this.sparks.get(row)?.set(study.spark);
    const flattered = /** @type {HTMLElement} */ (row.querySelector(".flattered"));
    flattered.hidden = !study.flattered || !study.spark?.length;
    setText(flattered, study.flattered?.split(",")[0] ?? "");
    setAttr(flattered, "title", study.flattered ?? null);
  }
}
