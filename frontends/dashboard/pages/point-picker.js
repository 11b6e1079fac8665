// Pick a point: a rule chooses one of the front, which is ringed; its settings, its trial, and a study of it alone.

import { get, studyPath } from "../kit/api.js";
import { h, setAttr, setText } from "../kit/dom.js";
import { capital, metricLabel, number } from "../kit/format.js";
import { shownFirst } from "../kit/metrics.js";
import { placeWords } from "../kit/curve-places.js";
import { vocabulary } from "../kit/vocabulary.js";
import { toYaml } from "../kit/yaml.js";
import { Bounds } from "./bounds.js";
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
    const arms = [["", "all arms"], ...study.arms.map(({ name }) => [name, name])];
    this.arm = h("select", {}, options(arms));
    this.weights = this.objectives.map((name) => numberField(this.label(name), "1"));
    this.bounds = new Bounds(named, metrics, this.objectives[1]);
    this.then = h("select", {}, options(named));
    const then = h("label", {}, "then the best ", this.then);
    /** @type {Record<string, HTMLFieldSetElement>} */
    this.fields = {
      weights: h("fieldset", { class: "fields" }, this.weights.map((weight) => weight.element)),
      constraint: h("fieldset", { class: "fields" }, this.bounds.element, then),
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
      h("label", { hidden: study.arms.length < 2 }, "of ", this.arm),
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

  /** What another rule asks for is disabled too: else a number that is missing there would hold up this one. */
  #ask() {
    for (const [rule, fields] of Object.entries(this.fields)) {
      fields.hidden = fields.disabled = rule !== this.rule.value;
    }
  }

  #query() {
    const by = this.rule.value;
    /** @type {Record<string, string>} */
    const asked = { by };
    if (by === "weights") {
      asked.weights = this.weights.map(({ input }, i) => `${this.objectives[i]}:${input.value}`).join(",");
    } else if (by === "constraint") {
      Object.assign(asked, this.bounds.asked(), { then: this.then.value });
    }
    if (this.arm.value) asked.arm = this.arm.value;
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
