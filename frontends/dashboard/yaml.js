// A study's spec as YAML a person would write: blocks outside, short maps in braces.

const WIDTH = 100;
const PLAIN = /^[\p{L}_][\p{L}\p{N}_ .-]*$/u;
const NOT_TEXT = /^(true|false|yes|no|on|off|null|y|n|nan|inf)$/i;

// The order people write; keys that are not here follow as they came.
const ORDER = [
  "name", "data", "model", "training", "seeds", "objectives", "arms", "evaluation", "resources", "limits",
  "problem", "weighting", "search", "metric", "goal", "from", "to", "count", "scale",
  "epochs", "batch_size", "learning_rate", "optimizer", "channels", "widths", "latent", "rate", "main",
];
const place = (key) => (ORDER.includes(key) ? ORDER.indexOf(key) : ORDER.length);
const entries = (map) => Object.entries(map).sort(([a], [b]) => place(a) - place(b));

function scalar(value) {
  if (value === null) return "null";
  if (typeof value !== "string") return String(value);
  return PLAIN.test(value) && !NOT_TEXT.test(value) && value === value.trim() ? value : JSON.stringify(value);
}

export function flow(value) {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{${entries(value).map(([key, part]) => `${scalar(key)}: ${flow(part)}`).join(", ")}}`;
  }
  return scalar(value);
}

function block(value, indent) {
  const pad = " ".repeat(indent);
  if (Array.isArray(value)) {
    return value.flatMap((part) => {
      const line = flow(part);
      const nested = part !== null && typeof part === "object" && Object.keys(part).length > 0;
      const holdsMaps = nested && Object.values(part).some((inner) => inner !== null && typeof inner === "object");
      if (!nested || (!holdsMaps && line.length + indent + 2 <= WIDTH)) return [`${pad}- ${line}`];
      const inner = block(part, indent + 2);
      return [`${pad}- ${inner[0].trimStart()}`, ...inner.slice(1)];
    });
  }
  return entries(value).flatMap(([key, part]) => {
    const line = `${pad}${scalar(key)}: ${flow(part)}`;
    const isListOfMaps = Array.isArray(part) && part.some((inner) => inner !== null && typeof inner === "object");
    if (part === null || typeof part !== "object" || Object.keys(part).length === 0) return [line];
    if (!isListOfMaps && line.length <= WIDTH) return [line];
    return [`${pad}${scalar(key)}:`, ...block(part, indent + 2)];
  });
}

export const toYaml = (spec) => `${block(spec, 0).join("\n")}\n`;

/** The comment that opens a text, with the empty line after it: a form that writes the rest anew keeps it. */
export const commentAbove = (text) => text.match(/^(?:[ \t]*#[^\n]*\n)+\n*/)?.[0] ?? "";
