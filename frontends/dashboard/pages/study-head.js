// Name, state in words, live counters, progress, and what can be done with the study.

import { post, remove, studyPath } from "../kit/api.js";
import { acting, byId, confirmed, h, setText } from "../kit/dom.js";
import { capital, plural } from "../kit/format.js";
import { menu } from "../kit/menu.js";
import { progressBar, setProgress } from "../kit/progress.js";
import { isEnded, lookOf, stateWords, takes, vocabulary } from "../kit/vocabulary.js";

const GOES_ON = "The study goes on by itself.";

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
  constructor(/** @type {Study} */ study) {
    const path = studyPath(study.id);
    this.announced = "";
    this.state = h("p", { class: "state" });
    this.counters = h("p", { class: "muted" });
    this.reason = h("p", { class: "reason" });
    this.bar = progressBar();
    const act = (/** @type {string} */ what) => async () => this.show(await post(`${path}/${what}`));
    this.pause = acting("Pause", act("pause"));
    this.resume = acting("Resume", act("resume"));
    this.retry = acting("Retry failed trials", act("retry"));
    this.cancel = confirmed({
      label: "Cancel",
      question: "Cancel this study? Its results are kept.",
      yes: "Cancel the study",
      no: "Keep it",
      act: async () => this.show(await post(`${path}/cancel`)),
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
    const id = encodeURIComponent(study.id);
    const again = h("a", { href: `/new?from=${id}` }, "Run again with changes");
    const compare = h("a", { href: `/compare?studies=${id}` }, "Compare");
    const wishes = [this.pause, this.resume, this.retry, this.cancel, this.remove];
    const actions = h("div", { class: "actions" }, compare, again, downloads(path), wishes);
    const title = h("div", { class: "title" }, h("h1", {}, study.name), this.state, this.counters);
    this.element = h("div", { class: "study-head" }, title, actions, this.bar, this.reason);
    this.show(study);
  }

  show(/** @type {ListedStudy} */ study) {
    const words = stateWords(study);
    setText(this.state, words);
    this.state.dataset.state = lookOf(study);
    setText(this.counters, counters(study));
    const lost = study.lost_events ? `${plural(study.lost_events, "event")} of its log were lost. ` : "";
    const then = study.interrupted ? `. ${GOES_ON}` : "";
    setText(this.reason, lost + capital(study.interrupted ?? study.reason ?? "") + then);
    this.reason.dataset.state = lookOf(study);
    setProgress(this.bar, study);
    this.pause.hidden = !takes(study, "pause");
    this.resume.hidden = !takes(study, "resume");
    this.retry.hidden = !study.counts.failed || !takes(study, "retry");
    this.cancel.hidden = isEnded(study);
    this.remove.hidden = !isEnded(study);
    const look = lookOf(study);
    const short = look === "running" ? `${study.counts.finished}/${study.counts.planned}` : look;
    document.title = `${short} · ${study.name} – Paretoscope`;
    if (this.announced !== look) setText(byId("announce"), `The study is ${words.split(" · ")[0]}.`);
    this.announced = look;
  }
}
