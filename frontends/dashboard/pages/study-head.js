// Name, state in words, live counters, progress, and what can be done with the study.

import { post, remove, studyPath } from "../kit/api.js";
import { acting, byId, confirmed, h, setText } from "../kit/dom.js";
import { capital, plural } from "../kit/format.js";
import { menu } from "../kit/menu.js";
import { progressBar, setProgress } from "../kit/progress.js";
import { lookOf, stateWords } from "../kit/state-words.js";
import { isEnded, takes, vocabulary } from "../kit/vocabulary.js";
import { Notes } from "./notes.js";

const GOES_ON = "The study goes on by itself.";
const LEAVING = "Trials in training save their state after the epoch they are in, and leave.";
const AT_REST = "Nothing is trained. Resume lets it go on where it was.";
const ONCE_MORE = "from the beginning, each at most three times, each time after a longer wait";

function downloads(/** @type {string} */ path) {
  const link = ({ title, address }) => h("a", { href: `${path}/${address}`, download: true }, title);
  return menu("Download", h("div", { class: "menu-items" }, vocabulary.downloads.map(link)));
}

/** "2 running · 1 failed · 3 collapsed": what the state's words leave out. @param {ListedStudy} study */
function counters({ counts, state }) {
  const { planned: _planned, finished: _finished, running, ...others } = counts;
  const shown = { running: state === "running" ? running : 0, ...others };
  const parts = Object.entries(shown).filter(([, count]) => count);
  return parts.map(([what, count]) => `${count} ${what}`).join(" · ");
}

export class StudyHead {
  /**
   * `onActed` gets the study after the reader has paused it, resumed it …
   * @param {Study} study
   * @param {(study: Study) => void} [onActed]
   */
  constructor(study, onActed = () => {}) {
    const path = studyPath(study.id);
    this.announced = "";
    this.state = h("p", { class: "state" });
    this.counters = h("p", { class: "muted" });
    this.reason = h("p", { class: "reason" });
    this.hint = h("p", { class: "hint muted" });
    this.bar = progressBar();
    const act = (/** @type {string} */ what) => async () => {
      const fresh = await post(`${path}/${what}`);
      this.show(fresh);
      onActed(fresh);
    };
    this.pause = acting("Pause", act("pause"));
    this.resume = acting("Resume", act("resume"));
    this.retry = acting("Retry failed trials", act("retry"));
    this.retry.title = ONCE_MORE;
    this.cancel = confirmed({
      label: "Cancel",
      question: "Cancel this study? Its results are kept.",
      yes: "Cancel the study",
      no: "Keep it",
      act: act("cancel"),
    });
    this.remove = confirmed({
      label: "Delete",
      question: "Delete this study and all its results?",
      yes: "Delete the study",
      no: "Keep it",
      act: async () => {
        await remove(path);
        location.assign("/");
      },
    });
    this.extend = h("button", { type: "button", "aria-expanded": "false", "aria-controls": "extend" }, "Extend");
    /** @type {import("./extend-form.js").ExtendForm | null} */
    this.form = null;
    this.extend.addEventListener("click", () => this.#toggleForm(study));
    const id = encodeURIComponent(study.id);
    const again = h("a", { href: `/new?from=${id}` }, "Run again with changes");
    const compare = h("a", { href: `/compare?studies=${id}` }, "Compare");
    this.notes = new Notes(study, (fresh) => {
      this.show(fresh);
      onActed(fresh);
    });
    const wishes = [this.notes.button, this.pause, this.resume, this.extend, this.retry, this.cancel, this.remove];
    this.actions = h("div", { class: "actions" }, compare, again, downloads(path), wishes);
    this.name = h("h1", {}, study.name);
    const title = h("div", { class: "title" }, this.name, this.state, this.counters);
    const below = [this.bar, this.hint, this.reason, this.notes.element];
    this.element = h("div", { class: "study-head" }, title, this.actions, below);
    this.show(study);
  }

  /** Fetched when it is first wanted. An extended study has another spec, so that the page begins anew with it. */
  async #toggleForm(/** @type {Study} */ study) {
    const { ExtendForm } = await import("./extend-form.js");
    const onClose = () => {
      this.extend.setAttribute("aria-expanded", "false");
      this.extend.focus();
    };
    if (!this.form) {
      this.form = new ExtendForm(study, { onExtended: () => location.reload(), onClose });
      this.element.append(this.form.element);
    }
    if (!this.form.element.hidden) return this.form.close();
    this.extend.setAttribute("aria-expanded", "true");
    this.form.open();
  }

  show(/** @type {ListedStudy & Pick<Study, "pausing">} */ study) {
    const words = stateWords(study);
    setText(this.name, study.name);
    this.notes.show(study);
    setText(this.state, words);
    this.state.dataset.state = lookOf(study);
    setText(this.counters, counters(study));
    const lost = study.lost_events ? `${plural(study.lost_events, "event")} of its log were lost. ` : "";
    const then = study.interrupted ? `. ${GOES_ON}` : "";
    setText(this.reason, lost + capital(study.interrupted ?? study.reason ?? "") + then);
    this.reason.dataset.state = lookOf(study);
    setText(this.hint, study.pausing ? LEAVING : study.state === "paused" ? AT_REST : "");
    setProgress(this.bar, study);
    this.pause.hidden = !takes(study, "pause");
    this.resume.hidden = !takes(study, "resume");
    this.extend.hidden = Boolean(study.unreadable || study.pausing) || !takes(study, "extend");
    if (this.form && this.extend.hidden) this.form.element.hidden = true;
    this.retry.hidden = !study.counts.failed || Boolean(study.pausing) || !takes(study, "retry");
    this.cancel.hidden = isEnded(study);
    this.remove.hidden = !isEnded(study);
    const look = lookOf(study);
    const short = look === "running" ? `${study.counts.finished}/${study.counts.planned}` : look;
    document.title = `${short} · ${study.name} – Paretoscope`;
    const stage = study.pausing ? "pausing" : look;
    if (this.announced !== stage) setText(byId("announce"), `The study is ${words.split(" · ")[0]}.`);
    this.announced = stage;
  }
}
