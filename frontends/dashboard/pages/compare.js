// Several studies laid over each other: what they differ in, one verdict over all their arms, and their figures.

import { figurePanel, grouped } from "../figures/controls.js";
import { chosen } from "../kit/address.js";
import { get, studyPath } from "../kit/api.js";
import { h, setText } from "../kit/dom.js";
import { metricsOf } from "../kit/metrics.js";
import { Tabs } from "../kit/tabs.js";
import { lookOf, stateWords } from "../kit/state-words.js";
import { vocabulary } from "../kit/vocabulary.js";
import { ArmsTable } from "./arms-table.js";
import { differenceWords } from "./differences.js";
import { Follower } from "./follower.js";

const AGAIN = 2000;
const OFFERED = 200;
const { studies_overlaid: MOST } = vocabulary.limits;

/** @typedef {import("../figures/figure-panel.js").FigurePanel} FigurePanel */

const addressOf = (/** @type {string[]} */ ids) => {
  const query = new URLSearchParams(location.search);
  query.set("studies", ids.join(","));
  return `/compare?${query.toString().replaceAll("%2C", ",")}`;
};

/** Those that exist, in the order of the address, and the ids of those that do not. @param {string[]} ids */
async function readStudies(ids) {
  const answers = await Promise.allSettled(ids.map((id) => get(studyPath(id))));
  /** @type {Study[]} */
  const studies = [];
  /** @type {string[]} */
  const missing = [];
  answers.forEach((answer, i) => {
    if (answer.status === "fulfilled") studies.push(answer.value);
    else if (answer.reason.status === 404) missing.push(ids[i]);
    else throw answer.reason;
  });
  return { studies, missing };
}

/** Figures that every study has, without those that ask for arms or trials by their names in one study. */
function shared(/** @type {Study[]} */ [first, ...others]) {
  const names = others.map((study) => new Set(study.figures.map((figure) => figure.name)));
  const asksForNames = (/** @type {FigureOffer} */ figure) =>
    figure.controls.some(({ param }) => param === "arm" || param === "trial");
  return first.figures.filter((figure) => !asksForNames(figure) && names.every((own) => own.has(figure.name)));
}

/** The studies by name, with their state; each can be left out, and another added. */
class Compared {
  constructor(/** @type {Study[]} */ studies, /** @type {ListedStudy[]} */ all) {
    this.ids = studies.map((study) => study.id);
    this.states = new Map(this.ids.map((id) => [id, h("span", { class: "state" })]));
    const items = studies.map((study) => this.#item(study));
    const others = all.filter((study) => !this.ids.includes(study.id));
    const isFull = this.ids.length >= MOST;
    const options = others.map((study) => h("option", { value: study.id }, study.name));
    const none = h("option", { value: "" }, "choose a study");
    const select = h("select", { disabled: isFull || !others.length }, none, options);
    select.addEventListener("change", () => select.value && location.assign(addressOf([...this.ids, select.value])));
    const most = isFull ? h("span", { class: "muted" }, `${MOST} is the most`) : null;
    const add = h("p", { class: "row" }, h("label", {}, "Add ", select), most);
    this.element = h("div", { class: "compared" }, h("ul", {}, items), add);
    this.show(studies);
  }

  #item(/** @type {Study} */ study) {
    const name = h("a", { href: `/studies/${encodeURIComponent(study.id)}` }, study.name);
    const rest = addressOf(this.ids.filter((id) => id !== study.id));
    const leaving = { href: rest, class: "leave-out", "aria-label": `Leave out ${study.name}` };
    return h("li", {}, name, " ", this.states.get(study.id), " ", h("a", leaving, "Leave out"));
  }

  show(/** @type {Study[]} */ studies) {
    for (const study of studies) {
      const state = this.states.get(study.id);
      if (!state) continue;
      setText(state, stateWords(study));
      state.dataset.state = lookOf(study);
    }
  }
}

function note(/** @type {HTMLElement} */ page, title, words) {
  const back = h("p", {}, h("a", { href: "/" }, "All studies"));
  page.replaceChildren(h("section", { class: "empty" }, h("h1", {}, title), h("p", {}, words), back));
}

const missingWords = (/** @type {string[]} */ missing) =>
  missing.length === 1
    ? `There is no study ${missing[0]}; it may have been deleted.`
    : `There are no studies ${missing.join(", ")}; they may have been deleted.`;

