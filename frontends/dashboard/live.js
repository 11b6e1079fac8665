// Keeps panels up to date: events say that something changed, panels in view fetch it, at most once a second.

import { ApiError, get, studyPath } from "./api.js";
import { ENDED } from "./format.js";

const KINDS = [
  "study_queued", "study_started", "study_paused", "study_resumed", "study_finished", "study_failed",
  "study_cancelled", "trial_started", "report", "trial_finished", "trial_failed",
];
const GAP = 1000;
const LONGEST_GAP = 5000;
const POLL = 5000;
const POLL_WHEN_LOST = 2000;

export class Live {
  /** `panels` are {element?, refresh()}: without an element always in view. `onStudy` gets every fresh study. */
  constructor(study, onStudy, onGone) {
    this.path = studyPath(study.id);
    this.onStudy = onStudy;
    this.onGone = onGone;
    this.latest = this.studySeq = study.last_seq;
    this.ended = ENDED.includes(study.state);
    this.panels = [];
    this.lastRun = -Infinity;
    this.gap = GAP;
    this.timer = null;
    this.running = false;
    this.poll = null;
    this.observer = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: "200px" });
    document.addEventListener("visibilitychange", () => this.#wakeUp());
  }

  add(panel) {
    Object.assign(panel, { seq: -1, busy: false, again: false, inView: !panel.element });
    this.panels.push(panel);
    if (panel.element) this.observer.observe(panel.element);
    this.#ask();
    return panel;
  }

  /** Fetch this panel again although no event came: the reader asked for something else. */
  again(panel) {
    panel.seq = -1;
    if (panel.inView) this.#fetch(panel);
  }

  start() {
    if (!this.ended && !document.hidden) this.#listen();
    this.#schedulePoll(POLL);
    this.#ask();
  }

  /** What a reader sees for the first time waits for no round. */
  #seen(entries) {
    for (const entry of entries) {
      const panel = this.panels.find((candidate) => candidate.element === entry.target);
      if (!panel) continue;
      panel.inView = entry.isIntersecting;
      if (panel.inView && panel.seq < 0) this.#fetch(panel);
    }
    this.#ask();
  }

  /** One request of a panel at a time: an older answer never comes after a newer one. */
  async #fetch(panel) {
    if (panel.busy) {
      panel.again ||= panel.seq < 0;
      return;
    }
    panel.busy = true;
    const seq = this.latest;
    panel.seq = seq;
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
    this.source = new EventSource(`${this.path}/events?after=${this.latest}`);
    for (const kind of KINDS) this.source.addEventListener(kind, (event) => this.#arrived(Number(event.lastEventId)));
    this.source.onerror = () => {
      // The stream also ends when the study has: asking for the study tells which it is.
      this.source.close();
      this.source = null;
      this.#schedulePoll(GAP);
    };
  }

  #arrived(seq) {
    if (seq <= this.latest) return;
    this.latest = seq;
    this.#ask();
  }

  #schedulePoll(delay) {
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
      this.ended = ENDED.includes(study.state);
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
    this.timer = null;
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
