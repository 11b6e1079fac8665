// A study's spec as YAML a person would write: blocks outside, short maps in braces.

import { vocabulary } from "./vocabulary.js";

const WIDTH = 100;
const PLAIN = /^[\p{L}_][\p{L}\p{N}_ .-]*$/u;
const NOT_TEXT = /^(true|false|yes|no|on|off|null|y|n|nan|inf)$/i;
// What JSON leaves as it is, but YAML takes for the end of a line, or refuses.
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

const places = new Map(vocabulary.key_order.map((key, i) => [key, i]));
const place = (/** @type {string} */ key) => places.get(key) ?? places.size;

/** In the order people write; keys that are not in it follow as they came. */
const entries = (map) => Object.entries(map).sort(([a], [b]) => place(a) - place(b));

function quoted(/** @type {string} */ text) {
  const escaped = (/** @type {string} */ sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text).replace(UNSAFE, escaped);
}

/** A large number keeps its exponent: its digits would read as an exact integer, which it is not. */
const numeral = (/** @type {number} */ value) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);

function scalar(value) {
  if (value === null) return "null";
  if (typeof value === "number") return numeral(value);
  if (typeof value !== "string") return String(value);
  return PLAIN.test(value) && !NOT_TEXT.test(value) && value === value.trim() ? value : quoted(value);
}

const isNested = (value) => value !== null && typeof value === "object" && Object.keys(value).length > 0;
const holdsMaps = (value) => Object.values(value).some((part) => part !== null && typeof part === "object");

/** On one line. */
export function flow(value) {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (value === null || typeof value !== "object") return scalar(value);
  const pairs = entries(value).map(([key, part]) => `${scalar(key)}: ${flow(part)}`);
  return `{${pairs.join(", ")}}`;
}

/** An item of a list: on one line where it is short and flat. */
function itemLines(value, /** @type {number} */ indent) {
  const pad = " ".repeat(indent);
  const line = `${pad}- ${flow(value)}`;
  if (!isNested(value) || (!holdsMaps(value) && line.length <= WIDTH)) return [line];
  const inner = block(value, indent + 2);
  return [`${pad}- ${inner[0].trimStart()}`, ...inner.slice(1)];
}

/** A key with its value: on one line where that is short and no list of maps. */
function pairLines([key, value], /** @type {number} */ indent) {
  const pad = " ".repeat(indent);
  const line = `${pad}${scalar(key)}: ${flow(value)}`;
  if (!isNested(value)) return [line];
  const isListOfMaps = Array.isArray(value) && holdsMaps(value);
  if (!isListOfMaps && line.length <= WIDTH) return [line];
  return [`${pad}${scalar(key)}:`, ...block(value, indent + 2)];
}

/** @returns {string[]} */
function block(value, /** @type {number} */ indent) {
  if (Array.isArray(value)) return value.flatMap((part) => itemLines(part, indent));
  return entries(value).flatMap((pair) => pairLines(pair, indent));
}

export const toYaml = (spec) => `${block(spec, 0).join("\n")}\n`;

/** The comment that opens a text, with the empty line after it: a form that writes the rest anew keeps it. */
export const commentAbove = (/** @type {string} */ text) => text.match(/^(?:[ \t]*#[^\n]*\n)+\n*/)?.[0] ?? "";
