// The trial table: the service sorts and filters, the page shows two hundred rows at a time, columns are the reader's.

import { get, studyPath } from "./api.js";
import { allChosen, chosen, choose } from "./address.js";
import { ColumnMenu } from "./columns.js";
import { h, keyed, setAttr, setText, swatch } from "./dom.js";
import { capital, configLabel, duration, metricLabel, moment, number, plural, setting } from "./format.js";

const STEP = 100;
const STATES = ["planned", "running", "finished", "failed", "stopped", "collapsed", "on front"];
const MOST_CONFIG_COLUMNS = 4;
const COLUMN_WIDTH = 94;
const PAUSE = 300;
const MOST_BRUSHED = 300;

function stateOf(trial) {
  if (trial.state === "running" && trial.metrics.epoch) return `running, epoch ${trial.metrics.epoch}`;
  return trial.collapsed ? "finished, collapsed" : trial.state;
}

export class TrialsTable {
  /** `onChange()` asks for a refresh; `brush` may narrow the table to what was brushed. */
  constructor(study, metrics, { onPick, onChange, brush }) {
    this.path = `${studyPath(study.id)}/trials`;
    this.looks = new Map(study.arms.map((arm) => [arm.name, arm]));
    this.metrics = metrics;
    this.onChange = onChange;
    this.brush = brush;
    this.shown = STEP;
    this.sort = chosen("sort");
    this.selected = null;
    this.columnNames = "";
    this.objectives = [...new Set([...study.spec.objectives.map((objective) => objective.metric), "accuracy"])].filter((name) => metrics.has(name));

    const options = (values, held) => [h("option", { value: "" }, "all"), ...values.map((value) => h("option", { value, selected: value === held }, value))];
    const changed = () => this.#changed();
    this.armFilter = h("select", { onchange: changed }, options([...this.looks.keys()], chosen("arm")));
    this.stateFilter = h("select", { onchange: changed }, options(STATES, chosen("state")));
    this.where = h("input", { type: "search", value: chosen("where") ?? "", placeholder: "accuracy > 0.9, seed = 0", "aria-describedby": "where-problem", spellcheck: "false" });
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
      const row = event.target.closest("tr");
      if (row) onPick(row.dataset.trial);
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

  /** Only trials in this state; used by links elsewhere on the page. */
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

  select(trial) {
    this.selected = trial;
    for (const row of this.body.children) setAttr(row, "aria-selected", row.dataset.trial === trial ? "true" : null);
  }

  /** The trial below (1) or above (−1) the open one, in the order of the table. */
  neighbour(step) {
    const ids = [...this.body.children].map((row) => row.dataset.trial);
    const place = ids.indexOf(this.selected);
    return place < 0 ? (ids[0] ?? null) : (ids[place + step] ?? null);
  }

  #changed() {
    this.shown = STEP;
    choose({
      arm: this.armFilter.value,
      state: this.stateFilter.value,
      where: this.where.value.trim(),
      sort: this.sort,
      only: this.onlyBrushed.checked && this.brush.trials ? "brushed" : null,
    });
    this.onChange();
  }

