// Single keys for what is done often; `?` shows them. None acts while someone types.

import { h } from "./dom.js";

/** @type {Map<string, { words: string, act: () => void }>} */
const known = new Map();

const TYPED = "input:not([type=checkbox], [type=range]), textarea, select, [contenteditable]";
const isTyping = (target) => target.matches?.(TYPED);

/** `key` as in KeyboardEvent.key; `words` stand on the card. A later one takes the place of an earlier. */
export function shortcut(key, words, act) {
  known.set(key, { words, act });
}

function card() {
  const named = [...known].filter(([, { words }]) => words);
  const rows = named.flatMap(([key, { words }]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)]);
  const close = h("button", { class: "primary", autofocus: true }, "Close");
  const title = h("h2", {}, "Keyboard shortcuts");
  const form = h("form", { method: "dialog" }, title, h("dl", {}, rows), h("p", {}, close));
  const dialog = h("dialog", { class: "keys", "aria-label": "Keyboard shortcuts" }, form);
  dialog.addEventListener("close", () => dialog.remove());
  return dialog;
}

export function showShortcuts() {
  if (document.querySelector("dialog.keys")) return;
  const dialog = card();
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  const isOther = event.ctrlKey || event.metaKey || event.altKey;
  if (isOther || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const meant = known.get(event.key);
  if (!meant) return;
  event.preventDefault();
  meant.act();
});
shortcut("?", "show this card", showShortcuts);
