// Which columns a table has: a menu of checkboxes; none checked by hand means the usual ones.

import { h } from "../kit/dom.js";
import { menu } from "../kit/menu.js";

export class ColumnMenu {
  /** @param {string[]} held the columns of the address @param {() => void} onChange */
  constructor(held, onChange) {
    this.chosen = held;
    this.onChange = onChange;
    this.items = h("div", { class: "menu-items columns" });
    this.offered = "";
    this.element = menu("Columns", this.items);
  }

  /** @param {{ name: string, label: string, title?: string }[]} columns @param {string[]} usual */
  offer(columns, usual) {
    const names = columns.map(({ name }) => name).join();
    if (names === this.offered) return;
    this.offered = names;
    const shown = () => new Set(this.chosen.length ? this.chosen : usual);
    const boxes = columns.map(({ name, label, title }) => {
      const box = h("input", { type: "checkbox", value: name, checked: shown().has(name) });
      return { box, element: h("label", { title }, box, ` ${label}`) };
    });
    const reset = h("button", { type: "button" }, "Default columns");
    const apply = () => {
      this.chosen = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
      if (this.chosen.join() === usual.join()) this.chosen = [];
      this.onChange();
    };
    reset.addEventListener("click", () => {
      for (const { box } of boxes) box.checked = usual.includes(box.value);
      apply();
    });
    for (const { box } of boxes) box.addEventListener("change", apply);
    this.items.replaceChildren(...boxes.map(({ element }) => element), reset);
  }
}
