// One study: its state, a verdict, the information plane and the front as they grow, arms, and tabs for the rest.

import { get, studyPath } from "./api.js";
import { chosen } from "./address.js";
import { ArmsTable } from "./arms.js";
import { Brush } from "./brush.js";
import { h, setText } from "./dom.js";
import { plural } from "./format.js";
import { Live } from "./live.js";
import { figurePanel } from "./panels.js";
import { shortcut } from "./shortcuts.js";
import { specPanel } from "./spec.js";
import { StudyHead } from "./study-head.js";
import { Tabs } from "./tabs.js";
import { TrialDrawer } from "./trial.js";
import { TrialsTable } from "./trials.js";

const GROUPS = [
  ["cost", "Cost"], ["sensitivity", "Sensitivity"], ["robustness", "Robustness"], ["curves", "Curves"],
  ["weights", "Weights"], ["codes", "Codes"], ["runs", "Runs"],
];

function showMissing(page, title, message) {
  const back = h("p", {}, h("a", { href: "/" }, "All studies"));
  page.replaceChildren(h("section", { class: "empty" }, h("h2", {}, title), h("p", {}, message), back));
}

/** The verdict, and beneath it what failed and where to see it. */
class Verdict {
  constructor(study, onShowFailed) {
    this.path = studyPath(study.id);
    this.sentence = h("p", { class: "verdict" }, "…");
    this.failures = h("span", {});
    this.link = h("button", { type: "button", class: "link", onclick: onShowFailed, hidden: true }, "Show");
    this.element = h("div", { class: "verdict-box" }, this.sentence, h("p", { class: "failures" }, this.failures, " ", this.link));
    this.failed = 0;
  }

  async show(comparison) {
    setText(this.sentence, comparison.verdict);
    const failed = comparison.arms.reduce((sum, arm) => sum + arm.counts.failed, 0);
    if (failed === this.failed) return;
    const { trials } = await get(`${this.path}/trials?state=failed&limit=1`);
    this.failed = failed;
    setText(this.failures, `${plural(failed, "trial")} failed: ${trials[0]?.reason ?? "no reason was given"}`);
    this.link.hidden = false;
  }
}

/** Two figures stand above the tabs: the main ones, or the front and the first of the others. */
function arranged(figures) {
  const main = figures.filter((figure) => figure.group === "main");
  const beside = main.length < 2 ? figures.filter((figure) => figure.name === "accuracy-by-method") : [];
  const above = [...main, ...beside];
  const below = figures.filter((figure) => !above.includes(figure));
  return { above, tabs: GROUPS.map(([name, title]) => ({ name, title, figures: below.filter((f) => f.group === name) })).filter((tab) => tab.figures.length) };
}

async function readStudy(page, id, again) {
  try {
    return await get(studyPath(id));
  } catch (error) {
    if (error.status === 404) showMissing(page, "There is no such study", `No study has the id ${id}. It may have been deleted.`);
    else showMissing(page, "The study could not be read", error.message);
    if (error.status === undefined) setTimeout(again, 2000);
    return null;
  }
}

export async function showStudy(page, id, showCrumbs) {
  const path = studyPath(id);
  showCrumbs(h("a", { href: "/" }, "studies"), h("span", {}, id));
  page.replaceChildren(h("p", { class: "muted" }, "Loading …"));
  const study = await readStudy(page, id, () => showStudy(page, id, showCrumbs));
  if (!study) return;
  const metrics = new Map(study.metrics.map((metric) => [metric.name, metric]));
  showCrumbs(h("a", { href: "/" }, "studies"), h("span", { class: "crumb-name" }, study.name));

  const head = new StudyHead(study);
  const gone = () => showMissing(page, "This study was deleted", "Someone deleted it while this page was open.");
  const live = new Live(study, (fresh) => head.show(fresh), gone);
  const followed = new Map(); // figure panels and the live panels that fetch them
  const again = (panel) => live.again(followed.get(panel));
  const brush = new Brush();
  const drawer = new TrialDrawer(study, metrics, () => select(null));
  const trials = new TrialsTable(study, metrics, { onPick: pick, onChange: () => again(trials), brush });
  const notice = new Verdict(study, () => openTrials(() => trials.filterState("failed")));
  const arms = new ArmsTable(study, metrics);
  const { above, tabs } = arranged(study.figures);
  const panelOf = (figure) => figurePanel(study, figure, { onPick: pick, brush, again });
  const mainPanels = above.map(panelOf);
  const grouped = tabs.map((tab) => ({ ...tab, panels: tab.figures.map(panelOf) }));
  const panels = [...mainPanels, ...grouped.flatMap((tab) => tab.panels)];
  const grid = (members) => h("div", { class: "figures" }, members.map((panel) => panel.element));
  const tabbed = new Tabs(
    [
      ...grouped.map((tab) => ({ name: tab.name, title: tab.title, element: grid(tab.panels) })),
      { name: "trials", title: "Trials", element: trials.element },
      { name: "spec", title: "Spec and methods", element: specPanel(study) },
    ],
    "More about this study",
    (name) => grouped.find((tab) => tab.name === name)?.panels.forEach((panel) => panel.draw()),
  );
  page.style.setProperty("--arms", study.arms.length); // their table and legends take height from the start
  page.replaceChildren(head.element, notice.element, grid(mainPanels), brush.element, arms.element, tabbed.element, drawer.element);

  function openTrials(then) {
    tabbed.open("trials");
    then();
  }
  function select(trial) {
    trials.select(trial);
    for (const panel of panels) panel.select(trial);
  }
  function pick(trial) {
    drawer.open(trial);
    select(trial);
    live.again(drawerPanel);
  }
  function step(by) {
    const next = trials.neighbour(by);
    if (next) pick(next);
  }

  brush.list.addEventListener("click", () => openTrials(() => trials.filterBrushed()));
  const follow = (panel) => followed.set(panel, live.add({ element: panel.element, refresh: () => panel.refresh() }));
  mainPanels.forEach(follow);
  live.add({
    refresh: async () => {
      const comparison = await get(`${path}/comparison`);
      arms.show(comparison);
      await notice.show(comparison);
    },
  });
  [...grouped.flatMap((tab) => tab.panels), trials].forEach(follow);
  const drawerPanel = live.add({ refresh: () => drawer.refresh() });
  if (chosen("trial")) pick(chosen("trial"));
  shortcut("1 … 9", "open the first to ninth tab", () => {});
  tabbed.items.forEach((_, i) => shortcut(String(i + 1), "", () => tabbed.openNumber(i + 1)));
  shortcut("j", "next trial of the table", () => step(1));
  shortcut("k", "trial above it", () => step(-1));
  shortcut("f", "filter the trials", () => openTrials(() => trials.where.focus()));
  shortcut("Escape", "close the trial, or clear the selection", () => (drawer.trial === null ? brush.set(null) : drawer.close()));
  shortcut("r", "run again, changed", () => location.assign(`/new?from=${encodeURIComponent(study.id)}`));
  live.start();
}
