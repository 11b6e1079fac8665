// What a study's metrics are, asked by their kind: no script goes by the name of a metric.

/** @typedef {Map<string, Metric>} Metrics */

/** @param {Study[]} studies @returns {Metrics} */
export const metricsOf = (...studies) =>
  new Map(studies.flatMap((study) => study.metrics).map((metric) => [metric.name, metric]));

/** Those that stand for themselves: no member of a family, no summary of one. @param {Metrics} metrics */
const plain = (metrics, kind) =>
  [...metrics.values()].filter((metric) => metric.kind === kind && !metric.family && !metric.summarises);

const names = (metrics) => metrics.map((metric) => metric.name);

/** What tables show of every trial: the objectives, and the accuracy on the test split. @param {Metrics} metrics */
export function shownFirst(metrics, objectives) {
  const accuracies = plain(metrics, "accuracy").filter((metric) => !metric.training_of);
  const wanted = [...objectives.map((objective) => objective.metric), ...names(accuracies)];
  return [...new Set(wanted)].filter((name) => metrics.has(name));
}

const MOST_ALONG = 6;

/** What is read along a curve: the same, and the accuracies under attack; few enough to be seen at once. */
export function alongCurve(/** @type {Metrics} */ metrics, objectives) {
  const attacked = [...metrics.values()].filter((metric) => metric.kind === "robustness" && !metric.validation_of);
  return [...shownFirst(metrics, objectives), ...names(attacked)].slice(0, MOST_ALONG);
}

/** The two plots of a trial: accuracy and bits of a bottleneck, else the objectives and the weights. */
export function curvesOf(/** @type {Metrics} */ metrics, objectives) {
  const relevance = plain(metrics, "relevance");
  if (relevance.length) {
    const bits = [...plain(metrics, "rate"), ...relevance];
    return [{ names: names(plain(metrics, "accuracy")) }, { names: names(bits), title: relevance[0].unit }];
  }
  const weights = [...metrics.values()].filter((metric) => metric.kind === "weight");
  return [{ names: objectives.map((objective) => objective.metric) }, { names: names(weights), title: "weights" }];
}

/** The name under which reports count epochs. @param {Metrics} metrics */
export const epochIn = (metrics) => plain(metrics, "epoch")[0]?.name;

/** Whether a metric tells of another one's estimator: it stands beside that one as a mark. @param {Metric} metric */
export const isCalibration = (metric) => metric.kind === "calibration";

/** Whether a metric is a time: tables show the training time of a trial anyway. @param {Metric} metric */
export const isTime = (metric) => metric.kind === "time";
