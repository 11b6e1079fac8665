"""What can be done with a study on its page: pause, resume, retry, extend; by keyboard too, each error in its place."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.pages import Open, needs_chromium, send, submit, trained, without_drawing
from tests.processes import Running

pytestmark = needs_chromium

SPEC: dict[str, Any] = {
    "name": "a lifecycle",
    "seeds": [0],
    "training": {"epochs": 3},
    "arms": [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1]}}},
        {"name": "MIB", "weighting": {"name": "mib"}},
    ],
}


def begun(running: Running, failed: int = 0, end: bool = True) -> str:
    """A study whose first trials have failed and whose others have finished."""
    study, trials = submit(running, SPEC)
    send(running, study, {"kind": "study_started"})
    for place, trial in enumerate(trials):
        if place < failed:
            send(running, study, {"kind": "trial_failed", "trial": trial, "reason": "loss_pred became non-finite"})
        elif end:
            send(running, study, *trained(trial, place))
    if end:
        send(running, study, {"kind": "study_finished"})
    return study


def shown(opened: Open, running: Running, study: str, width: int = 1280) -> Page:
    watched = opened(running, width)
    watched.refusals_expected = True
    without_drawing(watched.page)
    return watched.goto(f"/studies/{study}")


def boxes_are_inside(page: Page) -> bool:
    """Nothing of the form leaves the window or lies on its neighbour."""
    return bool(
        page.evaluate(
            """() => {
          const parts = [...document.querySelectorAll(".extend label, .extend input, .extend p, .extend button")];
          const boxes = parts.map((part) => part.getBoundingClientRect()).filter((box) => box.width && box.height);
          const beside = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1;
          const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
          const isInside = (box) => box.left >= 0 && box.right <= innerWidth;
          return boxes.every((a, i) => isInside(a) && boxes.slice(i + 1).every((b) => apart(a, b)));
        }"""
        )
    )


def test_a_running_study_is_paused_and_resumed(alone: Running, opened: Open) -> None:
    study = begun(alone, end=False)
    page = shown(opened, alone, study)
    state = page.locator(".study-head .state")
    page.get_by_role("button", name="Pause").press("Enter")
    expect(state).to_have_text("paused 0/3")
    expect(page.locator(".study-head .hint")).to_contain_text("Nothing is trained.")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    page.get_by_role("button", name="Resume").press("Enter")
    expect(state).to_contain_text("running 0/3")
    expect(page.locator(".study-head .hint")).to_have_text("")
    expect(page.get_by_role("button", name="Resume")).to_be_hidden()


def test_a_study_whose_trials_are_still_leaving_says_so_and_is_not_extended_yet(alone: Running, opened: Open) -> None:
    study = begun(alone, failed=1, end=False)
    alone.post(f"/api/studies/{study}/pause").raise_for_status()
    watched = opened(alone)
    without_drawing(watched.page)

    def pausing(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "pausing": True})

    watched.page.route(f"**/api/studies/{study}", pausing)
    page = watched.goto(f"/studies/{study}")
    expect(page.locator(".study-head .state")).to_have_text("pausing 0/3")
    expect(page.locator(".study-head .hint")).to_have_text(re.compile("save their state after the epoch"))
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    for later in ("Extend", "Retry failed trials"):
        expect(page.get_by_role("button", name=later, exact=True)).to_be_hidden()


def test_failed_trials_are_retried_and_the_page_follows_the_study_again(alone: Running, opened: Open) -> None:
    study = begun(alone, failed=1)
    page = shown(opened, alone, study)
    state = page.locator(".study-head .state")
    expect(state).to_contain_text("finished")
    page.get_by_role("button", name="Retry failed trials").press("Enter")
    expect(state).to_contain_text("running 2/3")
    trial = alone.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    send(alone, study, {"kind": "trial_finished", "trial": trial, "uid": "again"})
    expect(state).to_contain_text("running 3/3")
    send(alone, study, {"kind": "study_finished", "uid": "end again"})
    expect(state).to_contain_text("finished")


def test_what_can_no_more_be_retried_is_said_beside_the_button(alone: Running, opened: Open) -> None:
    study = begun(alone, failed=1)
    trial = alone.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    for again in range(3):
        alone.post(f"/api/studies/{study}/retry").raise_for_status()
        failed = {"kind": "trial_failed", "trial": trial, "reason": "again", "uid": f"failed {again}"}
        send(alone, study, failed, {"kind": "study_finished", "uid": f"end {again}"})
    page = shown(opened, alone, study)
    page.get_by_role("button", name="Retry failed trials").click()
    expect(page.locator(".actions .bad")).to_contain_text(["every failed trial was retried 3 times already"])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_study_is_extended_by_a_form_that_shows_each_error_beside_its_field(
    alone: Running, opened: Open, width: int
) -> None:
    study = begun(alone)
    page = shown(opened, alone, study, width)
    button = page.get_by_role("button", name="Extend", exact=True)
    button.press("Enter")
    seeds, epochs = page.get_by_label("More seeds"), page.get_by_label("Train to epoch")
    points = page.get_by_label("weighting.beta of manual β")
    expect(seeds).to_be_focused()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".extend")).to_contain_text("it has 0.01, 0.1")
    page.keyboard.press("Escape")
    expect(seeds).to_be_hidden()
    expect(button).to_be_focused()
    button.press("Enter")
    seeds.press("Enter")
    expect(page.locator(".extend .errors")).to_have_text("name seeds, epochs or grid to extend a study")
    for field, wrong, words in (
        (seeds, "0", "seeds: the study has seed 0 already"),
        (seeds, "one", "seeds"),
        (epochs, "2", "epochs: must be above the 3 epochs of training, got 2"),
        (points, "0.1", "grid.manual β.weighting.beta: the grid has 0.1 already"),
        (points, "-1", "weighting.beta"),
    ):
        field.fill(wrong)
        field.press("Enter")
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_be_focused()
        expect(page.locator(".extend-row").filter(has=field).locator(".bad")).to_contain_text(words)
        assert boxes_are_inside(page)
        field.fill("")
    seeds.fill("1, 2")
    epochs.fill("5")
    points.fill("0.5")
    seeds.press("Enter")
    expect(page.locator(".study-head .state")).to_contain_text("running 0/12")
    expect(page.locator(".extend")).to_be_hidden()
    spec = alone.get(f"/api/studies/{study}").json()["spec"]
    assert (spec["seeds"], spec["training"]["epochs"]) == ([0, 1, 2], 5)
    assert spec["arms"][0]["weighting"]["beta"] == {"grid": [0.01, 0.1, 0.5]}


def test_a_study_that_searches_says_why_it_gets_no_more_seeds(alone: Running, opened: Open) -> None:
    beta = {"range": {"from": 0.1, "to": 1.0}}
    search = {"name": "optuna", "sampler": "random", "trials": 2}
    arm = {"name": "searched", "weighting": {"name": "fixed", "beta": beta}, "search": search}
    study, _ = submit(alone, {**SPEC, "arms": [arm]})
    alone.post(f"/api/studies/{study}/pause").raise_for_status()
    page = shown(opened, alone, study)
    page.get_by_role("button", name="Extend", exact=True).click()
    expect(page.get_by_label("More seeds")).to_be_disabled()
    expect(page.get_by_label("Train to epoch")).to_be_focused()
    expect(page.locator(".extend")).to_contain_text("searched searches, and its search deals the seeds out in turn")


def test_a_study_is_cancelled_and_deleted_by_keyboard(alone: Running, opened: Open) -> None:
    study = begun(alone, end=False)
    page = shown(opened, alone, study)
    expect(page.get_by_role("button", name="Extend", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Cancel").press("Enter")
    page.get_by_role("button", name="Cancel the study").press("Enter")
    expect(page.locator(".study-head .state")).to_contain_text("cancelled")
    page.get_by_role("button", name="Delete").press("Enter")
    page.get_by_role("button", name="Delete the study").press("Enter")
    page.wait_for_url(re.compile(r"/$"))
    assert alone.get(f"/api/studies/{study}").status_code == 404
