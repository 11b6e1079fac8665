// How values are written: three significant digits, units, times as 3 m 12 s. service/contract/wording/numbers.py
// writes the same texts; one table of values proves it.

import { vocabulary } from "./vocabulary.js";

const NONE = "–";
const MINUS = "−";
const DIGITS = 3;
const SMALLEST_PLAIN = 1e-4;
const SMALLEST_LARGE = 1e6;
const LARGEST_WHOLE = 1e15;
const LETTERS = new Map(Object.entries(vocabulary.letters));

const isKnown = (value) => value !== null && value !== undefined && Number.isFinite(value);
const signOf = (value) => (value < 0 ? MINUS : "");
const isPlain = (size) => size >= SMALLEST_PLAIN && size < SMALLEST_LARGE;
const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** 1234.5, 1 → "1,234.5". */
function fixed(size, places) {
  const [whole, part] = size.toFixed(places).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? grouped : `${grouped}.${part}`;
}

/** The rounded mantissa as text, and its power of ten. */
function powerOf(size, digits = DIGITS) {
  const [mantissa, exponent] = size.toExponential(digits - 1).split("e");
  return { mantissa, exponent: Number(exponent) };
}

const withPower = (mantissa, exponent) => `${mantissa}e${exponent < 0 ? MINUS : ""}${Math.abs(exponent)}`;

/** Places behind the point that show three significant digits. */
const placesOf = (value) => (value === 0 ? 2 : Math.max(0, 2 - powerOf(Math.abs(value)).exponent));

/** A measured value, always three significant digits: 0.920, 12.3, 1,230, 1.23e−5. */
export function number(value) {
  if (!isKnown(value)) return NONE;
  if (value === 0) return "0";
  const size = Math.abs(value);
  const { mantissa, exponent } = powerOf(size);
  if (!isPlain(size)) return signOf(value) + withPower(mantissa, exponent);
  return signOf(value) + fixed(Number(size.toPrecision(DIGITS)), placesOf(size));
}

function chosenNumber(value, digits = DIGITS) {
  const size = Math.abs(value);
  if (!isKnown(value)) return NONE;
  if (Number.isInteger(size) && size < LARGEST_WHOLE) return signOf(value) + String(size);
  const { mantissa, exponent } = powerOf(size, digits);
  if (!isPlain(size)) return signOf(value) + withPower(trimmed(mantissa), exponent);
  return signOf(value) + trimmed(Number(size.toPrecision(digits)).toFixed(Math.max(0, digits - 1 - exponent)));
}

/** A chosen value as it was meant: 0.01, 128, adam. */
export function setting(value) {
  if (value === null || value === undefined) return NONE;
  if (typeof value === "number") return chosenNumber(value);
  if (Array.isArray(value)) return `[${value.map(setting).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  const parts = Object.entries(value).map(([key, part]) => `${key}: ${setting(part)}`);
  return `{${parts.join(", ")}}`;
}

/**
 * "81.8 ± 0.9": the half width in the mean's decimals, or one digit of its own if those show none. Without a half
 * width, "31.2 and 34.6": the least and the largest value, which of two seeds are both.
 * @param {any} mean @param {any} halfWidth @param {number | null} low @param {number | null} high
 */
export function spread(mean, halfWidth, low = null, high = null) {
  if (halfWidth === null && low !== null && high !== null && low !== high) return `${number(low)} and ${number(high)}`;
  if (!isKnown(mean) || !isKnown(halfWidth)) return number(mean);
  const isFarFromOne = mean !== 0 && !isPlain(Math.abs(mean));
  if (isFarFromOne || halfWidth >= LARGEST_WHOLE) return `${number(mean)} ± ${number(halfWidth)}`;
  const shown = fixed(halfWidth, placesOf(mean));
  if (/[1-9]/.test(shown) || halfWidth === 0) return `${number(mean)} ± ${shown}`;
  const { mantissa, exponent } = powerOf(halfWidth, 1);
  return `${number(mean)} ± ${isPlain(halfWidth) ? halfWidth.toPrecision(1) : withPower(mantissa, exponent)}`;
}

/** What a mean in a table is, by how many seeds there are. */
export function overSeeds(seeds) {
  const few = ["no seed", "one seed, no interval", "two seeds, both values, no interval"];
  return few[seeds] ?? `mean ± 95 % interval over ${seeds} seeds`;
}

export function percent(share) {
  if (!isKnown(share)) return NONE;
  const value = 100 * share;
  if (value > 0 && value < 1) return "under 1 %";
  const shown = fixed(Math.abs(value), 0);
  return `${shown === "0" ? "" : signOf(value)}${shown} %`;
}

/** "50 % ± 18": both in points of a percent. */
export function percentSpread(mean, halfWidth) {
  if (!isKnown(halfWidth)) return percent(mean);
  const points = 100 * halfWidth;
  return `${percent(mean)} ± ${points > 0 && points < 1 ? "under 1" : fixed(points, 0)}`;
}

/** Of a percent, without its sign: "18", "under 1". */
const points = (share) => percent(share).replace(/ %$/, "");

/** "40 % (12 to 77)": a share with the ends of its interval, in points of a percent. */
export function percentRange(mean, lower, upper) {
  if (!isKnown(lower) || !isKnown(upper)) return percent(mean);
  return `${percent(mean)} (${points(lower)} to ${points(upper)})`;
}

/** "0.049 (0.031 to 0.077)": an interpolated setting with the ends of its interval, two digits each. */
export function settingRange(mean, lower, upper) {
  if (!isKnown(lower) || !isKnown(upper)) return setting(mean);
  return `${setting(mean)} (${chosenNumber(lower, 2)} to ${chosenNumber(upper, 2)})`;
}

/** 3 m 12 s. */
export function duration(seconds) {
  if (!isKnown(seconds)) return NONE;
  if (seconds < 0) return MINUS + duration(-seconds);
  if (seconds === 0) return "0 s";
  const whole = Number(seconds.toFixed(0));
  if (whole < 60) return seconds < 9.95 ? `${seconds.toFixed(1)} s` : `${whole} s`;
  const pad = (part) => String(part).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} m ${pad(whole % 60)} s` : `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
}

export const left = (seconds) => (seconds < 10 ? "under 10 s left" : `${duration(seconds)} left`);

/** "14:03" today, "2 Oct, 14:03" before. */
export function moment(iso) {
  if (!iso) return NONE;
  const at = new Date(iso);
  const time = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (at.toDateString() === new Date().toDateString()) return time;
  return `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}

/** A count: 12,345. */
export const whole = (count) => fixed(count, 0);

/** 1 trial, 12,345 trials. */
export function plural(count, word) {
  const text = whole(count);
  return `${text} ${word}${text === "1" ? "" : "s"}`;
}

/** "weighting.beta" -> "β", "weighting.name" -> "weighting". */
export function configLabel(/** @type {string} */ key) {
  const [own] = key.split(/\.name$/);
  const name = own.slice(own.lastIndexOf(".") + 1);
  return name.replaceAll("_", " ").split(" ").map((word) => LETTERS.get(word) ?? word).join(" ");
}

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {{ label: string, unit: string }} metric */
export const metricLabel = (metric) => (metric.unit ? `${metric.label} [${metric.unit}]` : metric.label);
