// All studies, newest first, asked for again every two seconds while someone looks.

import { get, newKey, Offline, postYaml } from "./api.js";
import { h, keyed, setAttr, setText, swatch } from "./dom.js";
import { ENDED, left, moment, stateWords } from "./format.js";

const DEMO = "beta-vs-mib-digits";
const DEMO_WORDS =
  "The demo compares twelve hand-picked βs with MIB’s automatic weights on the digits: 39 short trainings, about a minute.";
const AWAY = "The service cannot be reached. This page goes on by itself once it is back.";
const EVERY = 2000;
const STEP = 50;
const MOST = 1000;

const COLUMNS = [
  ["Study", ""],
  ["State", ""],
  ["Progress", ""],
  ["Trials", "num"],
  ["Failed", "num"],
  ["Arms", "wide"],
  ["Created", "num wide"],
];

export function progressBar() {
  const says = { role: "progressbar", "aria-label": "progress", "aria-valuemin": 0, "aria-valuemax": 100 };
  return h("div", { class: "progress", ...says }, h("div", {}));
}

export function setProgress(bar, study) {
  const done = Math.round(100 * study.progress);
  setAttr(bar, "aria-valuenow", done);
  bar.dataset.state = study.state;
  bar.firstElementChild.style.width = `${100 * study.progress}%`;
}

function makeRow(study) {
  const arms = study.arms.map((arm) => h("span", { class: "arm" }, swatch(arm), arm.name));
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("a", { href: `/studies/${encodeURIComponent(study.id)}` }, study.name)),
    h("td", { class: "state" }),
    h("td", { class: "bar-cell" }, progressBar(), h("span", { class: "muted eta" })),
    h("td", { class: "num trials-cell" }),
    h("td", { class: "num failed-cell" }),
    h("td", { class: "wide arms-cell" }, arms),
    h("td", { class: "num wide", title: study.created_at }, moment(study.created_at)),
  );
}

function updateRow(row, study) {
  const [, state, bar, trials, failed] = row.children;
  const words = study.state === "running" ? "running" : stateWords(study);
  setText(state, words);
  state.dataset.state = study.state;
  setAttr(state, "title", study.reason);
  setProgress(bar.firstElementChild, study);
  const share = `${Math.round(100 * study.progress)} %`;
  setText(bar.lastElementChild, study.eta_seconds === null ? share : `${share} · ${left(study.eta_seconds)}`);
  setText(trials, `${study.counts.finished}/${study.counts.planned}`);
  setText(failed, String(study.counts.failed));
  failed.classList.toggle("bad", study.counts.failed > 0);
}

async function runDemo() {
  const { presets } = await get("/api/presets");
  const preset = presets.find((candidate) => candidate.name === DEMO) ?? presets[0];
  const study = await postYaml("/api/studies", preset.text, { "Idempotency-Key": newKey() });
  location.assign(`/studies/${study.id}`);
}

function emptyState() {
  const problem = h("p", { class: "bad", role: "alert" });
  const button = h("button", { type: "button", class: "primary" }, "Run the demo study");
  button.addEventListener("click", async () => {
    button.disabled = true;
    problem.textContent = "";
    try {
      await runDemo();
    } catch (error) {
      problem.textContent = error.message;
      button.disabled = false;
    }
  });
  return h(
    "section",
    { class: "empty" },
    h("h2", {}, "No study yet"),
    h("p", {}, "A study trains the same model with several ways of weighting its losses and draws their Pareto fronts as they grow."),
    h("p", { class: "muted" }, DEMO_WORDS),
    h("p", { class: "row" }, button, h("a", { href: "/new" }, "Write your own study")),
    problem,
  );
}

export async function showList(page) {
  document.title = "Studies – Paretoscope";
  const body = h("tbody");
  const heads = COLUMNS.map(([title, kind]) => h("th", { scope: "col", class: kind }, title));
  const table = h("table", { class: "studies" }, h("thead", {}, h("tr", {}, heads)), body);
  const summary = h("p", { class: "muted" });
  const more = h("button", { type: "button", hidden: true }, "Show older studies");
  const list = h("section", { hidden: true }, h("h1", {}, "Studies"), summary, h("div", { class: "scroll" }, table), more);
  const empty = emptyState();
  empty.hidden = true;
  const problem = h("p", { class: "bad", role: "alert", hidden: true });
  const waiting = h("p", { class: "muted" }, "Loading …");
  page.replaceChildren(waiting, list, empty, problem);

  let limit = STEP;
  let timer = null;
  async function refresh() {
    clearTimeout(timer);
    if (document.hidden) return;
    try {
      const { studies, next } = await get(`/api/studies?limit=${limit}`);
      keyed(body, studies, (study) => study.id, makeRow, updateRow);
      const active = studies.filter((study) => !ENDED.includes(study.state)).length;
      const count = studies.length === 1 ? "1 study" : `${studies.length} studies`;
      setText(summary, `${count}${next ? " shown" : ""}, ${active} queued or running`);
      list.hidden = studies.length === 0;
      empty.hidden = studies.length > 0;
      more.hidden = next === null || limit >= MOST;
      problem.hidden = true;
    } catch (error) {
      problem.hidden = error instanceof Offline && !list.hidden;
      problem.textContent = error instanceof Offline ? AWAY : `The studies could not be read: ${error.message}`;
    } finally {
      waiting.hidden = true;
    }
    timer = setTimeout(refresh, EVERY);
  }
  more.addEventListener("click", () => {
    limit = Math.min(MOST, limit + STEP);
    refresh();
  });
  document.addEventListener("visibilitychange", refresh);
  await refresh();
}
