// The trial table: sorted by a click on a column, filtered by arm and state, two hundred rows at a time.

import { h, keyed, setAttr, setText, swatch } from "./dom.js";
import { capital, configLabel, duration, metricLabel, number, plural, setting } from "./format.js";

const STEP = 200;
const STATES = ["planned", "running", "finished", "failed", "stopped"];
const MOST_CONFIG_COLUMNS = 4;
const COLUMN_WIDTH = 94;

/** Configuration keys that differ between the trials of one arm. */
function variedKeys(trials) {
  const first = new Map();
  const varied = new Set();
  for (const trial of trials) {
    const known = first.get(trial.arm) ?? trial.config;
    first.set(trial.arm, known);
    for (const key of Object.keys(trial.config)) {
      if (JSON.stringify(known[key]) !== JSON.stringify(trial.config[key])) varied.add(key);
    }
  }
  return [...varied].slice(0, MOST_CONFIG_COLUMNS);
}

function stateOf(trial) {
  if (trial.state === "running" && trial.metrics.epoch) return `running, epoch ${trial.metrics.epoch}`;
  return trial.collapsed ? "finished, collapsed" : trial.state;
}

/** Numbers by size, the rest by letters, what is missing last whichever way. */
function compareBy(value, turned) {
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    const [noX, noY] = [x === null || x === undefined, y === null || y === undefined];
    if (noX || noY) return noX - noY;
    const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    return turned ? -order : order;
  };
}

export class TrialsTable {
  constructor(study, metrics, onPick) {
    this.looks = new Map(study.arms.map((arm) => [arm.name, arm]));
    this.metrics = metrics;
    this.onPick = onPick;
    this.trials = [];
    this.shown = STEP;
    this.sort = null;
    this.turned = false;
    this.selected = null;
    this.columnNames = "";
    const names = [...study.spec.objectives.map((objective) => objective.metric), "accuracy"];
    this.metricNames = [...new Set(names)];

    const options = (values) => [h("option", { value: "" }, "all"), ...values.map((value) => h("option", { value }, value))];
    this.armFilter = h("select", { onchange: () => this.#filtered() }, options([...this.looks.keys()]));
    this.stateFilter = h("select", { onchange: () => this.#filtered() }, options([...STATES, "collapsed", "on front"]));
    this.count = h("span", { class: "muted" });
    this.head = h("tr");
    this.body = h("tbody");
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.#showMore() }, "Show more");
    this.table = h("table", { class: "trials" }, h("thead", {}, this.head), this.body);
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row) this.onPick(row.dataset.trial);
    });
    this.element = h(
      "section",
      { class: "trials-panel", id: "trials" },
      h(
        "div",
        { class: "panel-head" },
        h("h2", {}, "Trials"),
        h("label", {}, "Arm ", this.armFilter),
        h("label", {}, "State ", this.stateFilter),
        this.count,
      ),
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Trials" }, this.table),
      this.more,
    );
  }

  /** Only trials in this state; used by links elsewhere on the page. */
  filterState(state) {
    this.stateFilter.value = state;
    this.#filtered();
    this.element.scrollIntoView({ block: "start" });
    this.stateFilter.focus({ preventScroll: true });
  }

  show(trials) {
    this.trials = trials;
    this.#makeColumns();
    this.#draw();
  }

  select(trial) {
    this.selected = trial;
    for (const row of this.body.children) setAttr(row, "aria-selected", row.dataset.trial === trial ? "true" : null);
  }

  #makeColumns() {
    const keys = variedKeys(this.trials);
    const metric = (name) => this.metrics.get(name) ?? { label: name, unit: "", doc: "" };
    this.columns = [
      { name: "arm", label: "Arm", value: (t) => t.arm },
      ...keys.map((key) => ({ name: key, label: configLabel(key), title: key, num: true, value: (t) => t.config[key], show: setting })),
      { name: "seed", label: "Seed", num: true, value: (t) => t.seed, show: String },
      { name: "state", label: "State", value: stateOf },
      ...this.metricNames.map((name) => {
        const { doc } = metric(name);
        return { name, label: capital(metricLabel(metric(name))), title: doc, num: true, value: (t) => t.metrics[name], show: number };
      }),
      { name: "training_seconds", label: "Training time", num: true, value: (t) => t.training_seconds, show: duration },
      { name: "on_front", label: "On front", value: (t) => (t.on_front ? "yes" : null), show: (v) => v ?? "" },
    ];
    const names = this.columns.map((column) => column.name).join();
    if (names === this.columnNames) return;
    this.columnNames = names;
    this.table.style.minWidth = `${COLUMN_WIDTH * this.columns.length}px`;
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
    if (this.sort !== name) [this.sort, this.turned] = [name, false];
    else if (!this.turned) this.turned = true;
    else [this.sort, this.turned] = [null, false];
    this.#draw();
  }

  #filtered() {
    this.shown = STEP;
    this.#draw();
  }

  #showMore() {
    this.shown += STEP;
    this.#draw();
  }

  #chosen() {
    const [arm, state] = [this.armFilter.value, this.stateFilter.value];
    const inState = (t) => !state || t.state === state || (state === "collapsed" && t.collapsed) || (state === "on front" && t.on_front);
    const chosen = this.trials.filter((t) => (!arm || t.arm === arm) && inState(t));
    const column = this.columns.find((candidate) => candidate.name === this.sort);
    return column ? chosen.sort(compareBy(column.value, this.turned)) : chosen;
  }

  #draw() {
    if (!this.columns) return;
    const chosen = this.#chosen();
    const rows = chosen.slice(0, this.shown);
    keyed(this.body, rows, (t) => t.id, (t) => this.#make(t), (row, t) => this.#update(row, t));
    const all = chosen.length === this.trials.length ? "" : ` of ${this.trials.length.toLocaleString("en")}`;
    const first = rows.length < chosen.length ? `first ${rows.length} of ` : "";
    setText(this.count, `${first}${plural(chosen.length, "trial")}${all}`);
    this.more.hidden = rows.length === chosen.length;
    for (const th of this.head.children) {
      const way = th.dataset.column === this.sort ? (this.turned ? "descending" : "ascending") : null;
      setAttr(th, "aria-sort", way);
    }
  }

  #make(trial) {
    const cells = this.columns.map((column, i) => h(i ? "td" : "th", { scope: i ? null : "row", class: column.num ? "num" : "" }));
    const look = this.looks.get(trial.arm) ?? {};
    cells[0].append(h("button", { type: "button", class: "arm link" }, swatch(look), trial.arm));
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
