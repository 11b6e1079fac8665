// Which columns a table has: a menu of checkboxes; none checked by hand means the usual ones.

import { h } from "./dom.js";
import { closeOnLeave } from "./save.js";

export class ColumnMenu {
  constructor(held, onChange) {
    this.chosen = held;
    this.onChange = onChange;
    this.items = h("div", { class: "menu-items columns" });
    this.offered = "";
    this.element = h("details", { class: "menu" }, h("summary", {}, "Columns"), this.items);
    closeOnLeave(this.element);
  }

  offer(columns, usual) {
    const names = columns.map(({ name }) => name).join();
    if (names === this.offered) return;
    this.offered = names;
    const shown = () => new Set(this.chosen.length ? this.chosen : usual);
    const boxes = columns.map(({ name, label, title }) => {
      const box = h("input", { type: "checkbox", value: name, checked: shown().has(name) });
      return { box, element: h("label", { title }, box, ` ${label}`) };
    });
    const reset = h("button", { type: "button" }, "Usual columns");
    const take = () => {
      this.chosen = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
      if (this.chosen.join() === usual.join()) this.chosen = [];
      this.onChange();
    };
    reset.addEventListener("click", () => {
      for (const { box } of boxes) box.checked = usual.includes(box.value);
      take();
    });
    for (const { box } of boxes) box.addEventListener("change", take);
    this.items.replaceChildren(...boxes.map(({ element }) => element), reset);
  }
}
