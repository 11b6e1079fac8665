// One study: its state, a verdict, the information plane and the front as they grow, arms, and tabs for the rest.

import { Brush } from "../figures/brush.js";
import { figurePanel, grouped } from "../figures/controls.js";
import { chosen } from "../kit/address.js";
import { get, studyPath } from "../kit/api.js";
import { h, setText } from "../kit/dom.js";
import { plural } from "../kit/format.js";
import { Live } from "../kit/live.js";
import { metricsOf } from "../kit/metrics.js";
import { shortcut } from "../kit/shortcuts.js";
import { Tabs } from "../kit/tabs.js";
import { vocabulary } from "../kit/vocabulary.js";
import { ArmsTable } from "./arms-table.js";
import { PointPicker } from "./point-picker.js";
import { specPanel } from "./spec.js";
import { StudyHead } from "./study-head.js";
import { TrialDrawer } from "./trial-drawer.js";
import { TrialsTable } from "./trials-table.js";

/** @typedef {import("../figures/figure-panel.js").FigurePanel} FigurePanel */

function showMissing(/** @type {HTMLElement} */ page, title, message) {
  const back = h("p", {}, h("a", { href: "/" }, "All studies"));
  page.replaceChildren(h("section", { class: "empty" }, h("h2", {}, title), h("p", {}, message), back));
}

/** The verdict, and beneath it what failed and where to see it. */
class Verdict {
  constructor(/** @type {Study} */ study, onShowFailed) {
    this.path = studyPath(study.id);
    this.sentence = h("p", { class: "verdict" }, "…");
    this.failures = h("span", {});
    this.link = h("button", { type: "button", class: "link", onclick: onShowFailed, hidden: true }, "Show");
    const failures = h("p", { class: "failures" }, this.failures, " ", this.link);
    this.element = h("div", { class: "verdict-box" }, this.sentence, failures);
    this.failed = 0;
  }

  async show(/** @type {Comparison} */ comparison) {
    setText(this.sentence, comparison.verdict);
    const failed = comparison.arms.reduce((sum, arm) => sum + arm.counts.failed, 0);
    if (failed === this.failed) return;
    const { trials } = await get(`${this.path}/trials?state=failed&limit=1`);
    this.failed = failed;
    setText(this.failures, `${plural(failed, "trial")} failed: ${trials[0]?.reason ?? "no reason was given"}`);
    this.link.hidden = false;
  }
}

/** Two figures stand above the tabs: the main ones, or the front with another beside it. @param {Study} study */
function arranged({ figures }) {
  const { above } = grouped(figures);
  const isBeside = (figure) => above.length < 2 && figure.name === vocabulary.beside_the_front;
  const below = figures.filter((figure) => !above.includes(figure) && !isBeside(figure));
  return { above: [...above, ...figures.filter(isBeside)], tabs: grouped(below).tabs };
}

/** @returns {Promise<Study | null>} */
async function readStudy(page, id, again) {
  try {
    return await get(studyPath(id));
  } catch (error) {
    const message = `No study has the id ${id}. It may have been deleted.`;
    if (error.status === 404) showMissing(page, "There is no such study", message);
    else showMissing(page, "The study could not be read", error.message);
    if (error.status === undefined) setTimeout(again, 2000);
    return null;
  }
}

