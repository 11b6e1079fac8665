// Pick a point: a rule chooses one of the front, which is ringed; its settings, its trial, and a study of it alone.

import { get, studyPath } from "../kit/api.js";
import { h, setAttr, setText } from "../kit/dom.js";
import { capital, metricLabel, number } from "../kit/format.js";
import { shownFirst } from "../kit/metrics.js";
import { placeWords } from "../kit/curve-places.js";
import { vocabulary } from "../kit/vocabulary.js";
import { toYaml } from "../kit/yaml.js";
import { copied } from "./spec.js";

const options = (/** @type {string[][]} */ pairs) => pairs.map(([value, label]) => h("option", { value }, label));

/** A number that a reader gives, with its name. */
function numberField(/** @type {string} */ label, /** @type {string} */ value) {
  const input = h("input", { type: "number", value, step: "any", required: true });
  return { input, element: h("label", {}, `${label} `, input) };
}

export class PointPicker {
  /**
   * `onPicked` is told which trial to ring, `onShow` which to open.
   * @param {Study} study
   * @param {Map<string, Metric>} metrics
   * @param {{ onPicked: (trial: string | null) => void, onShow: (trial: string) => void }} reader
   */
  constructor(study, metrics, { onPicked, onShow }) {
    this.path = `${studyPath(study.id)}/pick`;
    this.objectives = study.spec.objectives.map((objective) => objective.metric);
    this.label = (/** @type {string} */ name) => {
      const metric = metrics.get(name);
      return metric ? metricLabel(metric) : name;
    };
    this.onPicked = onPicked;
    const named = shownFirst(metrics, study.spec.objectives).map((name) => [name, this.label(name)]);
    const rules = vocabulary.pick_rules.map(({ name, words }) => [name, words]);
    this.rule = h("select", { onchange: () => this.#ask() }, options(rules));
    this.weights = this.objectives.map((name) => numberField(this.label(name), "1"));
    this.bounded = h("select", { "aria-label": "bounded metric" }, options(named));
    this.bounded.value = this.objectives[1];
    const sides = [["at_least", "at least"], ["at_most", "at most"]];
    this.side = h("select", { "aria-label": "which bound" }, options(sides));
    this.bound = numberField("", "1");
    this.bound.input.setAttribute("aria-label", "bound");
    this.then = h("select", {}, options(named));
    /** @type {Record<string, HTMLElement>} */
    this.fields = {
      weights: h("span", { class: "fields" }, this.weights.map((weight) => weight.element)),
      constraint: h(
        "span",
        { class: "fields" },
        this.bounded,
        this.side,
        this.bound.element,
        h("label", {}, "then the best ", this.then),
      ),
    };
    this.why = h("p", { role: "status" });
    this.settings = h("p", { class: "muted" });
    this.round = 0;
    /** @type {PickedPoint | null} */
    this.picked = null;
    const show = () => this.picked && onShow(this.picked.trial);
    this.yaml = h("pre", { tabindex: "0", role: "region", "aria-label": "The study of this point as YAML" });
    this.file = h("a", { download: true }, "Its weights");
    const alone = copied("This configuration, all seeds", this.yaml);
    this.result = h(
      "div",
      { class: "picked", hidden: true },
      this.why,
      this.settings,
      h("p", { class: "fields" }, h("button", { type: "button", onclick: show }, "Show its trial"), this.file),
      h("details", {}, h("summary", {}, "Its study as YAML"), alone),
    );
    this.problem = h("p", { class: "bad", role: "alert" });
    const form = h(
      "form",
      { class: "pick-row" },
      h("h2", {}, "Pick a point"),
      h("label", {}, "by ", this.rule),
      Object.values(this.fields),
      h("button", {}, "Pick"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#pick();
    });
    const place = { class: "picker", id: "picker", "aria-label": "Pick a point", hidden: true };
    this.element = h("section", place, form, this.problem, this.result);
    const opens = { type: "button", "aria-controls": "picker", "aria-expanded": "false" };
    this.button = h("button", { ...opens, onclick: () => this.#toggle() }, "Pick a point");
    this.#ask();
  }

  /** A page begins without it: most readers look first. */
  #toggle() {
    this.element.hidden = !this.element.hidden;
    this.button.setAttribute("aria-expanded", String(!this.element.hidden));
    if (this.element.hidden) return;
    this.element.scrollIntoView({ block: "nearest" });
    this.rule.focus({ preventScroll: true });
  }

  #ask() {
    for (const [rule, fields] of Object.entries(this.fields)) fields.hidden = rule !== this.rule.value;
  }

  #query() {
    const by = this.rule.value;
    /** @type {Record<string, string>} */
    const asked = { by };
    if (by === "weights") {
      asked.weights = this.weights.map(({ input }, i) => `${this.objectives[i]}:${input.value}`).join(",");
    } else if (by === "constraint") {
      asked[this.side.value] = `${this.bounded.value}:${this.bound.input.value}`;
      asked.then = this.then.value;
    }
    return new URLSearchParams(asked);
  }

  async #pick() {
    const mine = ++this.round;
    setText(this.problem, "");
    /** @type {PickedPoint | null} */
    let picked = null;
    let problem = "";
    try {
      picked = await get(`${this.path}?${this.#query()}`);
    } catch (error) {
      problem = error.message;
    }
    if (mine !== this.round) return; // another was asked for
    this.picked = picked;
    setText(this.problem, problem);
    this.result.hidden = picked === null;
    this.onPicked(picked?.trial ?? null);
    if (picked) this.#tell(picked);
  }

  /** @param {PickedPoint} picked */
  #tell({ why, arm, seed, where, config, metrics, checkpoint, spec }) {
    const at = where ? `, at ${placeWords(where)}` : "";
    const values = this.objectives.map((name) => `${this.label(name)} ${number(metrics[name])}`).join(", ");
    setText(this.why, `${arm}, seed ${seed}${at}: ${values}. ${capital(why)}.`);
    const named = Object.entries(config).map(([key, value]) => [key.replace(/\.name$/, ""), value]);
    setText(this.settings, placeWords(Object.fromEntries(named)));
    this.file.hidden = checkpoint === null;
    setAttr(this.file, "href", checkpoint);
    setText(this.yaml, toYaml(spec));
  }
}
