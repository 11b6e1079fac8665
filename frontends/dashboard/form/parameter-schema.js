// From a parameter's JSON schema to what a form must know about it.

import { configLabel } from "../kit/format.js";

/**
 * `axis`: may be a grid, or searched. `required`: has no default. `nullable`: none is a value.
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {string} hint
 * @property {any} standard the default
 * @property {boolean} required
 * @property {boolean} nullable
 * @property {boolean} axis
 * @property {string[]} scales of an axis between two ends
 * @property {string} kind
 * @property {any[]} [options]
 * @property {any} [item]
 */

const isNull = (part) => part.type === "null";
const isAxis = (part) => /\/(Grid|Range|Choice)$/.test(part.$ref ?? "");

/** Which field shows such a value: words, one of some, a number, a list, or nothing we know. */
function kindOf(inner) {
  if (inner.enum) return { kind: "enum", options: inner.enum };
  if (inner.const !== undefined) return { kind: "enum", options: [inner.const] };
  if (inner.anyOf) {
    const options = inner.anyOf.flatMap((part) => part.enum ?? (part.const === undefined ? [] : [part.const]));
    return { kind: "text", options };
  }
  if (inner.type === "boolean") return { kind: "boolean" };
  if (inner.type === "integer" || inner.type === "number") return { kind: "number" };
  if (inner.type === "string") return { kind: "text" };
  if (inner.type === "array" && inner.items?.enum) return { kind: "several", options: inner.items.enum };
  if (inner.type === "array" && ["integer", "number", "string"].includes(inner.items?.type)) return { kind: "list" };
  const values = inner.type === "object" && inner.additionalProperties;
  return values?.oneOf ? { kind: "map", item: values } : { kind: "other" };
}

/**
 * @param {string} name
 * @param {any} property
 * @param {{ required?: boolean, scales?: string[] }} [how]
 * @returns {Field}
 */
export function fieldOf(name, property, { required = false, scales = [] } = {}) {
  const parts = property.anyOf ?? [property];
  const nullable = parts.some(isNull);
  const own = nullable ? parts.filter((part) => !isNull(part)) : [property];
  const one = own.length === 1 ? own[0] : { anyOf: own };
  const axis = (one.oneOf ?? []).some(isAxis);
  const inner = axis ? one.oneOf.find((part) => !isAxis(part)) : one;
  const { default: standard, description: hint = "" } = property;
  return { name, label: configLabel(name), hint, standard, required, nullable, axis, scales, ...kindOf(inner) };
}

/** The fields of a named part or section, its name aside. */
export function fieldsOf(/** @type {Schema} */ schema) {
  const scales = schema.$defs?.Span?.properties.scale.enum ?? [];
  return Object.entries(schema.properties)
    .filter(([name]) => name !== "name")
    .map(([name, property]) => fieldOf(name, property, { required: schema.required?.includes(name), scales }));
}

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
