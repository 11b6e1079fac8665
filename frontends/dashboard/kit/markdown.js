// Notes in Markdown as elements: headings, paragraphs, lists, quotes, code, emphasis and links. Text stays text.

import { h } from "./dom.js";

const INLINE = /`([^`]+)`|\*\*(?!\s)([^*]+)(?<!\s)\*\*|\*(?![\s*])([^*]+)(?<!\s)\*|\[([^\]]+)\]\(([^)\s]+)\)/;
const ITEM = /^\s*(?:[-*]|\d+[.)])\s+/;

/** An address that a reader may be led to: of the web, or of this service. @param {string} address */
const isSafe = (address) => /^https?:\/\//i.test(address) || /^\/(?!\/)/.test(address);

function linked(/** @type {string} */ label, /** @type {string} */ address) {
  return isSafe(address) ? h("a", { href: address, rel: "noopener noreferrer" }, label) : `[${label}](${address})`;
}

/** The words of a line, with what stands out in them. @param {string} text @returns {any[]} */
function words(text) {
  const match = INLINE.exec(text);
  if (!match) return [text];
  const [whole, code, strong, soft, label, address] = match;
  const mark = code
    ? h("code", {}, code)
    : strong
      ? h("strong", {}, ...words(strong))
      : soft
        ? h("em", {}, ...words(soft))
        : linked(label, address);
  return [text.slice(0, match.index), mark, ...words(text.slice(match.index + whole.length))];
}

/** Lines of one paragraph, broken as they were written. @param {string[]} lines */
const broken = (lines) => lines.flatMap((line, i) => (i ? [h("br"), ...words(line)] : words(line)));

/** @param {string[]} lines @returns {HTMLElement} */
function block(lines) {
  const heading = /^(#{1,3})\s+(.*)$/.exec(lines[0]);
  if (heading) return h(heading[1].length === 1 ? "h3" : "h4", {}, words(heading[2]));
  if (lines.every((line) => line.startsWith(">"))) {
    return h("blockquote", {}, broken(lines.map((line) => line.replace(/^>\s?/, ""))));
  }
  if (lines.every((line) => ITEM.test(line))) {
    const items = lines.map((line) => h("li", {}, words(line.replace(ITEM, ""))));
    return /^\s*\d/.test(lines[0]) ? h("ol", {}, items) : h("ul", {}, items);
  }
  return h("p", {}, broken(lines));
}

/** Whether a line begins a block of its own, though no empty line stands before it. */
const isApart = (/** @type {string} */ line, /** @type {string} */ before) =>
  /^#{1,3}\s/.test(line) || /^#{1,3}\s/.test(before) || ITEM.test(line) !== ITEM.test(before);

/** @param {string} text @returns {HTMLElement[]} */
export function markdown(text) {
  /** @type {HTMLElement[]} */
  const blocks = [];
  /** @type {string[]} */
  let lines = [];
  /** @type {string[] | null} */
  let code = null;
  const close = () => {
    if (lines.length) blocks.push(block(lines));
    lines = [];
  };
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      close();
      if (code) blocks.push(h("pre", {}, code.join("\n")));
      code = code ? null : [];
    } else if (code) code.push(line);
    else if (!line.trim()) close();
    else {
      if (lines.length && isApart(line, lines[lines.length - 1])) close();
      lines.push(line);
    }
  }
  if (code) lines = ["```", ...code];
  close();
  return blocks;
}
