"""What every page is made of: elements that keep their place, questions, keys, tabs and times of day."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium


def test_an_element_is_made_of_what_is_given_and_of_nothing_else(stage: Page) -> None:
    script = """async () => {
      const { h, setAttr, setText } = await load("kit/dom");
      let clicks = 0;
      const element = h("button", { id: "x", hidden: false, title: null, lang: undefined, disabled: true, tabindex: 0,
        onclick: () => (clicks += 1) }, "<b>", null, false, undefined, 0, [h("i", {}, "in")]);
      const html = element.outerHTML;
      element.disabled = false;
      element.click();
      setAttr(element, "title", "t");
      setAttr(element, "id", null);
      setAttr(element, "disabled", false);
      setText(element, "new");
      const node = element.firstChild;
      setText(element, "new");
      return [html, clicks, element.outerHTML, element.firstChild === node];
    }"""
    html, clicks, after, same = play(stage, script)
    assert html == '<button id="x" disabled="" tabindex="0">&lt;b&gt;0<i>in</i></button>'
    assert (clicks, after, same) == (1, '<button tabindex="0" title="t">new</button>', True)


def test_rows_keep_their_identity_while_they_come_go_and_move(stage: Page) -> None:
    script = """async () => {
      const { clearRows, h, keyed } = await load("kit/dom");
      const body = h("ul");
      document.getElementById("page").replaceChildren(body);
      let made = 0;
      const show = (...names) => {
        keyed(body, names, (name) => name, () => h("li", { "data-made": (made += 1) }, h("button")), (row, name) => {
          row.title = name;
        });
        return [...body.children].map((row) => `${row.title}${row.dataset.made}`).join(" ");
      };
      const seen = [show("a", "b", "c")];
      body.children[2].firstChild.focus();
      seen.push(show("c", "a", "d"));
      const focused = document.activeElement === body.children[0].firstChild;
      seen.push(show("d", "c"), show(), show("a"));
      clearRows(body);
      seen.push(String(body.children.length), show("a"));
      return [seen, focused];
    }"""
    seen, focused = play(stage, script)
    assert seen == ["a1 b2 c3", "c3 a1 d4", "d4 c3", "", "a5", "0", "a6"] and focused


def test_what_cannot_be_undone_asks_first_and_says_what_went_wrong(stage: Page) -> None:
    script = """async (stage) => {
      const { confirmed } = await load("kit/dom");
      let [acts, fails] = [0, true];
      const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const act = async () => { acts += 1; await painted(); if (fails) throw new Error("not now"); };
      const box = confirmed({ label: "Delete", question: "Really?", yes: "Yes", no: "No", act });
      document.getElementById("page").replaceChildren(box);
      const button = (words) => [...box.querySelectorAll("button")].find((each) => each.textContent === words);
      const state = () => [acts, box.textContent, document.activeElement.textContent];
      const seen = [];
      button("Delete").click();
      seen.push(state());
      button("No").click();
      seen.push(state());
      button("Delete").click();
      button("Yes").click();
      const busy = button("Yes").disabled && button("No").disabled;
      await painted();
      await stage.settle();
      seen.push(state());
      const free = !button("Yes").disabled && !button("No").disabled;
      let escaped = 0;
      document.addEventListener("keydown", () => (escaped += 1));
      button("Yes").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
      seen.push(state());
      button("Delete").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
      button("Delete").click();
      seen.push(state());
      return [seen, busy, free, escaped];
    }"""
    seen, busy, free, escaped = play(stage, script)
    assert seen == [
        [0, "Really?YesNo", "No"],
        [0, "Delete", "Delete"],
        [1, "Really?YesNonot now", "No"],
        [1, "Delete", "Delete"],
        [1, "Really?YesNo", "No"],
    ], "the safe answer has the focus, and an old complaint is not repeated"
    assert busy and free
    assert escaped == 1, "Escape that closes the question closes nothing else"


def test_keys_act_unless_someone_types_or_means_the_browser(stage: Page) -> None:
    script = """async () => {
      const { shortcut } = await load("kit/shortcuts");
      const { h } = await load("kit/dom");
      let acts = 0;
      shortcut("x", "count", () => (acts += 1));
      const fields = [h("input", { type: "checkbox" }), h("input"), h("textarea"), h("select"),
        h("div", { contenteditable: "true" })];
      const page = document.getElementById("page");
      page.replaceChildren(...fields);
      const counts = [];
      const press = (target, more = {}) => {
        const before = acts;
        target.dispatchEvent(new KeyboardEvent("keydown", { key: "x", bubbles: true, ...more }));
        counts.push(acts - before);
      };
      for (const target of [document.body, ...fields]) press(target);
      for (const key of ["ctrlKey", "metaKey", "altKey", "shiftKey"]) press(document.body, { [key]: true });
      const dialog = h("dialog", {}, h("button"));
      page.append(dialog);
      dialog.showModal();
      press(document.body);
      dialog.close();
      press(document.body);
      return counts;
    }"""
    assert play(stage, script) == [1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]


def test_tabs_go_round_and_stand_in_the_address_but_for_the_first(stage: Page) -> None:
    script = """async () => {
      const { Tabs } = await load("kit/tabs");
      history.replaceState(null, "", "/compare?tab=c");
      const opened = [];
      const items = ["a", "b", "c"].map((name) => ({ name, title: name, element: document.createElement("p") }));
      const tabs = new Tabs(items, "some", (name) => opened.push(name));
      document.getElementById("page").replaceChildren(tabs.element);
      const list = tabs.element.querySelector("[role=tablist]");
      const now = () => [tabs.panels.map((panel) => (panel.hidden ? "-" : "+")).join(""), location.search,
        tabs.buttons.map((button) => button.tabIndex).join(), tabs.buttons.map((b) => b.ariaSelected[0]).join("")];
      const seen = [now()];
      for (const key of ["ArrowRight", "ArrowLeft", "Home", "End", "x"]) {
        list.dispatchEvent(new KeyboardEvent("keydown", { key }));
        seen.push(now());
      }
      tabs.openNumber(2);
      tabs.openNumber(9);
      seen.push(now());
      return [seen, opened, document.activeElement.textContent];
    }"""
    seen, opened, focused = play(stage, script)
    first, third = ["+--", "", "0,-1,-1", "tff"], ["--+", "?tab=c", "-1,-1,0", "fft"]
    assert seen == [third, first, third, first, third, third, ["-+-", "?tab=b", "-1,0,-1", "ftf"]]
    assert (opened, focused) == (["a", "c", "a", "c", "b"], "b")


def test_a_menu_closes_by_escape_and_by_a_click_elsewhere(stage: Page) -> None:
    script = """async () => {
      const { menu } = await load("kit/menu");
      const { h } = await load("kit/dom");
      const element = menu("Save", h("div", {}, h("button", {}, "in it")), { label: "Save all" });
      const page = document.getElementById("page");
      page.replaceChildren(element, h("p", {}, "elsewhere"));
      element.open = true;
      element.querySelector("button").click();
      const inside = element.open;
      page.querySelector("p").click();
      const outside = element.open;
      element.open = true;
      element.querySelector("button").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
      return [inside, outside, element.open, document.activeElement === element.querySelector("summary")];
    }"""
    assert play(stage, script) == [True, False, False, True]


def test_a_moment_of_today_is_a_time_and_any_other_has_its_day(stage: Page) -> None:
    script = """async () => {
      const { moment } = await load("kit/format");
      const now = new Date();
      const at = (years, months) => {
        const day = new Date(now.getFullYear() + years, now.getMonth() + months, now.getDate(), 14, 3);
        return [moment(day.toISOString()), day.getDate()];
      };
      return [moment(null), at(0, 0), at(-1, 0), at(0, -1), moment("2020-10-02T14:03:00")];
    }"""
    none, today, last_year, last_month, fixed = play(stage, script)
    assert (none, today[0], fixed) == ("–", "14:03", "2 Oct, 14:03")
    for text, day in (last_year, last_month):
        assert text.startswith(f"{day} ") and text.endswith(", 14:03")


def test_a_progress_bar_says_and_shows_the_same_share(stage: Page) -> None:
    script = """async () => {
      const { progressBar, setProgress } = await load("kit/progress");
      const bar = progressBar();
      return [[0, "queued"], [0.425, "running"], [1, "finished"]].map(([progress, state]) => {
        setProgress(bar, { progress, state });
        return [bar.getAttribute("aria-valuenow"), bar.firstElementChild.style.width, bar.dataset.state];
      });
    }"""
    assert play(stage, script) == [["0", "0%", "queued"], ["43", "42.5%", "running"], ["100", "100%", "finished"]]


def test_the_first_click_turns_the_systems_theme_round(stage: Page) -> None:
    script = """async () => {
      const { bindToggle } = await load("kit/theme");
      const button = document.createElement("button");
      bindToggle(button);
      const root = document.documentElement;
      const seen = [[root.dataset.theme ?? null, button.textContent]];
      for (let i = 0; i < 2; i += 1) {
        button.click();
        seen.push([root.dataset.theme, button.textContent, localStorage.getItem("paretoscope-theme")]);
      }
      delete root.dataset.theme;
      localStorage.clear();
      return seen;
    }"""
    light, dark = ["light", "Dark", "light"], ["dark", "Light", "dark"]
    try:
        stage.emulate_media(color_scheme="dark")
        assert play(stage, script) == [[None, "Light"], light, dark]
        stage.emulate_media(color_scheme="light")
        assert play(stage, script) == [[None, "Dark"], dark, light]
    finally:
        stage.emulate_media(color_scheme=None)


def test_an_interrupted_study_has_words_and_a_look_of_its_own(stage: Page) -> None:
    script = """async () => {
      const { lookOf, stateWords } = await load("kit/state-words");
      const counts = { planned: 6, running: 0, finished: 3, failed: 1, stopped: 0, collapsed: 0 };
      const bare = { counts, started_at: "2026-01-01T10:00:00Z", ended_at: null, eta_seconds: null, state: "running" };
      const studies = ["Ray is away", null].map((interrupted) => ({ ...bare, interrupted }));
      return studies.map((study) => [lookOf(study), stateWords(study)]);
    }"""
    assert play(stage, script) == [["interrupted", "interrupted 3/6"], ["running", "running 3/6"]]


def test_a_state_says_nothing_that_is_not_known(stage: Page) -> None:
    script = """async () => {
      const { stateWords } = await load("kit/state-words");
      const { vocabulary } = await load("kit/vocabulary");
      const counts = { planned: 6, running: 2, finished: 3, failed: 1, stopped: 0, collapsed: 0 };
      const bare = { counts, started_at: null, ended_at: null, eta_seconds: null };
      const times = { started_at: "2026-01-01T10:00:00Z", ended_at: "2026-01-01T20:00:00Z", ran_seconds: 65 };
      return vocabulary.study_states.map(({ name: state, words }) =>
        [words, state, stateWords({ ...bare, state }), stateWords({ ...bare, ...times, state, queue_position: 2 })]);
    }"""
    seen = play(stage, script)
    needing = [each for each in seen if "{took}" in each[0] or "{place}" in each[0]]
    assert needing and all(bare == state for _, state, bare, _ in needing)
    for words, _, _, whole in needing:
        assert ("1 m 05 s" in whole) == ("{took}" in words) and "{" not in whole
