// A figure as a file: SVG for the paper, PNG for the slide, with its title and what it says below it.

import { h } from "../kit/dom.js";
import { menu } from "../kit/menu.js";
import { colours } from "../kit/theme.js";

const SIZE = { width: 900, height: 600 };

/** What is drawn, on the page's colour, with title and subtitle: a file stands alone. */
async function save(format, { figure, plot, filename, title }) {
  if (!figure || !window.Plotly || !plot.data) return;
  const subtitle = (figure.layout.meta?.subtitle ?? "").replaceAll("<", "&lt;"); // plotly would read it as markup
  const head = {
    text: title,
    subtitle: { text: subtitle, font: { size: 11 } },
    ...{ x: 0.01, xanchor: "left", y: 0.98, yanchor: "top", automargin: true },
  };
  const margin = { ...plot.layout.margin, t: 96, l: 72 };
  const ground = { paper_bgcolor: colours().page, width: undefined, height: undefined };
  const layout = { ...plot.layout, ...ground, title: head, margin };
  const file = { ...SIZE, format, filename, scale: format === "png" ? 2 : 1 };
  await window.Plotly.downloadImage({ data: plot.data, layout }, file);
}

/** `what()` is the figure when it is asked for. */
export function saveMenu(/** @type {string} */ title, what) {
  const item = (/** @type {string} */ format) => {
    const act = () => {
      element.open = false;
      return save(format, what());
    };
    const name = format.toUpperCase();
    return h("button", { type: "button", "aria-label": `Save ${title} as ${name}`, onclick: act }, name);
  };
  const items = h("div", { class: "menu-items" }, item("svg"), item("png"));
  const element = menu("Save", items, { label: `Save ${title}`, kind: "save" });
  return element;
}
