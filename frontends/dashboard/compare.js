// Several studies laid over each other: what they differ in, one verdict over all their arms, and their figures.

import { chosen } from "./address.js";
import { get, studyPath } from "./api.js";
import { ArmsTable } from "./arms.js";
import { differenceWords } from "./differences.js";
import { h, setText } from "./dom.js";
import { ENDED, stateWords } from "./format.js";
import { MOST_COMPARED } from "./list.js";
import { figurePanel } from "./panels.js";
import { Tabs } from "./tabs.js";

const EVERY = 2000;
const OFFERED = 200;
const GROUPS = [
  ["cost", "Cost"], ["sensitivity", "Sensitivity"], ["robustness", "Robustness"], ["curves", "Curves"], ["weights", "Weights"], ["runs", "Runs"],
];

const addressOf = (ids) => {
  const query = new URLSearchParams(location.search);
  query.set("studies", ids.join(","));
  return `/compare?${query.toString().replaceAll("%2C", ",")}`;
};

/** Those that exist, in the order of the address, and the ids of those that do not. */
async function readStudies(ids) {
  const answers = await Promise.allSettled(ids.map((id) => get(studyPath(id))));
  const broken = answers.find(({ status, reason }) => status === "rejected" && reason.status !== 404);
  if (broken) throw broken.reason;
  const missing = ids.filter((_, i) => answers[i].status === "rejected");
  return { studies: answers.flatMap(({ status, value }) => (status === "fulfilled" ? [value] : [])), missing };
}

/** Figures that every study has, without those that ask for arms or trials by their names in one study. */
function shared(studies) {
  const names = studies.slice(1).map((study) => new Set(study.figures.map((figure) => figure.name)));
  const asksForNames = (figure) => figure.controls.some(({ param }) => param === "arm" || param === "trial");
  return studies[0].figures.filter((figure) => !asksForNames(figure) && names.every((others) => others.has(figure.name)));
}

/** The studies by name, with their state; each can be left out, and another added. */
class Compared {
  constructor(studies, all) {
    const ids = studies.map((study) => study.id);
    this.states = new Map(studies.map((study) => [study.id, h("span", { class: "state" })]));
    const items = studies.map((study) => {
      const name = h("a", { href: `/studies/${encodeURIComponent(study.id)}` }, study.name);
      const rest = ids.filter((id) => id !== study.id);
      return h("li", {}, name, " ", this.states.get(study.id), " ", h("a", { href: addressOf(rest), class: "leave-out", "aria-label": `Leave out ${study.name}` }, "Leave out"));
    });
    const others = all.filter((study) => !ids.includes(study.id));
    const options = others.map((study) => h("option", { value: study.id }, study.name));
    const select = h("select", { disabled: ids.length >= MOST_COMPARED || !others.length }, h("option", { value: "" }, "choose a study"), options);
    select.addEventListener("change", () => select.value && location.assign(addressOf([...ids, select.value])));
    const most = ids.length >= MOST_COMPARED ? h("span", { class: "muted" }, `${MOST_COMPARED} is the most`) : null;
    this.element = h("div", { class: "compared" }, h("ul", {}, items), h("p", { class: "row" }, h("label", {}, "Add ", select), most));
    this.show(studies);
  }

  show(studies) {
    for (const study of studies) {
      const state = this.states.get(study.id);
      setText(state, stateWords(study));
      state.dataset.state = study.state;
    }
  }
}

function note(page, title, words, ...more) {
  const back = h("p", {}, h("a", { href: "/" }, "All studies"));
  page.replaceChildren(h("section", { class: "empty" }, h("h1", {}, title), h("p", {}, words), ...more, back));
}

const missingWords = (missing) =>
  missing.length === 1 ? `There is no study ${missing[0]}; it may have been deleted.` : `There are no studies ${missing.join(", ")}; they may have been deleted.`;

