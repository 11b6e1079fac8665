// Tabs: one panel open, the others hidden and therefore never loaded. Arrow keys move, as in any tab list.

import { chosen, choose } from "./address.js";
import { h } from "./dom.js";

export class Tabs {
  /**
   * The open one stands in the address unless it is the first.
   * @param {{ name: string, title: string, element: HTMLElement }[]} items
   * @param {string} label
   * @param {(name: string) => void} onOpen
   */
  constructor(items, label, onOpen) {
    this.items = items;
    this.onOpen = onOpen;
    this.buttons = items.map(({ name, title }) => {
      const tab = { role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}` };
      return h("button", { type: "button", ...tab, onclick: () => this.open(name) }, title);
    });
    this.panels = items.map(({ name, element }) =>
      h("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: "-1" }, element),
    );
    const list = h("div", { role: "tablist", class: "tabs", "aria-label": label }, this.buttons);
    list.addEventListener("keydown", (event) => this.#move(event));
    this.element = h("section", { class: "tabbed" }, list, this.panels);
    this.#show(this.#place(chosen("tab")));
  }

  #place(name) {
    return Math.max(0, this.items.findIndex((item) => item.name === name));
  }

  #show(place) {
    this.place = place;
    this.buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === place));
      button.tabIndex = i === place ? 0 : -1;
    });
    this.panels.forEach((panel, i) => (panel.hidden = i !== place));
  }

  open(name, { focus = false } = {}) {
    const place = this.#place(name);
    this.#show(place);
    choose({ tab: place ? name : null });
    this.onOpen(name);
    if (focus) this.buttons[place].focus();
  }

  openNumber(number) {
    const item = this.items[number - 1];
    if (item) this.open(item.name, { focus: true });
  }

  #move(/** @type {KeyboardEvent} */ event) {
    const count = this.items.length;
    const next = (this.place + 1) % count;
    const previous = (this.place + count - 1) % count;
    const place = { ArrowRight: next, ArrowLeft: previous, Home: 0, End: count - 1 }[event.key];
    if (place === undefined) return;
    event.preventDefault();
    this.open(this.items[place].name, { focus: true });
  }
}
