// Values as they are typed, and back: 0.001, adam, "64, 64", none.

/** A number where it reads as one, else the text: the service says what is wrong with it. */
export function parsed(/** @type {string} */ text) {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

export function parsedList(/** @type {string} */ text) {
  if (text.trim() === "none") return [];
  return text.split(",").map((part) => part.trim()).filter(Boolean).map(parsed);
}

export function shown(value) {
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length ? value.map(shown).join(", ") : "none";
  return String(value ?? "");
}

/**
 * From the typed text of a field to its value; undefined where it is empty, which means the default.
 * @param {import("./parameter-schema.js").Field} field
 * @param {string} text
 */
export function typed(field, text) {
  if (text.trim() === "") return undefined;
  if (field.nullable && text.trim() === "none") return null;
  if (field.kind === "list") return parsedList(text);
  return field.kind === "text" && !field.options?.length ? text.trim() : parsed(text);
}
