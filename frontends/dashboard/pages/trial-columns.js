// The columns a table of trials can have: configuration, seed, state, metrics, times.

import { capital, configLabel, duration, metricLabel, moment, number, setting } from "../kit/format.js";
import { epochIn, isCalibration, isTime, shownFirst } from "../kit/metrics.js";

const MOST_CONFIG_COLUMNS = 4;

/**
 * `lit` gives the mark beside its text, where there is one.
 * @typedef {{
 *   name: string, label: string, title?: string, num?: boolean,
 *   text: (trial: Trial) => string, lit?: (trial: Trial) => MetricLight | undefined,
 * }} Column
 */

export class TrialColumns {
  /** @param {Map<string, Metric>} metrics @param {Objective[]} objectives */
  constructor(metrics, objectives) {
    this.first = shownFirst(metrics, objectives);
    /** @type {Column} */
    this.arm = { name: "arm", label: "Arm", text: (trial) => trial.arm };
    const epoch = epochIn(metrics);
    const stateOf = (/** @type {Trial} */ trial) => {
      if (trial.state === "running" && trial.metrics[epoch]) return `running, epoch ${trial.metrics[epoch]}`;
      if (trial.collapsed) return `${trial.state}, collapsed`;
      return trial.state === "finished" && trial.feasible === false ? "finished, infeasible" : trial.state;
    };
    const frontOf = (/** @type {Trial} */ trial) => (trial.on_front ? "yes" : trial.verifies ? "verifies" : "");
    const measured = [...metrics.values()].filter((metric) => !isTime(metric) && !isCalibration(metric));
    /** @type {Column[]} */
    this.fixed = [
      { name: "seed", label: "Seed", num: true, text: (trial) => String(trial.seed) },
      { name: "state", label: "State", text: stateOf },
      ...measured.map((metric) => this.#metric(metric)),
      { name: "training_seconds", label: "Training time", num: true, text: (t) => duration(t.training_seconds) },
      { name: "started_at", label: "Started", num: true, text: (trial) => moment(trial.started_at) },
      { name: "ended_at", label: "Ended", num: true, text: (trial) => moment(trial.ended_at) },
      { name: "host", label: "Host", text: (trial) => trial.host ?? "" },
      { name: "on_front", label: "On front", text: frontOf },
      { name: "places", label: "Points", num: true, text: (trial) => (trial.places ? String(trial.places) : "") },
    ];
  }

  /** @returns {Column} */
  #metric(/** @type {Metric} */ { name, doc, integer, ...metric }) {
    const show = integer ? setting : number;
    const label = capital(metricLabel(metric));
    const text = (/** @type {Trial} */ trial) => show(trial.metrics[name]);
    return { name, label, title: doc, num: true, text, lit: (trial) => trial.lights[name] };
  }

  /** All columns of a study with this configuration, and the names of those shown at first. */
  of(/** @type {TrialPage["columns"]} */ { config, varied }) {
    /** @type {Column[]} */
    const configured = config.map((key) => ({
      name: key,
      label: configLabel(key),
      title: key,
      num: true,
      text: (trial) => setting(trial.config[key]),
    }));
    const columns = [...configured, ...this.fixed];
    const own = ["seed", "state", "training_seconds", "on_front"];
    const usual = new Set([...varied.slice(0, MOST_CONFIG_COLUMNS), ...this.first, ...own]);
    return { columns, usual: columns.filter(({ name }) => usual.has(name)).map(({ name }) => name) };
  }
}
