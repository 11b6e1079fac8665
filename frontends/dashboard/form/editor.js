// A text field with line numbers and marks at lines with errors. Tab leaves it, as in any form.

import { h } from "../kit/dom.js";

export class Editor {
  constructor({ label, onInput }) {
    this.gutter = h("div", { class: "gutter", "aria-hidden": "true" });
    const raw = { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off" };
    this.text = h("textarea", { "aria-label": label, "aria-describedby": "check", rows: 28, ...raw });
    this.element = h("div", { class: "editor" }, this.gutter, this.text);
    this.lines = 0;
    this.text.addEventListener("input", () => {
      this.#number();
      onInput();
    });
    this.text.addEventListener("scroll", () => (this.gutter.scrollTop = this.text.scrollTop));
  }

  get value() {
    return this.text.value;
  }

  set value(text) {
    this.text.value = text;
    this.text.setSelectionRange(0, 0);
    this.text.scrollTop = 0;
    this.#number();
  }

  #number() {
    const lines = this.text.value.split("\n").length;
    if (lines === this.lines) return;
    this.lines = lines;
    this.gutter.replaceChildren(...Array.from({ length: lines }, (_, i) => h("div", {}, String(i + 1))));
    this.gutter.scrollTop = this.text.scrollTop;
  }

  /** `errors` by line number; each line's mark says what is wrong. */
  mark(/** @type {Detail[]} */ errors) {
    for (const [i, line] of /** @type {HTMLElement[]} */ ([...this.gutter.children]).entries()) {
      const messages = errors.filter((error) => error.line === i + 1).map((error) => error.message);
      line.className = messages.length ? "marked" : "";
      line.title = messages.join("\n");
    }
    this.text.setAttribute("aria-invalid", String(errors.length > 0));
  }

  /** Puts the cursor on a line and selects it. */
  goTo(/** @type {number} */ line) {
    const lines = this.text.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    this.text.focus();
    this.text.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    const height = this.text.scrollHeight / lines.length;
    this.text.scrollTop = Math.max(0, (line - 6) * height);
  }
}
