// A figure as a file: SVG for the paper, PNG for the slide, with its title and what it says below it.

import { h } from "./dom.js";
import { colours } from "./theme.js";

const SIZE = { width: 900, height: 600 };

/** What is drawn, on the page's colour, with title and subtitle: a file stands alone. */
async function save(format, { figure, plot, filename, title }) {
  if (!figure || !window.Plotly || !plot.data) return;
  const subtitle = (figure.layout.meta?.subtitle ?? "").replaceAll("<", "&lt;"); // plotly would read it as markup
  const head = { text: title, subtitle: { text: subtitle, font: { size: 11 } }, x: 0.01, xanchor: "left", y: 0.98, yanchor: "top", automargin: true };
  const margin = { ...plot.layout.margin, t: 96, l: 72 };
  const layout = { ...plot.layout, title: head, paper_bgcolor: colours().page, margin, width: undefined, height: undefined };
  await window.Plotly.downloadImage({ data: plot.data, layout }, { ...SIZE, format, filename, scale: format === "png" ? 2 : 1 });
}

/** A small menu; `what()` is the figure when it is asked for. */
export function saveMenu(title, what) {
  const item = (format) =>
    h("button", { type: "button", "aria-label": `Save ${title} as ${format.toUpperCase()}`, onclick: () => { menu.open = false; return save(format, what()); } }, format.toUpperCase());
  const menu = h("details", { class: "menu save" }, h("summary", { "aria-label": `Save ${title}` }, "Save"), h("div", { class: "menu-items" }, item("svg"), item("png")));
  closeOnLeave(menu);
  return menu;
}

/** Escape and a click elsewhere close a menu. */
export function closeOnLeave(menu) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => {
    if (menu.open && !menu.contains(event.target)) menu.open = false;
  });
}