/** Fetches what is in view again whenever a study has moved on. */
class Follower {
  constructor(ids, { onStudies, refresh }) {
    Object.assign(this, { ids, onStudies, refresh });
    this.panels = new Map();
    this.observer = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: "200px" });
    document.addEventListener("visibilitychange", () => this.#poll());
  }

  add(panel) {
    this.panels.set(panel.element, { panel, seq: -1, inView: false });
    this.observer.observe(panel.element);
  }

  again(panel) {
    const held = this.panels.get(panel.element);
    Object.assign(held, { seq: -1, again: held.busy });
    this.#draw();
  }

  #seen(entries) {
    for (const entry of entries) this.panels.get(entry.target).inView = entry.isIntersecting;
    this.#draw();
  }

  start(studies) {
    this.#learn(studies);
    this.#wait();
  }

  #wait() {
    clearTimeout(this.timer);
    if (!this.ended) this.timer = setTimeout(() => this.#poll(), EVERY);
  }

  #learn(studies) {
    this.ended = studies.every((study) => ENDED.includes(study.state));
    const seq = studies.reduce((sum, study) => sum + study.last_seq, 0);
    this.onStudies(studies);
    if (seq === this.seq) return;
    this.seq = seq;
    this.refresh();
    this.#draw();
  }

  async #poll() {
    if (document.hidden || this.ended) return this.#wait();
    try {
      const { studies } = await readStudies(this.ids);
      if (studies.length) this.#learn(studies);
    } catch (error) {
      // Lost, or in trouble: the next round tries again, and the banner says so where nothing answers.
      if (error.status !== undefined) setText(document.getElementById("announce"), error.message);
    }
    this.#wait();
  }

  #draw() {
    for (const held of this.panels.values()) {
      if (!held.inView || held.seq === this.seq || held.busy) continue;
      held.busy = true;
      held.seq = this.seq;
      held.panel
        .refresh()
        .catch((error) => {
          setText(held.panel.note, error.message);
          held.seq = -1;
          setTimeout(() => this.#draw(), EVERY);
        })
        .finally(() => {
          const more = held.again || (held.seq !== this.seq && held.seq !== -1);
          if (held.again) held.seq = -1;
          Object.assign(held, { busy: false, again: false });
          if (more) this.#draw();
        });
    }
  }
}

async function showFound(page, studies, missing) {
  const [first] = studies;
  const ids = studies.map((study) => study.id);
  const metrics = new Map(studies.flatMap((study) => study.metrics).map((metric) => [metric.name, metric]));
  const { studies: all } = await get(`/api/studies?limit=${OFFERED}`);
  document.title = `${studies.map((study) => study.name).join(" and ")} – Paretoscope`;
  const compared = new Compared(studies, all);
  const differ = differenceWords(studies.map((study) => study.spec));
  const verdict = h("p", { class: "verdict" }, "…");
  const arms = new ArmsTable({ arms: [], spec: first.spec }, metrics);
  arms.element.classList.add("across");
  const over = { id: first.id, overlaid: ids.join(","), name: studies.map((study) => study.name).join(" and "), arms: studies.flatMap((study) => study.arms) };
  const pick = (trial) => {
    const [study, id] = trial.includes("/") ? trial.split("/") : [first.id, trial];
    location.assign(`/studies/${encodeURIComponent(study)}?trial=${encodeURIComponent(id)}`);
  };
  const follower = new Follower(ids, {
    onStudies: (fresh) => compared.show(fresh),
    refresh: async () => {
      try {
        const comparison = await get(`${studyPath(first.id)}/comparison?studies=${ids.join(",")}`);
        setText(verdict, comparison.verdict);
        arms.show(comparison);
      } catch (error) {
        setText(verdict, error.message);
      }
    },
  });
  const panelOf = (figure) => figurePanel(over, figure, { onPick: pick, again: (panel) => follower.again(panel) });
  const figures = shared(studies);
  const main = figures.filter((figure) => figure.group === "main").map(panelOf);
  const groups = GROUPS.map(([name, title]) => ({ name, title, panels: figures.filter((figure) => figure.group === name).map(panelOf) }));
  const grid = (panels) => h("div", { class: "figures" }, panels.map((panel) => panel.element));
  const items = groups.filter(({ panels }) => panels.length).map(({ name, title, panels }) => ({ name, title, element: grid(panels) }));
  const panels = [...main, ...groups.flatMap((group) => group.panels)];
  const tabbed = items.length ? new Tabs(items, "More about these studies", () => panels.forEach((panel) => panel.draw())) : null;
  page.style.setProperty("--arms", over.arms.length);
  page.replaceChildren(
    h("h1", {}, studies.length === 1 ? "One study; add another to compare" : `${studies.length} studies compared`),
    compared.element,
    h("p", { class: "missing bad", role: "status", hidden: !missing.length }, missing.length ? missingWords(missing) : ""),
    h("p", { class: "differ", hidden: !differ }, differ),
    h("div", { class: "verdict-box" }, verdict),
    grid(main),
    arms.element,
    ...(tabbed ? [tabbed.element] : []),
  );
  panels.forEach((panel) => follower.add(panel));
  follower.start(studies);
}

export async function showCompare(page, showCrumbs) {
  document.title = "Compare – Paretoscope";
  showCrumbs(h("a", { href: "/" }, "studies"), h("span", {}, "compare"));
  const ids = [...new Set((chosen("studies") ?? "").split(",").filter(Boolean))].slice(0, MOST_COMPARED);
  if (!ids.length) return note(page, "Nothing to compare yet", "Select two or more studies in the list; the bar at its foot leads here.");
  page.replaceChildren(h("p", { class: "muted" }, "Loading …"));
  try {
    const { studies, missing } = await readStudies(ids);
    if (!studies.length) return note(page, "None of these studies is here", missingWords(missing));
    await showFound(page, studies, missing);
  } catch (error) {
    note(page, "The studies could not be read", error.message);
    if (error.status === undefined) setTimeout(() => showCompare(page, showCrumbs), EVERY);
  }
}
