// From a parameter's JSON schema to what a form must know about it.

import { configLabel } from "./format.js";

const NULL = (part) => part.type === "null";
const AXIS = (part) => /\/(Grid|Range|Choice)$/.test(part.$ref ?? "");

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
  if (inner.type === "object" && inner.additionalProperties?.oneOf) return { kind: "map", item: inner.additionalProperties };
  return { kind: "other" };
}

/** `axis`: may be a grid, or searched. `required`: has no default. `nullable`: none is a value. */
export function fieldOf(name, property, required = false) {
  const parts = property.anyOf ?? [property];
  const nullable = parts.some(NULL);
  const own = nullable ? parts.filter((part) => !NULL(part)) : [property];
  const one = own.length === 1 ? own[0] : { anyOf: own };
  const axis = (one.oneOf ?? []).some(AXIS);
  const inner = axis ? one.oneOf.find((part) => !AXIS(part)) : one;
  const { default: standard, description: hint = "" } = property;
  return { name, label: configLabel(name), hint, standard, required, nullable, axis, ...kindOf(inner) };
}

/** The fields of a named part or section, its name aside. */
export function fieldsOf(schema) {
  return Object.entries(schema.properties)
    .filter(([name]) => name !== "name")
    .map(([name, property]) => fieldOf(name, property, (schema.required ?? []).includes(name)));
}

export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
