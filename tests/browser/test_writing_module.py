"""A study being written: what is checked, when, and what may be run; on a clock that the test moves."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium

# A study being written, on the stage: `check` is what the next check answers, `waiting` holds those that are late.
NEW = """
  const { showNew } = await load("pages/new");
  const page = document.getElementById("page");
  const valid = { valid: true, spec: { name: "x", arms: [] }, trials: 3, arms: [], metrics: [], objectives: [],
    warnings: [], cost: { training_seconds: null, wall_seconds: null, basis: "b", arms: [] } };
  const empty = Object.fromEntries(["data", "models", "problems", "weightings", "searches", "attacks", "sections",
    "metrics"].map((key) => [key, []]));
  stage.answers = { "/api/catalog": empty, "/api/presets": { presets: [] }, "/api/studies/check": valid };
  history.replaceState(null, "", "/new?view=yaml&preset=empty");
  await showNew(page);
  await stage.settle();
  const [editor, run] = [page.querySelector("textarea"), page.querySelector("button[type=submit]")];
  const type = async (text) => { editor.value = text; editor.dispatchEvent(new Event("input")); await stage.settle(); };
  const words = () => page.querySelector(".check-words").textContent;
  const checks = () => stage.asked.filter(({ path }) => path.endsWith("/check")).map(({ body, at }) => [body, at]);
"""


def new(page: Page, script: str) -> Any:
    done = "sessionStorage.clear(); page.replaceChildren();"
    return play(
        page, f"async (stage) => {{ {NEW} const seen = await (async () => {{ {script} }})(); {done} return seen; }}"
    )


def test_a_text_that_was_not_checked_cannot_be_run(stage: Page) -> None:
    script = """const ready = run.disabled;
      let late;
      stage.answers["/api/studies/check"] = () => new Promise((done) => (late = done));
      await type("name: one");
      await stage.pass(400);
      await type("name: two");
      late({ ...valid, trials: 9 });
      await stage.settle();
      const between = [run.disabled, words()];
      stage.answers["/api/studies/check"] = { ...valid, trials: 5 };
      await stage.pass(400);
      return [ready, between, run.disabled, words()];"""
    ready, between, after, words = new(stage, script)
    assert ready is False
    assert between == [True, "3 trials in 0 arms"], "the answer to an older text says nothing about this one"
    assert (after, words) == (False, "5 trials in 0 arms")


def test_a_text_is_checked_once_it_rests(stage: Page) -> None:
    script = """const first = checks().length;
      for (const text of ["a", "ab", "abc"]) { await type(text); await stage.pass(399); }
      const early = checks().length - first;
      await stage.pass(1);
      return [early, checks().slice(first)];"""
    early, checks = new(stage, script)
    assert early == 0 and [body for body, _ in checks] == ["abc"]


def test_a_check_that_is_lost_is_tried_again_and_one_that_is_refused_is_said(stage: Page) -> None:
    script = """stage.answers["/api/studies/check"] = new Error("lost");
      await type("name: x");
      await stage.pass(400);
      const lost = [run.disabled, words()];
      stage.answers["/api/studies/check"] = valid;
      await stage.pass(2000);
      const found = [run.disabled, words()];
      stage.answers["/api/studies/check"] = { valid: false, spec: null, error: { message: "no", details: [] } };
      await type("name: y");
      await stage.pass(400);
      return [lost, found, run.disabled, words(), page.querySelector(".errors").textContent];"""
    lost, found, disabled, words, errors = new(stage, script)
    assert lost == [True, "Not checked: the service cannot be reached."]
    assert found == [False, "3 trials in 0 arms"]
    assert (disabled, words, errors) == (True, "One thing to correct", "no")


def test_a_changed_study_is_another_submission_and_a_refused_one_waits_for_a_change(stage: Page) -> None:
    script = """const sent = () => stage.asked.filter(({ path }) => path === "/api/studies");
      const keys = () => sent().map(({ headers }) => headers["Idempotency-Key"]);
      const refuse = (status) => (stage.answers["/api/studies"] = () =>
        Response.json({ error: { message: `said ${status}`, details: [] } }, { status }));
      const submit = async () => {
        page.querySelector("form.new").requestSubmit(run);
        await stage.settle();
        return run.disabled;
      };
      refuse(503);
      const free = [await submit(), await submit()];
      await type("name: z");
      run.disabled = true;
      page.querySelector("form.new").dispatchEvent(new Event("submit", { cancelable: true }));
      await stage.pass(400);
      refuse(422);
      const locked = await submit();
      return [free, locked, keys(), page.querySelector(".errors").textContent];"""
    free, locked, keys, said = new(stage, script)
    assert (free, locked, said) == ([False, False], True, "said 422")
    assert len(keys) == 3 and keys[0] == keys[1] != keys[2], "what is not checked is not sent"


def test_a_study_that_runs_is_gone_to_and_its_draft_is_not_kept(stage: Page) -> None:
    script = """const went = [];
      const note = (event) => { event.preventDefault(); went.push(new URL(event.destination.url).pathname); };
      await type("# mine\\nname: z");
      await stage.pass(400);
      const kept = sessionStorage.length;
      stage.answers["/api/studies"] = { id: "s7" };
      navigation.addEventListener("navigate", note);
      page.querySelector("form.new").requestSubmit(run);
      await stage.settle();
      navigation.removeEventListener("navigate", note);
      const [sent] = stage.asked.filter(({ path }) => path === "/api/studies");
      return [kept, sessionStorage.length, went, sent.body];"""
    assert new(stage, script) == [1, 0, ["/studies/s7"], "# mine\nname: z"]
