// The trial table: the service sorts and filters, the page shows a hundred rows at a time, columns are the reader's.

import { allChosen, chosen, choose } from "../kit/address.js";
import { get, studyPath } from "../kit/api.js";
import { clearRows, h, keyed, setAttr, setText } from "../kit/dom.js";
import { capital, plural } from "../kit/format.js";
import { setLit } from "../kit/light.js";
import { swatch } from "../kit/swatch.js";
import { vocabulary } from "../kit/vocabulary.js";
import { ColumnMenu } from "./columns.js";
import { TrialColumns } from "./trial-columns.js";

const STEP = 100;
const COLUMN_WIDTH = 94;
const PAUSE = 300;
const MOST_BRUSHED = 300; // ids in one address
const MIDDLE = "; of those with many points, values at the middle of their range";

// What a trial can be besides its state, and how it is asked for.
const ALSO = {
  collapsed: { collapsed: "true" },
  infeasible: { feasible: "false" },
  "on front": { front: "true" },
};

function choices(values, held) {
  const options = values.map((value) => h("option", { value, selected: value === held }, value));
  return [h("option", { value: "" }, "all"), ...options];
}

/** @typedef {import("../figures/brush.js").Brush} Brush */

export class TrialsTable {
  /**
   * `onChange()` asks for a refresh; `brush` may narrow the table to what was brushed.
   * @param {Study} study
   * @param {Map<string, Metric>} metrics
   * @param {{ onPick: (trial: string) => void, onChange: () => void, brush: Brush }} reader
   */
  constructor(study, metrics, { onPick, onChange, brush }) {
    this.path = `${studyPath(study.id)}/trials`;
    this.looks = new Map(study.arms.map((arm) => [arm.name, arm]));
    this.offer = new TrialColumns(metrics, study.spec.objectives);
    this.onChange = onChange;
    this.brush = brush;
    this.shown = STEP;
    this.sort = chosen("sort");
    /** @type {string | null} */
    this.selected = null;
    /** @type {import("./trial-columns.js").Column[]} */
    this.columns = [];

    const changed = () => this.#changed();
    const states = [...vocabulary.trial_states, ...Object.keys(ALSO)];
    this.armFilter = h("select", { onchange: changed }, choices([...this.looks.keys()], chosen("arm")));
    this.stateFilter = h("select", { onchange: changed }, choices(states, chosen("state")));
    this.where = h("input", {
      type: "search",
      value: chosen("where") ?? "",
      placeholder: "accuracy > 0.9, seed = 0",
      "aria-describedby": "where-problem",
      spellcheck: "false",
    });
    this.where.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(changed, PAUSE);
    });
    this.onlyBrushed = h("input", { type: "checkbox", onchange: changed, checked: chosen("only") === "brushed" });
    this.brushedLabel = h("label", { hidden: brush.trials === null }, this.onlyBrushed, " selected only");
    this.problem = h("span", { id: "where-problem", class: "bad", role: "alert" });
    this.menu = new ColumnMenu(allChosen("column"), () => {
      choose({ column: this.menu.chosen });
      this.onChange();
    });
    this.count = h("span", { class: "muted", role: "status" });
    this.head = h("tr");
    this.body = h("tbody");
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.#showMore() }, "Show more");
    this.table = h("table", { class: "trials" }, h("thead", {}, this.head), this.body);
    this.body.addEventListener("click", (event) => {
      const row = /** @type {Element} */ (event.target).closest("tr");
      if (row?.dataset.trial) onPick(row.dataset.trial);
    });
    brush.onChange(() => {
      this.brushedLabel.hidden = brush.trials === null;
      if (this.onlyBrushed.checked) this.#changed();
    });
    this.element = h(
      "section",
      { class: "trials-panel", id: "trials", "aria-label": "Trials" },
      h(
        "div",
        { class: "panel-head filters" },
        h("label", {}, "Arm ", this.armFilter),
        h("label", {}, "State ", this.stateFilter),
        h("label", {}, "Where ", this.where),
        this.brushedLabel,
        this.menu.element,
        this.count,
      ),
      this.problem,
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of trials" }, this.table),
      this.more,
    );
  }

  /** Only trials in this state; used by links elsewhere on the page. @param {string} state */
  filterState(state) {
    this.stateFilter.value = state;
    this.#changed();
    this.element.scrollIntoView({ block: "start" });
    this.stateFilter.focus({ preventScroll: true });
  }

  filterBrushed() {
    this.onlyBrushed.checked = true;
    this.#changed();
    this.element.scrollIntoView({ block: "start" });
  }

  get rows() {
    return /** @type {HTMLTableRowElement[]} */ ([...this.body.children]);
  }

  select(/** @type {string | null} */ trial) {
    this.selected = trial;
    for (const row of this.rows) setAttr(row, "aria-selected", row.dataset.trial === trial ? "true" : null);
  }

  /** The trial below (1) or above (−1) the open one, in the order of the table. @param {number} step */
  neighbour(step) {
    const ids = this.rows.map((row) => row.dataset.trial);
    const place = this.selected === null ? -1 : ids.indexOf(this.selected);
    return place < 0 ? (ids[0] ?? null) : (ids[place + step] ?? null);
  }

  /** The brushed trials where only those are wanted. */
  get brushed() {
    return this.onlyBrushed.checked && this.brush.trials ? [...this.brush.trials] : null;
  }

  #changed() {
    this.shown = STEP;
    choose({
      arm: this.armFilter.value,
      state: this.stateFilter.value,
      where: this.where.value.trim(),
      sort: this.sort,
      only: this.brushed ? "brushed" : null,
    });
    this.onChange();
  }

  #address() {
    const query = new URLSearchParams({ limit: String(this.shown) });
    const state = this.stateFilter.value;
    const asked = ALSO[state] ?? (state ? { state } : {});
    const where = this.where.value.trim();
    if (this.armFilter.value) query.set("arm", this.armFilter.value);
    for (const [name, value] of Object.entries(asked)) query.set(name, value);
    if (where) query.set("where", where);
    if (this.sort) query.set("sort", this.sort);
    for (const trial of this.brushed?.slice(0, MOST_BRUSHED) ?? []) query.append("trial", trial);
    return `${this.path}?${query}`;
  }

  async refresh() {
    /** @type {TrialPage} */
    let page;
    try {
      page = await get(this.#address());
    } catch (error) {
      if (error.status !== 422) throw error;
      if (error.details[0]?.path === "sort") {
        this.sort = null; // of another study, or an old link
        choose({ sort: null });
        return this.refresh();
      }
      setText(this.problem, capital(error.message));
      return;
    }
    setText(this.problem, "");
    this.#makeColumns(page.columns);
    keyed(this.body, page.trials, (t) => t.id, (t) => this.#make(t), (row, t) => this.#update(row, t));
    const isCut = (this.brushed?.length ?? 0) > MOST_BRUSHED;
    const brushed = isCut ? `of the first ${MOST_BRUSHED} selected: ` : "";
    const part = page.trials.length < page.total ? `first ${page.trials.length} of ` : "";
    const curves = page.trials.some((trial) => trial.places > 1) ? MIDDLE : "";
    setText(this.count, `${brushed}${part}${plural(page.total, "trial")}${curves}`);
    this.more.hidden = page.next === null;
    this.#markSort();
  }

  #makeColumns(/** @type {TrialPage["columns"]} */ varying) {
    const { columns, usual } = this.offer.of(varying);
    this.menu.offer(columns, usual);
    const known = this.menu.chosen.filter((name) => columns.some((column) => column.name === name));
    const wanted = new Set(known.length ? known : usual);
    const shown = [this.offer.arm, ...columns.filter(({ name }) => wanted.has(name))];
    const names = (list) => list.map((column) => column.name).join();
    if (names(shown) === names(this.columns)) return;
    this.columns = shown;
    this.table.style.setProperty("--columns", String(COLUMN_WIDTH * shown.length));
    clearRows(this.body);
    this.head.replaceChildren(
      ...shown.map(({ name, label, title, num }) => {
        const button = h("button", { type: "button", class: "sort", onclick: () => this.#sortBy(name) }, label);
        return h("th", { scope: "col", class: num ? "num" : "", title, "data-column": name }, button);
      }),
    );
  }

  /** One click sorts upwards, the second downwards, the third as the service has them. @param {string} name */
  #sortBy(name) {
    this.sort = this.sort === name ? `-${name}` : this.sort === `-${name}` ? null : name;
    this.#changed();
  }

  #markSort() {
    for (const head of /** @type {HTMLElement[]} */ ([...this.head.children])) {
      const { column } = head.dataset;
      const order = this.sort === column ? "ascending" : this.sort === `-${column}` ? "descending" : null;
      setAttr(head, "aria-sort", order);
    }
  }

  #showMore() {
    this.shown += STEP;
    this.onChange();
  }

  #make(/** @type {Trial} */ trial) {
    const mark = swatch(this.looks.get(trial.arm) ?? {});
    const name = h("th", { scope: "row" }, h("button", { type: "button", class: "arm link" }, mark, trial.arm));
    const cells = this.columns.slice(1).map((column) => h("td", { class: column.num ? "num" : "" }));
    const selected = trial.id === this.selected ? "true" : null;
    return h("tr", { "data-trial": trial.id, "aria-selected": selected }, name, cells);
  }

  #update(/** @type {HTMLElement} */ row, /** @type {Trial} */ trial) {
    this.columns.slice(1).forEach((column, i) => setLit(row.children[i + 1], column.text(trial), column.lit?.(trial)));
    row.dataset.state = trial.state;
    setAttr(row, "title", trial.reason);
  }
}
