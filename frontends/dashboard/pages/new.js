// A new study: from nothing, a preset or an old study; written as a form or as YAML, checked while it is written.

import { Checked } from "../form/checked.js";
import { forgetDraft, keepDraft, keptDraft } from "../form/drafts.js";
import { Editor } from "../form/editor.js";
import { ownCatalog } from "../form/own-catalog.js";
import { firstStudy, ownCode } from "../form/own-code.js";
import { EMPTY, oneTrial, withoutDefaults } from "../form/sources.js";
import { StudyForm } from "../form/study-form.js";
import { choose, chosen } from "../kit/address.js";
import { get, newKey, postYaml, studyPath } from "../kit/api.js";
import { h, setText } from "../kit/dom.js";
import { vocabulary } from "../kit/vocabulary.js";
import { commentAbove, toYaml } from "../kit/yaml.js";

const PAUSE = 400;
const AGAIN = 2000;
const { demo_preset: FIRST } = vocabulary;
const EMPTY_NAME = "empty";

/** @typedef {{ key: string, label: string, text: string, doc: string }} Source */

/** The study or trial that the address names. @returns {Promise<Source>} */
async function oldSource(/** @type {Catalog} */ catalog, /** @type {string} */ from) {
  const trialId = chosen("trial");
  /** @type {Study} */
  const study = await get(studyPath(from));
  /** @type {OpenTrial | null} */
  const trial = trialId ? await get(`${studyPath(from)}/trials/${encodeURIComponent(trialId)}`) : null;
  const spec = withoutDefaults(trial ? oneTrial(study.spec, trial) : study.spec, catalog);
  const doc = trial
    ? `One trial of ${study.name}, arm ${trial.arm}, seed ${trial.seed}: every value fixed as it was.`
    : `The spec of ${study.name} without its defaults. That study stays as it is.`;
  const label = `${trial ? "trial" : "study"}: ${study.name}`;
  return { key: `from:${from}:${trialId ?? ""}`, label, text: toYaml(spec), doc };
}

/** A study of each code that the service has read, newest first. @returns {Source[]} */
function codeSources(/** @type {Catalog["problems"]} */ own) {
  const newest = new Map(own.map((problem) => [problem.code[0], /** @type {Catalog["problems"]} */ ([])]));
  for (const problem of own) newest.get(problem.code[0])?.push(problem);
  return [...newest].map(([hash, problems]) => {
    const entry = problems[0].entry ?? "";
    const names = problems.map(({ name }) => name).join(", ");
    const kinds = problems.map(({ name, terms }) => ({ name, terms, kind: terms.length ? "problem" : "script" }));
    const text = toYaml(firstStudy({ hash, entry, problems: kinds }));
    return { key: `code:${hash}`, label: `code: ${entry} (${names})`, text, doc: problems[0].doc };
  });
}

/**
 * Everything a reader can start from; the old study or trial of the address first.
 * @param {Catalog} catalog
 * @param {Catalog["problems"]} own
 * @param {Preset[]} presets
 * @returns {Promise<Source[]>}
 */
async function readSources(catalog, own, presets) {
  const from = chosen("from");
  const old = from ? [await oldSource(catalog, from)] : [];
  const doc = "A small study to start from: a grid of βs beside MIB.";
  const empty = { key: EMPTY_NAME, label: "an empty study", text: toYaml(EMPTY), doc };
  const ready = presets.map((preset) => ({ ...preset, key: preset.name, label: `preset: ${preset.name}` }));
  return [...old, empty, ...codeSources(own), ...ready];
}

/** Two ways to see one study; the pressed one is open. */
function viewSwitch(onView) {
  const buttons = [["form", "Form"], ["yaml", "YAML"]].map(([view, label]) =>
    h("button", { type: "button", "data-view": view, onclick: () => onView(view) }, label),
  );
  const show = (view) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === view));
  };
  return { element: h("div", { class: "switch", role: "group", "aria-label": "Written as" }, buttons), show };
}

