// Where an open trial lies against the baseline’s front of its seed: rows of facts, or a table along its curve.

import { h } from "../kit/dom.js";
import { capital, configLabel, metricLabel, number, setting } from "../kit/format.js";

const SIGNS =
  "Above 0 is better than the front, below it worse; one seed, so without an interval or a test. In brackets: " +
  "against the step through the baseline’s trials, and against the straight lines between them; between two of them " +
  "the front is not known.";
const BEYOND = "beyond its reach";
const NONE = "–";

/** @typedef {{ label: string, title?: string, text: (point: PointAgainstFront) => string }} Row */

const sign = (/** @type {number} */ value) => (value > 0 ? "+" : "") + number(value);
const yesOrNo = (/** @type {boolean} */ is) => (is ? "yes" : "no");

/** @param {FrontReading | null | undefined} reading */
const readings = (reading) =>
  reading ? `${sign(reading.told)} (${sign(reading.step)}, ${sign(reading.line)})` : NONE;

/** @param {PointAgainstFront} point */
function amounts(point) {
  const known = Object.entries(point.amounts_to).map(([key, value]) => `${configLabel(key)} ≈ ${setting(value)}`);
  return known.join(", ") || (point.beyond ? BEYOND : NONE);
}

/** What is told of each point. @param {Map<string, Metric>} metrics @param {Objective[]} objectives @returns {Row[]} */
function rows(metrics, objectives) {
  const dominated = { label: "dominated by it", text: (point) => yesOrNo(point.dominated) };
  if (objectives.length !== 2) return [dominated];
  const [first, second] = objectives.map(({ metric }) => metrics.get(metric) ?? { name: metric, label: metric, unit: "" });
  const gap = (/** @type {{ name: string, label: string, unit: string }} */ own, other) => ({
    label: `${metricLabel(own)} at the same ${other.label}`,
    text: (/** @type {PointAgainstFront} */ point) => readings(point.matched[own.name]),
  });
  return [
    {
      label: "distance to it",
      title: "in units of the objectives’ ranges",
      text: (point) => (point.beyond ? BEYOND : readings(point.distance)),
    },
    gap(second, first),
    gap(first, second),
    dominated,
    { label: "amounts to", title: "the setting of the baseline that lands there", text: amounts },
  ];
}

/** @param {TrialAgainstFront | null} against @param {Map<string, Metric>} metrics @param {Objective[]} objectives */
export function placeOf(against, metrics, objectives) {
  if (!against?.points.length) return [];
  const told = rows(metrics, objectives);
  const title = h("h3", {}, `Against the front of ${against.baseline}, same seed`);
  const note = h("p", { class: "muted" }, SIGNS);
  const [only] = against.points;
  if (!only.where) {
    const facts = told.flatMap((row) => [h("dt", { title: row.title }, row.label), h("dd", {}, row.text(only))]);
    return [title, h("dl", {}, facts), note];
  }
  const along = Object.keys(only.where);
  const heads = [...along.map((key) => ({ label: configLabel(key), title: undefined })), ...told];
  const head = h("tr", {}, heads.map((each) => h("th", { scope: "col", title: each.title }, capital(each.label))));
  const line = (/** @type {PointAgainstFront} */ point) =>
    h(
      "tr",
      {},
      along.map((key) => h("th", { scope: "row", class: "num" }, setting(point.where?.[key]))),
      told.map((row) => h("td", {}, row.text(point))),
    );
  const scrolled = { class: "scroll points", tabindex: "0", role: "region", "aria-label": "Points against the front" };
  const table = h("table", {}, h("thead", {}, head), h("tbody", {}, against.points.map(line)));
  return [title, h("div", scrolled, table), note];
}