/** The page of a trial, which in an overlay is called study/trial. */
function pickFrom(/** @type {Study} */ first) {
  return (/** @type {string} */ trial) => {
    const [study, id] = trial.includes("/") ? trial.split("/") : [first.id, trial];
    location.assign(`/studies/${encodeURIComponent(study)}?trial=${encodeURIComponent(id)}`);
  };
}

async function showStudies(/** @type {HTMLElement} */ page, /** @type {Study[]} */ studies, missing) {
  const [first] = studies;
  const ids = studies.map((study) => study.id);
  const name = studies.map((study) => study.name).join(" and ");
  /** @type {{ studies: ListedStudy[] }} */
  const { studies: all } = await get(`/api/studies?limit=${OFFERED}`);
  document.title = `${name} – Paretoscope`;
  const compared = new Compared(studies, all);
  const differ = differenceWords(studies.map((study) => study.spec));
  const verdict = h("p", { class: "verdict" }, "…");
  const arms = new ArmsTable([], first.spec.objectives, metricsOf(...studies));
  arms.element.classList.add("across");
  let round = 0;
  const follower = new Follower({
    read: async () => (await readStudies(ids)).studies,
    onStudies: (fresh) => compared.show(fresh),
    refresh: async () => {
      const mine = ++round;
      try {
        const comparison = await get(`${studyPath(first.id)}/comparison?studies=${ids.join(",")}`);
        if (mine !== round) return; // a newer one was asked for
        setText(verdict, comparison.verdict);
        arms.show(comparison);
      } catch (error) {
        if (mine === round) setText(verdict, error.message);
      }
    },
  });
  const over = { id: first.id, overlaid: ids.join(","), name, arms: studies.flatMap((study) => study.arms) };
  const reader = { onPick: pickFrom(first), again: (panel) => follower.again(panel) };
  const { above, tabs } = grouped(shared(studies));
  const panelOf = (/** @type {FigureOffer} */ figure) => figurePanel(over, figure, reader);
  const mainPanels = above.map(panelOf);
  const tabPanels = tabs.map((tab) => ({ ...tab, panels: tab.figures.map(panelOf) }));
  const panels = [...mainPanels, ...tabPanels.flatMap((tab) => tab.panels)];
  const grid = (/** @type {FigurePanel[]} */ members) =>
    h("div", { class: "figures" }, members.map((panel) => panel.element));
  const items = tabPanels.map((tab) => ({ name: tab.name, title: tab.title, element: grid(tab.panels) }));
  const drawAll = () => panels.forEach((panel) => panel.draw());
  const tabbed = items.length ? new Tabs(items, "More about these studies", drawAll) : null;
  const gone = { class: "missing bad", role: "status", hidden: !missing.length };
  page.style.setProperty("--arms", String(over.arms.length));
  page.replaceChildren(
    h("h1", {}, studies.length === 1 ? "One study; add another to compare" : `${studies.length} studies compared`),
    compared.element,
    h("p", gone, missing.length ? missingWords(missing) : ""),
    h("p", { class: "differ", hidden: !differ }, differ),
    h("div", { class: "verdict-box" }, verdict),
    grid(mainPanels),
    arms.element,
    ...(tabbed ? [tabbed.element] : []),
  );
  panels.forEach((panel) => follower.add(panel));
  follower.start(studies);
}

export async function showCompare(/** @type {HTMLElement} */ page, showCrumbs) {
  document.title = "Compare – Paretoscope";
  showCrumbs(h("a", { href: "/" }, "studies"), h("span", {}, "compare"));
  const ids = [...new Set((chosen("studies") ?? "").split(",").filter(Boolean))].slice(0, MOST);
  const hint = "Select two or more studies, then choose Compare below the list.";
  if (!ids.length) return note(page, "Nothing to compare yet", hint);
  page.replaceChildren(h("p", { class: "muted" }, "Loading …"));
  try {
    const { studies, missing } = await readStudies(ids);
    if (!studies.length) return note(page, "None of these studies is here", missingWords(missing));
    await showStudies(page, studies, missing);
  } catch (error) {
    note(page, "The studies could not be read", error.message);
    if (error.status === undefined) setTimeout(() => showCompare(page, showCrumbs), AGAIN);
  }
}
