// The figures of a study, each in a panel with the choices the service offers; what they show is fetched in view.

import { studyPath } from "./api.js";
import { allChosen, chosen, choose } from "./address.js";
import { h } from "./dom.js";
import { FigurePanel } from "./figures.js";

const ROWS = ["accuracy-by-method", "convergence"];
const ROW_HEIGHT = 36;
const THRESHOLD = { type: "number", min: "0.01", max: "1", step: "0.01", placeholder: "auto" };

/** The main figures' axes are plain (`x`), those of others carry the figure's name (`convergence.x`). */
const keyOf = (figure, control) => (figure.name === "pareto-front" ? control.param : `${figure.name}.${control.param}`);

/** A field for one choice: a select, or a number where there is nothing to list. */
function field(control, held, onChange) {
  if (control.kind === "number") {
    const input = h("input", { ...THRESHOLD, value: held ?? "" });
    if (!input.checkValidity()) input.value = "";
    input.addEventListener("change", () => input.reportValidity() && onChange());
    return input;
  }
  const wanted = control.options.some(([value]) => value === held) ? held : control.default;
  const options = control.options.map(([value, label]) => h("option", { value, selected: value === wanted }, label));
  return h("select", { onchange: onChange }, options);
}

/** Fields for a figure's controls; several of one param (two arms) are sent in their order. */
function fieldsOf(figure, onChange) {
  const seen = {};
  return figure.controls.map((control) => {
    const key = keyOf(figure, control);
    const place = (seen[key] = (seen[key] ?? -1) + 1);
    const held = place ? allChosen(key)[place] : chosen(key);
    return { control, key, input: field(control, held, onChange) };
  });
}

/** One panel per figure; `again(panel)` fetches it anew. */
export function figurePanel(study, figure, { onPick, brush, again }) {
  const fields = fieldsOf(figure, () => {
    const values = {};
    for (const { key, control, input } of fields) {
      const changed = input.value !== control.default;
      const many = fields.filter((other) => other.key === key).length > 1;
      if (many) (values[key] ??= []).push(input.value);
      else values[key] = changed ? input.value : null;
    }
    choose(values);
    again(panel);
  });
  const address = () => {
    const several = (control) => fields.filter((other) => other.control.param === control.param).length > 1;
    const query = new URLSearchParams();
    for (const { control, input } of fields) {
      if (input.value && (several(control) || input.value !== control.default)) query.append(control.param, input.value);
    }
    const changed = fields.some(({ control, input }) => input.value !== control.default);
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
    height: ROWS.includes(figure.name) ? ROW_HEIGHT * study.arms.length + 80 : 0,
    onPick,
    brush,
  });
  return panel;
}
