// The figures of a study, each in a panel with the choices the service offers; what they show is fetched in view.

import { allChosen, chosen, choose } from "../kit/address.js";
import { studyPath } from "../kit/api.js";
import { h } from "../kit/dom.js";
import { vocabulary } from "../kit/vocabulary.js";
import { FigurePanel } from "./figure-panel.js";

/** @typedef {import("./brush.js").Brush} Brush */

const ROW_HEIGHT = 36;
const NUMBER = { type: "number", min: "0.01", max: "1", step: "0.01", placeholder: "auto" };

/** The front's axes are plain in the address (`x`), those of others carry the figure's name (`convergence.x`). */
const keyOf = (figure, control) =>
  figure.name === vocabulary.front_figure ? control.param : `${figure.name}.${control.param}`;

/** A field for one choice: a select, or a number where there is nothing to list. */
function field(/** @type {Control} */ control, held, onChange) {
  if (control.kind === "number") {
    const input = h("input", { ...NUMBER, value: held ?? "" });
    if (!input.checkValidity()) input.value = "";
    input.addEventListener("change", () => input.reportValidity() && onChange());
    return input;
  }
  const wanted = control.options.some(([value]) => value === held) ? held : control.default;
  const options = control.options.map(([value, label]) => h("option", { value, selected: value === wanted }, label));
  return h("select", { onchange: onChange }, options);
}

/** Fields for a figure's controls; several of one param (two arms) are sent in their order. */
function fieldsOf(/** @type {FigureOffer} */ figure, onChange) {
  /** @type {Record<string, number>} */
  const seen = {};
  return figure.controls.map((control) => {
    const key = keyOf(figure, control);
    const place = (seen[key] = (seen[key] ?? -1) + 1);
    const held = place ? allChosen(key)[place] : chosen(key);
    const several = figure.controls.filter(({ param }) => param === control.param).length > 1;
    return { control, key, several, input: field(control, held, onChange) };
  });
}

/**
 * One panel per figure; `again(panel)` fetches it anew.
 * @param {{ id: string, name: string, arms: ArmLook[], overlaid?: string }} study
 * @param {FigureOffer} figure
 * @param {{ onPick: (trial: string) => void, again: (panel: FigurePanel) => void, brush?: Brush }} reader
 */
export function figurePanel(study, figure, { onPick, again, brush }) {
  const fields = fieldsOf(figure, () => {
    /** @type {Record<string, string | string[] | null>} */
    const values = {};
    for (const { key, control, several, input } of fields) {
      if (several) values[key] = [...(values[key] ?? []), input.value];
      else values[key] = input.value === control.default ? null : input.value;
    }
    choose(values);
    again(panel);
  });
  const address = () => {
    const query = new URLSearchParams();
    for (const { control, several, input } of fields) {
      if (input.value && (several || input.value !== control.default)) query.append(control.param, input.value);
    }
    if (study.overlaid) query.set("studies", study.overlaid);
    return `${studyPath(study.id)}/figures/${figure.name}${query.size ? `?${query}` : ""}`;
  };
  const labels = fields.map(({ control, input }) => h("label", {}, `${control.label} `, input));
  const panel = new FigurePanel({
    name: figure.name,
    title: figure.title,
    address,
    filename: `${study.name} ${figure.title.toLowerCase()}`,
    controls: labels.length ? [h("div", { class: "selects" }, labels)] : [],
    height: vocabulary.row_per_arm.includes(figure.name) ? ROW_HEIGHT * study.arms.length + 80 : 0,
    onPick,
    brush: brush ?? null,
  });
  return panel;
}

/** The figures of each tab, in the order of the page; the others stand above. @param {FigureOffer[]} figures */
export function grouped(figures) {
  const titled = vocabulary.figure_groups.map(({ name, title, is_tab: isTab }) => ({
    name,
    title,
    isTab,
    figures: figures.filter((figure) => figure.group === name),
  }));
  const above = titled.filter((group) => !group.isTab).flatMap((group) => group.figures);
  return { above, tabs: titled.filter((group) => group.isTab && group.figures.length) };
}
