// Where an open trial lies against the baseline’s front of its seed: rows of facts, or a table along its curve.

import { h } from "../kit/dom.js";
import { capital, configLabel, metricLabel, number, setting } from "../kit/format.js";

const SIGNS =
  "Above 0 is better than the front, below it worse, 0 between its two readings; one seed, so without an interval or " +
  "a test.";
const BRACKETS =
  " In brackets both readings: against the step through the baseline’s trials, and against the straight lines " +
  "between them.";
const BEYOND = "beyond its reach";
const NONE = "–";

/**
 * What is told of a point; in a table in short.
 * @typedef {{ label: string, head: string, text: (point: PointAgainstFront) => string,
 *   brief: (point: PointAgainstFront) => string }} Row
 */

const sign = (/** @type {number} */ value) => (value > 0 ? "+" : "") + number(value);

/** @param {FrontReading | null | undefined} reading */
const told = (reading) => (reading ? sign(reading.told) : NONE);

/** @param {FrontReading | null | undefined} reading */
const readings = (reading) =>
  reading ? `${told(reading)} (${sign(reading.step)}, ${sign(reading.line)})` : NONE;

/** @param {PointAgainstFront} point */
function amounts(point) {
  const known = Object.entries(point.amounts_to).map(([key, value]) => `${configLabel(key)} ≈ ${setting(value)}`);
  return known.join(", ") || (point.beyond ? BEYOND : NONE);
}

/** @param {Map<string, Metric>} metrics @param {Objective[]} objectives @returns {Row[]} */
function rows(metrics, objectives) {
  const is = (/** @type {PointAgainstFront} */ point) => (point.dominated ? "yes" : "no");
  const dominated = { label: "dominated by it", head: "dominated", text: is, brief: is };
  if (objectives.length !== 2) return [dominated];
  const [first, second] = objectives.map(
    ({ metric }) => metrics.get(metric) ?? { name: metric, label: metric, unit: "" },
  );
  const gap = (/** @type {{ name: string, label: string, unit: string }} */ own, other) => ({
    label: `${metricLabel(own)} at the same ${other.label}`,
    head: `gap in ${metricLabel(own)}`,
    text: (/** @type {PointAgainstFront} */ point) => readings(point.matched[own.name]),
    brief: (/** @type {PointAgainstFront} */ point) => told(point.matched[own.name]),
  });
  return [
    {
      label: "distance to it, of the objectives’ ranges",
      head: "distance",
      text: (point) => (point.beyond ? BEYOND : readings(point.distance)),
      brief: (point) => (point.beyond ? "beyond" : told(point.distance)),
    },
    gap(second, first),
    gap(first, second),
    {
      label: "amounts to",
      head: "amounts to",
      text: amounts,
      brief: (point) => Object.values(point.amounts_to).map(setting).join(", ") || NONE,
    },
    dominated,
  ];
}

/** @param {TrialAgainstFront} against @param {string[]} along @param {Row[]} all */
function table(against, along, all) {
  const heads = [
    ...along.map((key) => h("th", { scope: "col", class: "num" }, configLabel(key))),
    ...all.map((row) => h("th", { scope: "col", class: "num", title: row.label }, capital(row.head))),
  ];
  const line = (/** @type {PointAgainstFront} */ point) =>
    h(
      "tr",
      {},
      along.map((key) => h("th", { scope: "row", class: "num" }, setting(point.where?.[key]))),
      all.map((row) => h("td", { class: "num", title: row.text(point) }, row.brief(point))),
    );
  const scrolled = { class: "scroll points", tabindex: "0", role: "region", "aria-label": "Points against the front" };
  const body = h("tbody", {}, against.points.map(line));
  return h("div", scrolled, h("table", {}, h("thead", {}, h("tr", {}, heads)), body));
}

/** @param {TrialAgainstFront | null} against @param {Map<string, Metric>} metrics @param {Objective[]} objectives */
export function placeOf(against, metrics, objectives) {
  if (!against?.points.length) return [];
  const all = rows(metrics, objectives);
  const title = h("h3", {}, `Against the front of ${against.baseline}, same seed`);
  const [only] = against.points;
  if (only.where) {
    return [title, table(against, Object.keys(only.where), all), h("p", { class: "signs muted" }, SIGNS)];
  }
  const facts = all.flatMap((row) => [h("dt", {}, row.label), h("dd", {}, row.text(only))]);
  return [title, h("dl", {}, facts), h("p", { class: "signs muted" }, SIGNS + BRACKETS)];
}
