// How values are written: three significant digits, units, times as 3 m 12 s.

const NONE = "–";
const signed = (text) => text.replace("-", "−");

/** A measured value, always three significant digits: 0.920, 12.3, 1.20e−5. */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) return signed(value.toExponential(2));
  const options = { minimumSignificantDigits: 3, maximumSignificantDigits: 3 };
  return signed(value.toLocaleString("en", options));
}

/** A chosen value as it was meant: 0.01, 128, adam. */
export function setting(value) {
  if (typeof value === "boolean" || value === null || value === undefined) return String(value ?? NONE);
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value !== "number") return String(value);
  return signed(String(Number.isInteger(value) ? value : Number(value.toPrecision(3))));
}

/** "81.8 ± 0.9": the half width in the mean's decimals, or one digit of its own if those show none. */
export function interval(mean, halfWidth) {
  if (mean === null || mean === undefined) return NONE;
  if (halfWidth === null || halfWidth === undefined) return number(mean);
  const decimals = mean === 0 ? 2 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(mean))));
  const half = Number(halfWidth.toFixed(decimals)) === 0 && halfWidth > 0 ? halfWidth.toPrecision(1) : halfWidth.toFixed(decimals);
  return `${number(mean)} ± ${half}`;
}

export function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return NONE;
  const value = 100 * share;
  return `${value > 0 && value < 1 ? "under 1" : Math.round(value)} %`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return NONE;
  const whole = Math.round(seconds);
  if (seconds === 0) return "0 s";
  if (whole < 60) return seconds < 9.95 ? `${seconds.toFixed(1)} s` : `${whole} s`;
  const pad = (part) => String(part).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} m ${pad(whole % 60)} s` : `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
}

export const left = (seconds) => (seconds < 10 ? "under 10 s left" : `${duration(Math.round(seconds))} left`);

/** "14:03" today, "2 Oct, 14:03" before. */
export function moment(iso) {
  if (!iso) return NONE;
  const at = new Date(iso);
  const time = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (at.toDateString() === new Date().toDateString()) return time;
  return `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

/** "weighting.beta" -> "β". */
export const configLabel = (key) => key.split(".").at(-1).replace(/^beta$/, "β").replace(/^mu$/, "μ").replaceAll("_", " ");

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export const metricLabel = (metric) => (metric.unit ? `${metric.label} [${metric.unit}]` : metric.label);

export const ENDED = ["finished", "failed", "cancelled"];

const seconds = (from, to) => (new Date(to) - new Date(from)) / 1000;

/** The state of a study in words. */
export function stateWords(study) {
  const { planned, finished } = study.counts;
  const took = study.started_at && study.ended_at ? duration(seconds(study.started_at, study.ended_at)) : null;
  switch (study.state) {
    case "queued":
      return study.queue_position ? `queued, place ${study.queue_position} in the queue` : "queued";
    case "running": {
      const eta = study.eta_seconds === null ? "" : ` · ${left(study.eta_seconds)}`;
      return `running ${finished}/${planned}${eta}`;
    }
    case "finished":
      return took ? `finished in ${took}` : "finished";
    case "cancelled":
      return `cancelled, ${finished} of ${planned} trials finished`;
    case "failed":
      return took ? `failed after ${took}` : "failed";
    default:
      return `${study.state} ${finished}/${planned}`;
  }
}
