// All studies, newest first, asked for again every two seconds while someone looks; several of them can be compared.

import { choose, chosen } from "../kit/address.js";
import { get, Offline } from "../kit/api.js";
import { noStudyYet } from "./demo.js";
import { h, setAttr, setText } from "../kit/dom.js";
import { Rows } from "./list-rows.js";
import { shortcut } from "../kit/shortcuts.js";
import { isEnded, vocabulary } from "../kit/vocabulary.js";

const AWAY = "The service cannot be reached. This page continues when it is back.";
const STATES = vocabulary.study_states.map((state) => state.name);
const EVERY = 2000;
const STEP = 50;
const { studies_listed: MOST, studies_overlaid: MOST_COMPARED } = vocabulary.limits;

const asked = (name) => chosen(name) ?? "";
const counted = (count) => (count === 1 ? "1 study" : `${count} studies`);

/** What the reader looks for, as the service takes it. */
function sought() {
  const state = STATES.includes(asked("state")) ? asked("state") : "";
  const archived = asked("archived") ? "true" : "";
  return Object.entries({ text: asked("q"), tag: asked("tag"), state, archived }).filter(([, value]) => value);
}

/** Text, state and place to filter by. */
function filters(onText, onChange) {
  const box = { type: "search", id: "filter", placeholder: "name, note, tag, data or arm", autocomplete: "off" };
  const text = h("input", { ...box, value: asked("q") });
  const states = STATES.map((state) => h("option", { value: state, selected: asked("state") === state }, state));
  const state = h("select", {}, h("option", { value: "" }, "any state"), states);
  const archived = h("input", { type: "checkbox", checked: Boolean(asked("archived")) });
  text.addEventListener("input", () => onText(text.value));
  state.addEventListener("change", () => onChange({ state: state.value }));
  archived.addEventListener("change", () => onChange({ archived: archived.checked ? "1" : "" }));
  const clear = () => {
    text.value = state.value = "";
    archived.checked = false;
    choose({ q: "", state: "", tag: "", archived: "" });
  };
  const hint = h("span", { class: "muted wide", "aria-hidden": "true" }, h("kbd", {}, "/"));
  const labels = [h("label", {}, "Filter ", text), hint, h("label", {}, "State ", state)];
  labels.push(h("label", {}, archived, " archived"));
  return { text, clear, element: h("div", { class: "filters", role: "search" }, labels) };
}

/** What is selected, kept in the address, and the bar that leads on from it. */
class Selection {
  constructor(onChange) {
    this.ids = new Set(asked("selected").split(",").filter(Boolean).slice(0, MOST_COMPARED));
    this.onChange = onChange;
    this.words = h("span", { role: "status" });
    this.link = h("a", { class: "primary-link" }, "Compare");
    const clear = h("button", { type: "button", class: "link", onclick: () => this.#set([]) }, "Clear");
    this.element = h("div", { class: "selection" }, this.words, this.link, clear);
    this.show();
  }

  toggle(id, chosen) {
    this.#set(chosen ? [...this.ids, id] : [...this.ids].filter((other) => other !== id));
  }

  #set(ids) {
    this.ids = new Set(ids.slice(0, MOST_COMPARED));
    choose({ selected: [...this.ids].join(",") });
    this.show();
    this.onChange();
  }

  get isFull() {
    return this.ids.size >= MOST_COMPARED;
  }

  show() {
    const count = this.ids.size;
    this.element.hidden = count === 0;
    const more = count === 1 ? ", select another to compare" : this.isFull ? ", which is the most" : "";
    setText(this.words, `${counted(count)} selected${more}`);
    this.link.hidden = count < 2;
    setAttr(this.link, "href", `/compare?studies=${[...this.ids].map(encodeURIComponent).join(",")}`);
  }
}

export async function showList(/** @type {HTMLElement} */ page) {
  document.title = "Studies – Paretoscope";
  /** @type {ListedStudy[]} */
  let studies = [];
  /** @type {string | null} */
  let next = null;
  let limit = STEP;
  /** @type {number | undefined} */
  let timer;
  let round = 0;

  const filter = filters(
    (text) => {
      choose({ q: text.trim() });
      refresh();
    },
    (change) => {
      choose(change);
      refresh();
    },
  );
  const selection = new Selection(() => show());
  const rows = new Rows({
    onSelect: (id, chosen) => selection.toggle(id, chosen),
    onSort: (sort) => {
      choose({ sort });
      show();
    },
    isSelected: (id) => selection.ids.has(id),
    isFull: () => selection.isFull,
  });
  const summary = h("p", { class: "muted" });
  const more = h("button", { type: "button", hidden: true }, "Show older studies");
  const noMatch = h("p", {});
  const all = h("button", { type: "button" }, "Show all studies");
  const none = h("div", { class: "no-match", hidden: true }, noMatch, all);
  const head = h("div", { class: "list-head" }, h("h1", {}, "Studies"), summary, filter.element);
  const list = h("section", { class: "list", hidden: true }, head, rows.element, none, more);
  const empty = noStudyYet();
  const problem = h("p", { class: "bad", role: "alert", hidden: true });
  const waiting = h("p", { class: "muted" }, "Loading …");
  page.replaceChildren(waiting, list, empty, problem, selection.element);
  shortcut("/", "go to the filter", () => {
    filter.text.focus();
    filter.text.select();
  });

  function show() {
    const [text, tag, state] = ["q", "tag", "state"].map(asked);
    rows.show(studies, asked("sort"));
    const active = studies.filter((study) => !isEnded(study)).length;
    setText(summary, `${counted(studies.length)}${next ? " shown" : ""}, ${active} queued or running`);
    const isEmpty = studies.length === 0 && !sought().length;
    list.hidden = isEmpty;
    empty.hidden = !isEmpty;
    rows.element.hidden = studies.length === 0;
    none.hidden = studies.length > 0;
    const inAny = "in its name, notes, tags, data or arms";
    const tagged = [tag && `is tagged “${tag}”`, state && `is ${state}`, asked("archived") && "is archived"];
    const what = [text && `has “${text}” ${inAny}`, ...tagged].filter(Boolean).join(" and ");
    setText(noMatch, `No study ${what}.`);
    more.hidden = next === null || limit >= MOST;
  }

  async function refresh() {
    clearTimeout(timer);
    if (document.hidden) return;
    const mine = ++round;
    try {
      const answer = await get(`/api/studies?${new URLSearchParams([["limit", String(limit)], ...sought()])}`);
      if (mine !== round) return;
      ({ studies, next } = answer);
      show();
      problem.hidden = true;
    } catch (error) {
      if (mine !== round) return;
      problem.hidden = error instanceof Offline && !list.hidden; // the banner says it
      problem.textContent = error instanceof Offline ? AWAY : `The studies could not be read: ${error.message}`;
    }
    waiting.hidden = true;
    timer = setTimeout(refresh, EVERY);
  }

  more.addEventListener("click", () => {
    limit = Math.min(MOST, limit + STEP);
    refresh();
  });
  all.addEventListener("click", () => {
    filter.clear();
    filter.text.focus();
    refresh();
  });
  document.addEventListener("visibilitychange", refresh);
  await refresh();
}