  #address() {
    const query = new URLSearchParams({ limit: this.shown });
    const state = this.stateFilter.value;
    if (this.armFilter.value) query.set("arm", this.armFilter.value);
    if (state === "on front") query.set("front", "true");
    else if (state === "collapsed") query.set("collapsed", "true");
    else if (state) query.set("state", state);
    if (this.where.value.trim()) query.set("where", this.where.value.trim());
    if (this.sort) query.set("sort", this.sort);
    if (this.onlyBrushed.checked && this.brush.trials) for (const trial of [...this.brush.trials].slice(0, MOST_BRUSHED)) query.append("trial", trial);
    return `${this.path}?${query}`;
  }

  async refresh() {
    let found;
    try {
      found = await get(this.#address());
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
    this.#makeColumns(found.columns);
    keyed(this.body, found.trials, (t) => t.id, (t) => this.#make(t), (row, t) => this.#update(row, t));
    const brushed = this.onlyBrushed.checked && this.brush.trials?.size > MOST_BRUSHED ? `of the first ${MOST_BRUSHED} selected: ` : "";
    const first = brushed + (found.trials.length < found.total ? `first ${found.trials.length} of ` : "");
    setText(this.count, `${first}${plural(found.total, "trial")}`);
    this.more.hidden = found.next === null;
    this.#markSort();
  }

  #available({ config, varied }) {
    const metric = (name) => this.metrics.get(name) ?? { label: name, unit: "", doc: "" };
    const usual = new Set([...varied.slice(0, MOST_CONFIG_COLUMNS), ...this.objectives, "seed", "state", "training_seconds", "on_front"]);
    const columns = [
      ...config.map((key) => ({ name: key, label: configLabel(key), title: key, num: true, value: (t) => t.config[key], show: setting })),
      { name: "seed", label: "Seed", num: true, value: (t) => t.seed, show: String },
      { name: "state", label: "State", value: stateOf },
      ...[...this.metrics.keys()].map((name) => {
        const { doc } = metric(name);
        return { name, label: capital(metricLabel(metric(name))), title: doc, num: true, value: (t) => t.metrics[name], show: number };
      }),
      { name: "training_seconds", label: "Training time", num: true, value: (t) => t.training_seconds, show: duration },
      { name: "started_at", label: "Started", num: true, value: (t) => t.started_at, show: moment },
      { name: "ended_at", label: "Ended", num: true, value: (t) => t.ended_at, show: moment },
      { name: "host", label: "Host", value: (t) => t.host, show: (v) => v ?? "" },
      { name: "on_front", label: "On front", value: (t) => (t.on_front ? "yes" : null), show: (v) => v ?? "" },
    ].filter(({ name }) => name !== "seconds");
    return { columns, usual: columns.filter(({ name }) => usual.has(name)).map(({ name }) => name) };
  }

  #makeColumns(found) {
    const { columns, usual } = this.#available(found);
    this.menu.offer(columns, usual);
    const known = this.menu.chosen.filter((name) => columns.some((column) => column.name === name));
    const wanted = new Set(known.length ? known : usual);
    this.columns = [{ name: "arm", label: "Arm", value: (t) => t.arm }, ...columns.filter(({ name }) => wanted.has(name))];
    const names = this.columns.map((column) => column.name).join();
    if (names === this.columnNames) return;
    this.columnNames = names;
    this.table.style.setProperty("--columns", String(COLUMN_WIDTH * this.columns.length));
    this.body.replaceChildren();
    this.body.knownRows?.clear();
    this.head.replaceChildren(
      ...this.columns.map((column) => {
        const button = h("button", { type: "button", class: "sort", onclick: () => this.#sortBy(column.name) }, column.label);
        return h("th", { scope: "col", class: column.num ? "num" : "", title: column.title, "data-column": column.name }, button);
      }),
    );
  }

  #sortBy(name) {
    this.sort = this.sort === name ? `-${name}` : this.sort === `-${name}` ? null : name;
    this.#changed();
  }

  #markSort() {
    for (const th of this.head.children) {
      const { column } = th.dataset;
      setAttr(th, "aria-sort", this.sort === column ? "ascending" : this.sort === `-${column}` ? "descending" : null);
    }
  }

  #showMore() {
    this.shown += STEP;
    this.onChange();
  }

  #make(trial) {
    const cells = this.columns.map((column, i) => h(i ? "td" : "th", { scope: i ? null : "row", class: column.num ? "num" : "" }));
    cells[0].append(h("button", { type: "button", class: "arm link" }, swatch(this.looks.get(trial.arm) ?? {}), trial.arm));
    return h("tr", { "data-trial": trial.id, "aria-selected": trial.id === this.selected ? "true" : null }, cells);
  }

  #update(row, trial) {
    this.columns.forEach((column, i) => {
      if (i === 0) return;
      const value = column.value(trial);
      setText(row.children[i], column.show ? column.show(value) : String(value));
    });
    row.dataset.state = trial.state;
    setAttr(row, "title", trial.reason);
  }
}