class NewStudy {
  /** @param {HTMLElement} page @param {Catalog} catalog @param {Source[]} sources */
  constructor(page, catalog, sources) {
    this.catalog = catalog;
    /** @type {Map<string, CodeAnswer | null>} by hash; null where it cannot be read */
    this.codes = new Map();
    this.sources = sources;
    this.source = sources[0];
    this.key = newKey();
    this.asked = 0;
    this.view = "form";
    this.text = "";
    /** @type {Spec | null} */
    this.spec = null;
    /** @type {string | null} */
    this.checkedText = null;
    /** @type {string | null} */
    this.formText = null;
    this.editor = new Editor({ label: "The study as YAML", onInput: () => this.#edited(this.editor.value) });
    this.form = new StudyForm({ catalog, onChange: (spec) => this.#formed(spec) });
    this.checked = new Checked({
      onLine: (line) => this.editor.goTo(line),
      onField: (path) => this.form.goTo(path),
      isForm: () => this.view === "form",
    });
    this.start = h("select", {}, sources.map(({ key, label }) => h("option", { value: key }, label)));
    this.start.addEventListener("change", () => this.#choose(this.start.value));
    this.views = viewSwitch((view) => this.#show(view));
    this.doc = h("p", { class: "muted doc" });
    this.restored = h("p", { class: "restored", role: "status", hidden: true });
    this.unreadable = h("p", { class: "unreadable", hidden: true });
    this.submit = h("button", { type: "submit", class: "primary", disabled: true }, "Run this study");
    const start = h("label", {}, "Start from ", this.start);
    const code = ownCode({ onStudy: (text, described) => this.#takeCode(text, described) });
    const head = h("div", { class: "panel-head" }, h("h1", {}, "New study"), start, this.views.element, code);
    const study = h("div", { class: "written" }, this.unreadable, this.form.element, this.editor.element);
    const run = h("div", { class: "run" }, this.submit, this.checked.short);
    const side = h("div", { class: "new-side" }, this.checked.element, run);
    const grid = h("div", { class: "new-grid" }, study, side);
    const element = h("form", { class: "new", novalidate: true }, head, this.doc, this.restored, grid);
    element.addEventListener("submit", (event) => this.#run(event));
    page.replaceChildren(element);
  }

  open() {
    this.view = chosen("view") === "yaml" ? "yaml" : "form";
    const asked = chosen("from") ? this.sources[0].key : (chosen("preset") ?? FIRST);
    const named = (wanted) => this.sources.find(({ key }) => key === wanted);
    const source = named(asked) ?? named(FIRST) ?? this.sources[0];
    this.#put(source, keptDraft(source.key));
    this.#show(this.view);
  }

  /** A study of code that was just read. */
  #takeCode(/** @type {string} */ text, /** @type {CodeAnswer} */ code) {
    const { entry } = code;
    this.codes.set(code.hash, code);
    const source = { key: `code:${entry}`, label: `code: ${entry}`, text, doc: `A study of your own code, ${entry}.` };
    this.sources.push(source);
    this.start.append(h("option", { value: source.key }, source.label));
    this.#put(source, null);
    this.#show("form");
  }

  /** What is in the code that a study names, by its hash. */
  async #readCode(/** @type {string} */ hash) {
    const code = await get(`/api/code/${hash}`).catch(() => null);
    this.codes.set(hash, code?.state === "described" ? code : null);
    this.#showForm();
  }

  #choose(/** @type {string} */ key) {
    const isOld = key.startsWith("from:");
    if (!isOld) choose({ from: null, trial: null, preset: key });
    else {
      const [, from, trial] = key.split(":");
      choose({ from, trial, preset: null });
    }
    this.#put(this.sources.find((source) => source.key === key) ?? this.sources[0], null);
    this.#show(this.view);
  }

  /** The source's own text, or what was written on top of it before a reload. */
  #put(/** @type {Source} */ source, /** @type {string | null} */ draft) {
    this.source = source;
    this.start.value = source.key;
    this.spec = null;
    this.text = this.editor.value = draft ?? source.text;
    setText(this.doc, source.doc);
    this.restored.hidden = draft === null;
    if (draft === null) keepDraft(source.key, this.text, this.text);
    const words = "Restored what was written here before the page was loaded again. ";
    if (draft !== null) this.restored.replaceChildren(words, this.#startOver());
    this.key = newKey();
    this.#check();
  }

  #startOver() {
    const act = () => this.#choose(this.source.key);
    return h("button", { type: "button", class: "link", onclick: act }, "Start over");
  }

  #show(view) {
    this.view = view;
    choose({ view: view === "form" ? null : view });
    this.views.show(view);
    this.editor.element.hidden = view !== "yaml";
    this.#showForm();
    this.checked.redraw();
  }

  /** The form of the text as it was last checked; it waits for the check where the text is newer. */
  #showForm() {
    const isForm = this.view === "form";
    const isKnown = this.checkedText === this.text;
    const hash = this.spec?.code?.hash ?? this.spec?.code;
    const code = hash ? this.codes.get(hash) : undefined;
    const isUnread = Boolean(hash && !code);
    if (isUnread) this.#sayUnreadable({ message: "what is in its code is not known" });
    this.unreadable.hidden = !(isForm && isKnown && (this.spec === null || (isUnread && code === null)));
    this.form.element.hidden = !isForm || this.spec === null || isUnread;
    if (isForm && isUnread && code === undefined) this.#readCode(hash);
    if (!isForm || this.spec === null || isUnread || this.formText === this.text) return;
    this.formText = this.text;
    if (hash) this.spec.code = hash;
    this.form.show(this.spec, code ? ownCatalog(this.catalog, code) : this.catalog);
  }

  #formed(/** @type {Spec} */ spec) {
    this.spec = spec;
    this.text = this.formText = commentAbove(this.text) + toYaml(spec);
    this.editor.value = this.text;
    this.#changed();
  }

  #edited(/** @type {string} */ text) {
    this.text = text;
    this.spec = null;
    this.#changed();
  }

  #changed() {
    keepDraft(this.source.key, this.text, this.source.text);
    this.asked += 1;
    this.key = newKey();
    this.submit.disabled = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#check(), PAUSE);
  }

