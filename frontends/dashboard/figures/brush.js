// The trials a reader brushed in one figure, told to all; the others are muted until the brush is cleared.

import { allChosen, choose } from "../kit/address.js";
import { h, setText } from "../kit/dom.js";
import { plural } from "../kit/format.js";

const MOST_IN_ADDRESS = 60;

export class Brush {
  constructor() {
    const held = allChosen("brush");
    /** @type {Set<string> | null} */
    this.trials = held.length ? new Set(held) : null;
    this.version = 1; // counts, so that figures drop what they drew themselves
    /** @type {Set<() => void>} */
    this.watchers = new Set();
    this.words = h("span", {});
    const clear = h("button", { type: "button", onclick: () => this.set(null) }, "Clear");
    this.list = h("button", { type: "button" }, "List them");
    this.element = h("div", { class: "brushed", role: "status", hidden: true }, this.words, this.list, clear);
    this.#show();
  }

  onChange(/** @type {() => void} */ act) {
    this.watchers.add(act);
  }

  /** None or empty clears. @param {string[] | null} trials */
  set(trials) {
    const next = trials?.length ? new Set(trials) : null;
    this.version += 1;
    this.trials = next;
    choose({ brush: next && next.size <= MOST_IN_ADDRESS ? [...next] : null });
    this.#show();
    for (const act of this.watchers) act();
  }

  #show() {
    this.element.hidden = this.trials === null;
    if (this.trials) setText(this.words, `${plural(this.trials.size, "trial")} selected, the others are muted`);
  }
}
