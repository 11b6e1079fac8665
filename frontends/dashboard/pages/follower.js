// Follows several studies: what is in view is fetched again whenever one of them has moved on.

import { byId, setText } from "../kit/dom.js";
import { isEnded } from "../kit/vocabulary.js";

const EVERY = 2000;

/** @typedef {import("../figures/figure-panel.js").FigurePanel} FigurePanel */
/** @typedef {{ panel: FigurePanel, seq: number, inView: boolean, busy: boolean, again: boolean }} Followed */

export class Follower {
  /** `read()` gives the studies as they are now; `refresh()` is called when they have moved on. */
  constructor({ read, onStudies, refresh }) {
    this.read = read;
    this.onStudies = onStudies;
    this.refresh = refresh;
    this.seq = -1;
    this.ended = false;
    /** @type {Map<Element, Followed>} */
    this.panels = new Map();
    this.observer = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: "400px" });
    document.addEventListener("visibilitychange", () => this.#poll());
  }

  add(/** @type {FigurePanel} */ panel) {
    this.panels.set(panel.element, { panel, seq: -1, inView: false, busy: false, again: false });
    this.observer.observe(panel.element);
  }

  /** Fetch this panel again although no study moved: the reader asked for something else. */
  again(/** @type {FigurePanel} */ panel) {
    const followed = this.panels.get(panel.element);
    if (!followed) return;
    Object.assign(followed, { seq: -1, again: followed.busy });
    this.#draw();
  }

  #seen(/** @type {IntersectionObserverEntry[]} */ entries) {
    for (const entry of entries) {
      const followed = this.panels.get(entry.target);
      if (followed) followed.inView = entry.isIntersecting;
    }
    this.#draw();
  }

  start(/** @type {Study[]} */ studies) {
    this.#learn(studies);
    this.#wait();
  }

  #wait() {
    clearTimeout(this.timer);
    if (!this.ended) this.timer = setTimeout(() => this.#poll(), EVERY);
  }

  #learn(/** @type {Study[]} */ studies) {
    this.ended = studies.every(isEnded);
    const seq = studies.reduce((sum, study) => sum + study.last_seq, 0);
    this.onStudies(studies);
    if (seq === this.seq) return;
    this.seq = seq;
    this.refresh();
    this.#draw();
  }

  async #poll() {
    if (document.hidden || this.ended) return this.#wait();
    try {
      const studies = await this.read();
      if (studies.length) this.#learn(studies);
    } catch (error) {
      // Lost, or in trouble: the next round tries again, and the banner says so where nothing answers.
      if (error.status !== undefined) setText(byId("announce"), error.message);
    }
    this.#wait();
  }

  #draw() {
    for (const followed of this.panels.values()) {
      if (followed.inView && followed.seq !== this.seq && !followed.busy) this.#fetch(followed);
    }
  }

  /** One request of a panel at a time: an older answer never comes after a newer one. */
  async #fetch(/** @type {Followed} */ followed) {
    followed.busy = true;
    followed.seq = this.seq;
    try {
      await followed.panel.refresh();
    } catch (error) {
      setText(followed.panel.note, error.message);
      followed.seq = -1;
      setTimeout(() => this.#draw(), EVERY);
    }
    const hasMoved = followed.seq !== this.seq && followed.seq !== -1;
    const more = followed.again || hasMoved;
    if (followed.again) followed.seq = -1;
    Object.assign(followed, { busy: false, again: false });
    if (more) this.#draw();
  }
}
