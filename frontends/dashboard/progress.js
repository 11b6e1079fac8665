// How far a study is, as a bar.

import { h, setAttr } from "./dom.js";

export function progressBar() {
  const says = { role: "progressbar", "aria-label": "progress", "aria-valuemin": 0, "aria-valuemax": 100 };
  return h("div", { class: "progress", ...says }, h("div", {}));
}

export function setProgress(bar, study) {
  const done = Math.round(100 * study.progress);
  setAttr(bar, "aria-valuenow", done);
  bar.dataset.state = study.state;
  bar.firstElementChild.style.width = `${100 * study.progress}%`;
}
