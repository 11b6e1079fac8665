// One study: its state, a verdict, the information plane and the front as they grow, arms, further figures, trials, spec.

import { get, post, remove, studyPath } from "./api.js";
import { ArmsTable } from "./arms.js";
import { confirmed, h, setText } from "./dom.js";
import { FigurePanel } from "./figures.js";
import { capital, ENDED, metricLabel, plural, stateWords } from "./format.js";
import { progressBar, setProgress } from "./list.js";
import { Live } from "./live.js";
import { furtherPanels } from "./panels.js";
import { TrialDrawer } from "./trial.js";
import { TrialsTable } from "./trials.js";
import { verdict } from "./verdict.js";
import { toYaml } from "./yaml.js";

const MOST_TRIALS = 20_000;

function showMissing(page, title, message) {
  const back = h("p", {}, h("a", { href: "/" }, "All studies"));
  page.replaceChildren(h("section", { class: "empty" }, h("h2", {}, title), h("p", {}, message), back));
}

/** Name, state in words, progress, and what can be done with the study. */
class Head {
  constructor(study) {
    const path = studyPath(study.id);
    this.state = h("p", { class: "state" });
    this.reason = h("p", { class: "reason" });
    this.bar = progressBar();
    this.cancel = confirmed({
      label: "Cancel",
      question: "Cancel this study? Its results are kept.",
      yes: "Cancel the study",
      no: "Keep it",
      act: async () => this.show(await post(`${path}/cancel`)),
    });
    this.remove = confirmed({
      label: "Delete",
      question: "Delete this study and all its results?",
      yes: "Delete the study",
      no: "Keep it",
      act: async () => {
        await remove(path);
        location.assign("/");
      },
    });
    const again = h("a", { href: `/new?from=${encodeURIComponent(study.id)}` }, "Run again, changed");
    const actions = h("div", { class: "actions" }, again, this.cancel, this.remove);
    const title = h("div", { class: "title" }, h("h1", {}, study.name), this.state);
    this.element = h("div", { class: "study-head" }, title, actions, this.bar, this.reason);
    this.show(study);
  }

  show(study) {
    const words = stateWords(study);
    setText(this.state, words);
    this.state.dataset.state = study.state;
    setText(this.reason, capital(study.reason ?? ""));
    setProgress(this.bar, study);
    const ended = ENDED.includes(study.state);
    this.cancel.hidden = ended;
    this.remove.hidden = !ended;
    const short = study.state === "running" ? `${study.counts.finished}/${study.counts.planned}` : study.state;
    document.title = `${short} · ${study.name} – Paretoscope`;
    if (this.announced !== study.state) setText(document.getElementById("announce"), `The study is ${words.split(" · ")[0]}.`);
    this.announced = study.state;
  }
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
    setText(this.sentence, verdict(comparison));
    const failed = comparison.arms.reduce((sum, arm) => sum + arm.counts.failed, 0);
    if (failed === this.failed) return;
    this.failed = failed;
    const { trials } = await get(`${this.path}/trials?state=failed&limit=1`);
    setText(this.failures, `${plural(failed, "trial")} failed: ${trials[0]?.reason ?? "no reason was given"}`);
    this.link.hidden = false;
  }
}

/** Two selects; the choice stands in the address, so that a link shows the same front. */
function metricSelects(study, metrics, onChange) {
  const query = new URLSearchParams(location.search);
  const [first, second] = study.spec.objectives.map((objective) => objective.metric);
  const make = (name, fallback) => {
    const wanted = metrics.has(query.get(name)) ? query.get(name) : fallback;
    const option = (metric) => h("option", { value: metric.name, selected: metric.name === wanted }, metricLabel(metric));
    const select = h("select", {}, [...metrics.values()].map(option));
    select.addEventListener("change", () => {
      const now = new URLSearchParams(location.search);
      now.set(name, select.value);
      history.replaceState(null, "", `?${now}`);
      onChange();
    });
    return select;
  };
  const [x, y] = [make("x", first), make("y", second)];
  return { x, y, element: h("div", { class: "selects" }, h("label", {}, "x ", x), h("label", {}, "y ", y)) };
}

export async function showStudy(page, id, showCrumbs) {
  const path = studyPath(id);
  showCrumbs(h("a", { href: "/" }, "studies"), h("span", {}, id));
  page.replaceChildren(h("p", { class: "muted" }, "Loading …"));
  let study;
  try {
    study = await get(path);
  } catch (error) {
    if (error.status === 404) return showMissing(page, "There is no such study", `No study has the id ${id}. It may have been deleted.`);
    showMissing(page, "The study could not be read", error.message);
    if (error.status === undefined) setTimeout(() => showStudy(page, id, showCrumbs), 2000);
    return;
  }
  const metrics = new Map(study.metrics.map((metric) => [metric.name, metric]));
  showCrumbs(h("a", { href: "/" }, "studies"), h("span", { class: "crumb-name" }, study.name));

  const head = new Head(study);
  const gone = () => showMissing(page, "This study was deleted", "Someone deleted it while this page was open.");
  const live = new Live(study, (fresh) => head.show(fresh), gone);
  const drawer = new TrialDrawer(study, metrics, () => select(null));
  const trials = new TrialsTable(study, metrics, pick);
  const notice = new Verdict(study, () => trials.filterState("failed"));
  const arms = new ArmsTable(study, metrics);
  const selects = metricSelects(study, metrics, () => live.again(frontPanel));
  const plane = new FigurePanel({
    title: "Information plane",
    address: () => `${path}/figures/information-plane`,
    filename: `${study.name} information plane`,
    onPick: pick,
  });
  const front = new FigurePanel({
    title: "Pareto front",
    address: () => `${path}/figures/pareto-front?x=${selects.x.value}&y=${selects.y.value}`,
    filename: `${study.name} Pareto front`,
    controls: [selects.element],
    onPick: pick,
  });
  const spec = h("details", { class: "spec" }, h("summary", {}, "Spec"), h("pre", { tabindex: "0" }, toYaml(study.spec)));
  const hasPlane = study.figures.includes("information-plane");
  const further = furtherPanels(study, metrics, pick, (panel) => live.again(furtherLive.get(panel)));
  const elements = [...(hasPlane ? [plane] : []), front, ...further].map((panel) => panel.element);
  page.style.setProperty("--arms", study.arms.length); // their table and legends take height from the start
  const figures = h("div", { class: "figures" }, elements.slice(0, 2));
  const below = h("div", { class: "figures further" }, elements.slice(2));
  page.replaceChildren(head.element, notice.element, figures, arms.element, below, trials.element, spec, drawer.element);

  function select(trial) {
    trials.select(trial);
    for (const panel of [plane, front, ...further]) panel.select(trial);
  }
  function pick(trial) {
    drawer.open(trial);
    select(trial);
    live.again(drawerPanel);
  }

  live.add({
    refresh: async () => {
      const comparison = await get(`${path}/comparison`);
      arms.show(comparison);
      await notice.show(comparison);
    },
  });
  if (hasPlane) live.add({ element: plane.element, refresh: () => plane.refresh() });
  const frontPanel = live.add({ element: front.element, refresh: () => front.refresh() });
  const added = further.map((panel) => [panel, live.add({ element: panel.element, refresh: () => panel.refresh() })]);
  const furtherLive = new Map(added);
  live.add({ element: trials.element, refresh: async () => trials.show((await get(`${path}/trials?limit=${MOST_TRIALS}`)).trials) });
  const drawerPanel = live.add({ refresh: () => drawer.refresh() });
  live.start();
}
