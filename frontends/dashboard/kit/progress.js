// How far a study is, as a bar.

import { h, setAttr } from "./dom.js";
import { lookOf } from "./state-words.js";

export function progressBar() {
  const says = { role: "progressbar", "aria-label": "progress", "aria-valuemin": 0, "aria-valuemax": 100 };
  return h("div", { class: "progress", ...says }, h("div", {}));
}

/** @param {HTMLElement} bar @param {ListedStudy} study */
export function setProgress(bar, study) {
  setAttr(bar, "aria-valuenow", Math.round(100 * study.progress));
  bar.dataset.state = lookOf(study);
  const done = /** @type {HTMLElement} */ (bar.firstElementChild);
  done.style.width = `${100 * study.progress}%`;
}
