// plotly.js, when somebody wants to draw, and plots that follow their boxes.

import { h } from "../kit/dom.js";

/** @type {Promise<any> | null} */
let loading = null;

/** plotly.js, loaded once somebody wants to draw. Running it takes a second: what was sketched is painted before. */
export function plotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = h("script", { src: "/assets/plotly.min.js" });
    requestAnimationFrame(() => setTimeout(() => document.head.append(script), 0));
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => {
      loading = null; // the next drawing tries again
      script.remove();
      reject(new Error("plotly.js could not be loaded; is the plotly package installed?"));
    });
  });
  return loading;
}

/** Follows its box: plotly itself only follows the window, and the box also shrinks beside an open trial. */
export function followSize(plot) {
  let size = `${plot.clientWidth} ${plot.clientHeight}`;
  new ResizeObserver(() => {
    const now = `${plot.clientWidth} ${plot.clientHeight}`;
    if (now === size || plot.clientWidth === 0) return;
    size = now;
    if (window.Plotly && plot.data) window.Plotly.Plots.resize(plot);
  }).observe(plot);
}
