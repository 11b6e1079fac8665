// Single keys for what is done often; `?` shows them. None acts while someone types.

import { h } from "./dom.js";

const known = new Map();

const isTyping = (target) => target.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");

/** `key` as in KeyboardEvent.key; `words` stand on the card. A later one takes the place of an earlier. */
export function shortcut(key, words, act) {
  known.set(key, { words, act });
}

function card() {
  const rows = [...known].filter(([, { words }]) => words).flatMap(([key, { words }]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)]);
  const close = h("button", { class: "primary", autofocus: true }, "Close");
  const dialog = h("dialog", { class: "keys", "aria-label": "Keyboard shortcuts" }, h("form", { method: "dialog" }, h("h2", {}, "Keyboard shortcuts"), h("dl", {}, rows), h("p", {}, close)));
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
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  const found = known.get(event.key);
  if (!found) return;
  event.preventDefault();
  found.act();
});
shortcut("?", "show this card", showShortcuts);
