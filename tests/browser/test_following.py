"""Answers that come late, streams that break or end: the page shows what is newest, and asks only for what it lacks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.pages import FRONT, Open, needs_chromium, send, submit, trained, without_drawing
from tests.processes import Running, until

pytestmark = needs_chromium

TITLE = f"document.querySelector('[data-figure=\"{FRONT}\"] .plot')?.layout?.xaxis.title.text"


class Held:
    """Requests that match wait until they are let go."""

    def __init__(self, page: Page, pattern: str) -> None:
        self._routes: list[Route] = []
        self._page = page
        self._holding = True
        page.route(re.compile(pattern), self._hold)

    def _hold(self, route: Route) -> None:
        if self._holding:
            self._routes.append(route)
        else:
            route.continue_()

    def wait(self) -> None:
        until(lambda: self._page.evaluate("1") and self._routes, "the request to be held is asked")

    def let_go(self) -> None:
        """The first of them is answered, and the page has had the answer."""
        self._holding = False
        with self._page.expect_response(self._routes[0].request.url):
            for route in self._routes:
                route.continue_()
        self._page.wait_for_load_state("networkidle")


@pytest.fixture(scope="module")
def finished(alone: Running) -> tuple[str, list[str]]:
    return played(alone, "finished")


def played(alone: Running, name: str, finish: bool = True) -> tuple[str, list[str]]:
    spec: dict[str, Any] = {
        "name": name,
        "training": {"epochs": 3},
        "seeds": [0, 1],
        "arms": [{"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.1]}}}],
    }
    study, trials = submit(alone, spec)
    events = [event for place, trial in enumerate(trials[: 4 if finish else 1]) for event in trained(trial, place)]
    send(alone, study, {"kind": "study_started"}, *events, *([{"kind": "study_finished"}] if finish else []))
    return study, trials


def quiet(opened: Open, alone: Running) -> Any:
    watched = opened(alone)
    without_drawing(watched.page)
    return watched


def test_the_axis_chosen_last_is_the_one_that_is_drawn(
    alone: Running, finished: tuple[str, list[str]], opened: Open
) -> None:
    page = quiet(opened, alone).goto(f"/studies/{finished[0]}")
    page.wait_for_function(f"{TITLE} === 'I(X;Z) [bits]'")
    held = Held(page, r"pareto-front\?x=accuracy")
    axis = page.locator(f'[data-figure="{FRONT}"] select').first
    axis.select_option("accuracy")
    held.wait()
    axis.select_option("seconds")
    held.let_go()
    page.wait_for_function(f"{TITLE} === 'training time [s]'")
    page.wait_for_load_state("networkidle")
    assert page.evaluate(TITLE) == "training time [s]"


def test_the_list_shows_the_state_chosen_last(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    played(alone, "under way", finish=False)
    page = opened(alone).goto("/")
    expect(page.locator("tbody th", has_text="under way")).to_be_visible()
    held = Held(page, r"state=running")
    page.get_by_label("State").select_option("running")
    held.wait()
    page.get_by_label("State").select_option("finished")
    expect(page.locator("tbody th", has_text="under way")).to_have_count(0)
    held.let_go()
    expect(page.locator("tbody th", has_text="finished").first).to_be_visible()
    assert page.locator("tbody th", has_text="under way").count() == 0


def test_the_drawer_never_shows_a_trial_that_was_left(
    alone: Running, finished: tuple[str, list[str]], opened: Open
) -> None:
    study, trials = finished
    page = quiet(opened, alone).goto(f"/studies/{study}?tab=trials")
    rows = page.locator(".trials tbody tr")
    expect(rows).to_have_count(4)
    held = Held(page, rf"/trials/{trials[0]}$")
    watch = """() => {
      window.headings = [];
      const heading = document.querySelector(".drawer h2");
      new MutationObserver(() => window.headings.push(document.querySelector(".drawer").textContent)).observe(
        heading.parentElement.parentElement, { childList: true, subtree: true, characterData: true });
    }"""
    page.evaluate(watch)
    rows.nth(0).get_by_role("button").click()
    held.wait()
    rows.nth(2).get_by_role("button").click()
    held.let_go()
    expect(page.locator(".drawer")).to_contain_text(trials[2])
    seen = page.evaluate("window.headings")
    assert seen and not [text for text in seen if trials[0] in text]


def test_a_check_of_an_older_text_changes_nothing(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?view=yaml&preset=empty")
    words = page.locator(".check-words")
    expect(words).to_have_text("21 trials in 2 arms")
    checks: list[Route] = []

    def hold_wrong(route: Route) -> None:
        wrong = "none" in (route.request.post_data or "")
        checks.append(route) if wrong else route.continue_()

    page.route("**/api/studies/check", hold_wrong)
    editor = page.get_by_label("The study as YAML")
    text = editor.input_value()
    editor.fill(text.replace("seeds: [0, 1, 2]", "seeds: [none]"))
    until(lambda: page.evaluate("1") and checks, "the wrong text is checked")
    editor.fill(text.replace("seeds: [0, 1, 2]", "seeds: [0]"))
    expect(words).to_have_text("7 trials in 2 arms")
    with page.expect_response("**/api/studies/check"):
        checks[0].continue_()
    page.wait_for_load_state("networkidle")
    expect(words).to_have_text("7 trials in 2 arms")
    expect(page.get_by_role("button", name="Run this study")).to_be_enabled()
    assert page.locator(".gutter .marked").count() == 0


def test_an_older_study_does_not_replace_a_newer_one(alone: Running, opened: Open) -> None:
    study, trials = played(alone, "newer", finish=False)
    page = quiet(opened, alone).goto(f"/studies/{study}")
    state = page.locator(".study-head .state")
    expect(state).to_contain_text("running 1/4")
    old = alone.get(f"/api/studies/{study}").json() | {"last_seq": 1, "state": "queued"}
    asked: list[str] = []

    def answer_old(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json=old)

    page.route(f"**/api/studies/{study}", answer_old)
    send(alone, study, *trained(trials[1], 1))
    until(lambda: page.evaluate("1") and asked, "the page asks for the study")
    page.wait_for_load_state("domcontentloaded")
    expect(state).to_contain_text("running 1/4")
    page.unroute(f"**/api/studies/{study}")
    expect(state).to_contain_text("running 2/4")


def test_a_broken_stream_is_taken_up_after_its_last_event(alone: Running, opened: Open) -> None:
    study, _ = played(alone, "broken", finish=False)
    last = alone.get(f"/api/studies/{study}").json()["last_seq"]
    page = quiet(opened, alone).page
    streams: list[str] = []

    def break_first(route: Route) -> None:
        streams.append(route.request.url)
        if len(streams) > 1:
            route.continue_()
            return
        body = f"id: {last + 3}\nevent: report\ndata: {{}}\n\n"
        route.fulfill(body=body, content_type="text/event-stream")

    page.route("**/events?after=*", break_first)
    page.goto(f"{alone.url}/studies/{study}")
    until(lambda: page.evaluate("1") and len(streams) > 1, "the page listens again")
    assert [url.rpartition("after=")[2] for url in streams[:2]] == [str(last), str(last + 3)]


def test_a_study_that_has_ended_is_not_listened_to(
    alone: Running, finished: tuple[str, list[str]], opened: Open
) -> None:
    watched = quiet(opened, alone)
    streams: list[str] = []

    def note(request: Request) -> None:
        if "/events" in request.url:
            streams.append(request.url)

    watched.page.on("request", note)
    page = watched.goto(f"/studies/{finished[0]}")
    expect(page.locator(".arms tbody tr")).to_have_count(1)
    page.wait_for_load_state("networkidle")  # a stream would keep it busy
    assert streams == []
    study, trials = played(alone, "ends", finish=False)
    page.goto(f"{alone.url}/studies/{study}")
    until(lambda: page.evaluate("1") and streams, "the page listens")
    send(alone, study, *trained(trials[1], 1), {"kind": "study_finished"})
    expect(page.locator(".study-head .state")).to_contain_text("finished")
    page.wait_for_load_state("networkidle")
    assert len(streams) == 1


def test_a_study_deleted_elsewhere_is_said_to_be_gone(alone: Running, opened: Open) -> None:
    study, _ = played(alone, "short-lived", finish=False)
    watched = quiet(opened, alone)
    watched.refusals_expected = True
    page = watched.goto(f"/studies/{study}")
    expect(page.locator(".study-head .state")).to_contain_text("running")
    other = opened(alone)
    other.refusals_expected = True  # what it still asks between the deletion and its leave
    without_drawing(other.page)
    second = other.goto(f"/studies/{study}")
    page.route(f"**/api/studies/{study}", lambda route: route.abort())  # it does not learn of the end
    second.get_by_role("button", name="Cancel", exact=True).click()
    second.get_by_role("button", name="Cancel the study").click()
    second.get_by_role("button", name="Delete", exact=True).click()
    second.get_by_role("button", name="Keep it").click()
    assert alone.get(f"/api/studies/{study}").status_code == 200
    second.get_by_role("button", name="Delete", exact=True).click()
    second.get_by_role("button", name="Delete the study").click()
    second.wait_for_url(f"{alone.url}/")
    page.unroute(f"**/api/studies/{study}")
    expect(page.locator("main")).to_contain_text("This study was deleted")