  async #check() {
    clearTimeout(this.timer);
    const mine = ++this.asked;
    const { text } = this;
    try {
      const answer = await postYaml("/api/studies/check", text);
      if (mine === this.asked) this.#learn(answer, text);
    } catch (error) {
      if (mine !== this.asked) return;
      this.submit.disabled = true;
      if (error.status === undefined) {
        this.checked.unreachable();
        this.timer = setTimeout(() => this.#check(), AGAIN);
      } else this.#showErrors(error);
    }
  }

  #learn(/** @type {CheckAnswer} */ answer, /** @type {string} */ text) {
    this.checkedText = text;
    this.spec ??= answer.spec;
    this.submit.disabled = !answer.valid;
    if (answer.valid) {
      this.form.learn(answer);
      this.checked.showCount(answer);
      this.#mark([]);
    } else {
      this.#showErrors(answer.error);
      if (answer.spec === null) this.#sayUnreadable(answer.error);
    }
    this.#showForm();
    if (answer.valid) this.form.learn(answer);
  }

  #sayUnreadable(error) {
    const act = () => this.#show("yaml");
    const back = h("button", { type: "button", class: "link", onclick: act }, "Correct it as YAML");
    this.unreadable.replaceChildren(`The form cannot show it: ${error.message}. `, back);
  }

  #showErrors(error) {
    this.#mark(this.checked.showErrors(error));
  }

  #mark(details) {
    this.editor.mark(details);
    this.form.mark(details);
  }

  async #run(/** @type {Event} */ event) {
    event.preventDefault();
    if (this.submit.disabled) return;
    this.submit.disabled = true;
    try {
      const study = await postYaml("/api/studies", this.text, { "Idempotency-Key": this.key });
      forgetDraft();
      location.assign(`/studies/${study.id}`);
    } catch (error) {
      this.#showErrors(error);
      this.submit.disabled = error.status === 422;
    }
  }
}

export async function showNew(/** @type {HTMLElement} */ page) {
  document.title = "New study – Paretoscope";
  page.replaceChildren(h("p", { class: "muted" }, "Loading …"));
  try {
    const [catalog, { presets }] = await Promise.all([get("/api/catalog"), get("/api/presets")]);
    const [ours, own] = [false, true].map((sent) => catalog.problems.filter(({ code }) => code.length > 0 === sent));
    const built = { ...catalog, problems: ours }; // a study with code of its own has that code's problems alone
    const study = new NewStudy(page, built, await readSources(built, own, presets));
    study.open();
  } catch (error) {
    const words = error.status === 404 ? "There is no such study or trial to start from" : "The page could not be made";
    const back = h("p", {}, h("a", { href: "/new" }, "Start from a preset"));
    page.replaceChildren(h("section", { class: "empty" }, h("h1", {}, words), h("p", {}, error.message), back));
    if (error.status === undefined) setTimeout(() => showNew(page), AGAIN);
  }
}