export async function showStudy(/** @type {HTMLElement} */ page, /** @type {string} */ id, showCrumbs) {
  const path = studyPath(id);
  showCrumbs(h("a", { href: "/" }, "studies"), h("span", {}, id));
  page.replaceChildren(h("p", { class: "muted" }, "Loading …"));
  const study = await readStudy(page, id, () => showStudy(page, id, showCrumbs));
  if (!study) return;
  if (study.unreadable) {
    const stored = h("pre", {}, JSON.stringify(study.spec, null, 2));
    const section = h("section", {}, h("h2", {}, "Its spec, as it is stored"), stored);
    page.replaceChildren(new StudyHead(study).element, section);
    return;
  }
  const sliders = study.curves ? await import("./curve-slider.js") : null; // of few studies
  const metrics = metricsOf(study);
  showCrumbs(h("a", { href: "/" }, "studies"), h("span", { class: "crumb-name" }, study.name));

  const head = new StudyHead(study, (fresh) => live.follow(fresh));
  const gone = () => showMissing(page, "This study was deleted", "Someone deleted it while this page was open.");
  const live = new Live(study, (fresh) => head.show(fresh), gone);
  const followed = new Map(); // by panel: what the live page fetches it with
  const again = (panel) => live.again(followed.get(panel));
  const brush = new Brush();
  const drawer = new TrialDrawer(study, metrics, () => select(null));
  const trials = new TrialsTable(study, metrics, { onPick: pick, onChange: () => again(trials), brush });
  const notice = new Verdict(study, () => openTrials(() => trials.filterState("failed")));
  const arms = new ArmsTable(study.arms, study.spec.objectives, metrics);
  const { above, tabs } = arranged(study);
  const panelOf = (/** @type {FigureOffer} */ figure) => figurePanel(study, figure, { onPick: pick, brush, again });
  const mainPanels = above.map(panelOf);
  const tabPanels = tabs.map((tab) => ({ ...tab, panels: tab.figures.map(panelOf) }));
  const panels = [...mainPanels, ...tabPanels.flatMap((tab) => tab.panels)];
  const grid = (/** @type {FigurePanel[]} */ members) =>
    h("div", { class: "figures" }, members.map((panel) => panel.element));
  const tabbed = new Tabs(
    [
      ...tabPanels.map((tab) => ({ name: tab.name, title: tab.title, element: grid(tab.panels) })),
      { name: "trials", title: "Trials", element: trials.element },
      { name: "spec", title: "Spec and methods", element: specPanel(study) },
    ],
    "More about this study",
    (name) => tabPanels.find((tab) => tab.name === name)?.panels.forEach((panel) => panel.draw()),
  );
  page.style.setProperty("--arms", String(study.arms.length)); // their table and legends take height from the start
  const onMove = () => mainPanels.forEach((panel) => panel.point((axes) => slider?.marks(axes) ?? []));
  const slider = sliders ? new sliders.CurveSlider(study, metrics, { onMove, onChange: () => again(slider) }) : null;
  const along = slider ? [slider] : [];
  const picker = new PointPicker(study, metrics, { onPicked: select, onShow: pick });
  head.actions.insertBefore(picker.button, head.notes.button);
  const parts = [head, notice, { element: grid(mainPanels) }, picker, ...along, brush, arms, tabbed, drawer];
  page.replaceChildren(...parts.map((part) => part.element));

  function openTrials(then) {
    tabbed.open("trials");
    then();
  }
  function select(/** @type {string | null} */ trial) {
    trials.select(trial);
    for (const panel of panels) panel.select(trial);
  }
  function pick(/** @type {string} */ trial) {
    drawer.open(trial);
    select(trial);
    live.again(drawerPanel);
  }
  function step(by) {
    const next = trials.neighbour(by);
    if (next) pick(next);
  }

  brush.list.addEventListener("click", () => openTrials(() => trials.filterBrushed()));
  const follow = (/** @type {FigurePanel | TrialsTable | import("./curve-slider.js").CurveSlider} */ panel) =>
    followed.set(panel, live.add({ element: panel.element, refresh: () => panel.refresh() }));
  [...mainPanels, ...along].forEach(follow);
  live.add({
    refresh: async () => {
      const comparison = await get(`${path}/comparison`);
      arms.show(comparison);
      slider?.showLights(comparison.lights);
      await notice.show(comparison);
    },
  });
  [...tabPanels.flatMap((tab) => tab.panels), trials].forEach(follow);
  const drawerPanel = live.add({ refresh: () => drawer.refresh() });
  const opened = chosen("trial");
  if (opened) pick(opened);
  shortcut("1 … 9", "open the first to ninth tab", () => {});
  tabbed.items.forEach((_, i) => shortcut(String(i + 1), "", () => tabbed.openNumber(i + 1)));
  shortcut("j", "next trial of the table", () => step(1));
  shortcut("k", "trial above it", () => step(-1));
  if (slider) shortcut("b", "move along the curve", () => slider.input.focus());
  shortcut("f", "filter the trials", () => openTrials(() => trials.where.focus()));
  const closeOrClear = () => (drawer.trial === null ? brush.set(null) : drawer.close());
  shortcut("Escape", "close the trial, or clear the selection", closeOrClear);
  shortcut("r", "run again, changed", () => location.assign(`/new?from=${encodeURIComponent(study.id)}`));
  live.start();
}
