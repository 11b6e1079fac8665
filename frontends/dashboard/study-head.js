// Name, state in words, live counters, progress, and what can be done with the study.

import { post, remove, studyPath } from "./api.js";
import { confirmed, h, setText } from "./dom.js";
import { capital, ENDED, stateWords } from "./format.js";
import { progressBar, setProgress } from "./progress.js";
import { closeOnLeave } from "./save.js";

const FILES = [
  ["Report (one HTML file)", "report"], ["Trials as CSV", "export?format=csv"], ["Reports as CSV", "export?format=csv&table=reports"],
  ["Trials as Parquet", "export?format=parquet"], ["Everything as JSON", "export?format=json"],
];

function downloads(path) {
  const links = FILES.map(([words, address]) => h("a", { href: `${path}/${address}`, download: true }, words));
  const menu = h("details", { class: "menu" }, h("summary", {}, "Download"), h("div", { class: "menu-items" }, links));
  closeOnLeave(menu);
  return menu;
}

/** "2 running · 1 failed · 3 collapsed": what the state's words leave out. */
function counters({ counts, state }) {
  const parts = [state === "running" && [counts.running, "running"], [counts.failed, "failed"], [counts.collapsed, "collapsed"], [counts.stopped, "stopped"]];
  return parts.filter((part) => part && part[0]).map(([count, what]) => `${count} ${what}`).join(" · ");
}

export class StudyHead {
  constructor(study) {
    const path = studyPath(study.id);
    this.state = h("p", { class: "state" });
    this.counters = h("p", { class: "muted" });
    this.reason = h("p", { class: "reason" });
    this.bar = progressBar();
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
    const again = h("a", { href: `/new?from=${encodeURIComponent(study.id)}` }, "Run again, changed");
    const compare = h("a", { href: `/compare?studies=${encodeURIComponent(study.id)}` }, "Compare");
    const actions = h("div", { class: "actions" }, compare, again, downloads(path), this.cancel, this.remove);
    const title = h("div", { class: "title" }, h("h1", {}, study.name), this.state, this.counters);
    this.element = h("div", { class: "study-head" }, title, actions, this.bar, this.reason);
    this.show(study);
  }

  show(study) {
    const words = stateWords(study);
    setText(this.state, words);
    this.state.dataset.state = study.state;
    setText(this.counters, counters(study));
    setText(this.reason, capital(study.reason ?? ""));
    setProgress(this.bar, study);
    const ended = ENDED.includes(study.state);
    this.cancel.hidden = ended;
    this.remove.hidden = !ended;
    const short = study.state === "running" ? `${study.counts.finished}/${study.counts.planned}` : study.state;
    document.title = `${short} · ${study.name} – Paretoscope`;
    if (this.announced !== study.state) setText(document.getElementById("announce"), `The study is ${words.split(" · ")[0]}.`);
    this.announced = study.state;
  }
}
