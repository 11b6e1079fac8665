// Keeps panels up to date: events say that something changed, panels in view fetch it, at most once a second.

import { ApiError, get, studyPath } from "./api.js";
import { isEnded, vocabulary } from "./vocabulary.js";

const GAP = 1000;
const LONGEST_GAP = 5000;
const POLL = 5000;
const POLL_WHEN_LOST = 2000;

/**
 * A panel and how far it has come.
 * @typedef {object} Followed
 * @property {HTMLElement} [element]
 * @property {() => Promise<void>} refresh
 * @property {number} seq the event up to which it is shown
 * @property {boolean} busy
 * @property {boolean} again
 * @property {boolean} inView
 */

export class Live {
  /**
   * `onStudy` gets every fresh study; `onGone` is called when it was deleted.
   * @param {Study} study
   * @param {(study: Study) => void} onStudy
   * @param {() => void} onGone
   */
  constructor(study, onStudy, onGone) {
    this.path = studyPath(study.id);
    this.onStudy = onStudy;
    this.onGone = onGone;
    this.latest = this.studySeq = study.last_seq;
    this.ended = isEnded(study);
    /** @type {Followed[]} */
    this.panels = [];
    this.lastRun = -Infinity;
    this.gap = GAP;
    this.running = false;
    this.warm = false;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {number | undefined} */
    this.poll = undefined;
    /** @type {number | undefined} */
    this.retrying = undefined;
    /** @type {EventSource | null} */
    this.source = null;
    this.observer = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: "400px" });
    document.addEventListener("visibilitychange", () => this.#wakeUp());
  }

  /** Without an element it is always in view. @param {{ element?: HTMLElement, refresh: () => Promise<void> }} panel */
  add(panel) {
    /** @type {Followed} */
    const followed = { ...panel, seq: -1, busy: false, again: false, inView: !panel.element };
    this.panels.push(followed);
    if (panel.element) this.observer.observe(panel.element);
    this.#ask();
    return followed;
  }

  /** Fetch this panel again although no event came: the reader asked for something else. */
  again(/** @type {Followed} */ panel) {
    panel.seq = -1;
    if (panel.inView) this.#fetch(panel);
  }

  /** The reader did something to the study: it may go on after its end. */
  follow(/** @type {{ state: string }} */ study) {
    this.ended = isEnded(study);
    if (!this.ended) this.#poll();
  }

  start() {
    if (!this.ended && !document.hidden) this.#listen();
    this.#schedulePoll(POLL);
    this.#ask();
  }

  /** What a reader sees for the first time waits for no round. */
  #seen(/** @type {IntersectionObserverEntry[]} */ entries) {
    for (const entry of entries) {
      const panel = this.panels.find((candidate) => candidate.element === entry.target);
      if (!panel) continue;
      panel.inView = entry.isIntersecting;
      if (panel.inView && panel.seq < 0) this.#fetch(panel);
    }
    this.#ask();
  }

  /** One request of a panel at a time: an older answer never comes after a newer one. */
  async #fetch(/** @type {Followed} */ panel) {
    if (panel.busy) {
      panel.again ||= panel.seq < 0;
      return;
    }
    panel.busy = true;
    panel.seq = this.latest;
    try {
      await panel.refresh();
    } catch {
      panel.seq = -1;
      this.#retry();
    }
    panel.busy = false;
    if (!panel.again) return;
    panel.again = false;
    panel.seq = -1;
    await this.#fetch(panel);
  }

  /** Also when the study has ended: what a reader asked for still has to come. */
  #retry() {
    clearTimeout(this.retrying);
    this.retrying = setTimeout(() => this.#ask(), POLL_WHEN_LOST);
    this.#schedulePoll(POLL_WHEN_LOST);
  }

  /** A hidden page holds no connection: browsers allow six to one host, for all tabs together. */
  #wakeUp() {
    if (document.hidden) {
      this.source?.close();
      this.source = null;
    } else if (this.ended) this.#ask();
    else this.#poll();
  }

  #listen() {
    this.source?.close();
    const source = new EventSource(`${this.path}/events?after=${this.latest}`);
    this.source = source;
    for (const kind of vocabulary.event_kinds) {
      source.addEventListener(kind, (event) => this.#arrived(Number(event.lastEventId)));
    }
    source.onerror = () => {
      // The stream also ends when the study has: asking for the study tells which it is.
      source.close();
      if (this.source === source) this.source = null;
      this.#schedulePoll(GAP);
    };
  }

  #arrived(/** @type {number} */ seq) {
    if (seq <= this.latest) return;
    this.latest = seq;
    this.#ask();
  }

  #schedulePoll(/** @type {number} */ delay) {
    clearTimeout(this.poll);
    if (!this.ended) this.poll = setTimeout(() => this.#poll(), delay);
  }

  /** Queue places and times left change without events, and a silent loss of the stream shows here. */
  async #poll() {
    clearTimeout(this.poll);
    if (document.hidden) return this.#schedulePoll(POLL);
    try {
      await this.#readStudy();
    } catch {
      return this.#schedulePoll(POLL_WHEN_LOST);
    }
    if (!this.ended && !this.source) this.#listen();
    this.#ask();
    this.#schedulePoll(POLL);
  }

  async #readStudy() {
    try {
      const study = await get(this.path);
      if (study.last_seq < this.studySeq) return; // an older answer came late
      this.latest = Math.max(this.latest, study.last_seq);
      this.studySeq = study.last_seq;
      this.ended = isEnded(study);
      if (this.ended) this.source?.close();
      this.onStudy(study);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        this.ended = true;
        this.source?.close();
        this.onGone();
      }
      throw error;
    }
  }

  #ask() {
    if (this.timer || this.running) return;
    this.timer = setTimeout(() => this.#run(), Math.max(0, this.lastRun + this.gap - performance.now()));
  }

  /** One round. Slow answers make the rounds rarer: a page must not take the cores from the training it shows. */
  async #run() {
    this.timer = undefined;
    if (document.hidden) return;
    this.running = true;
    this.lastRun = performance.now();
    const seq = this.latest;
    const due = this.panels.filter((panel) => panel.inView && panel.seq < seq);
    const rounds = due.map((panel) => this.#fetch(panel));
    if (this.studySeq < seq) rounds.push(this.#readStudy().catch(() => this.#retry()));
    await Promise.all(rounds);
    this.running = false;
    const took = performance.now() - this.lastRun;
    this.gap = this.warm ? Math.min(LONGEST_GAP, Math.max(GAP, 2 * took)) : GAP;
    this.warm = true; // the first round also waited for plotly.js
    if (this.panels.some((panel) => panel.inView && panel.seq >= 0 && panel.seq < this.latest)) this.#ask();
  }
}
