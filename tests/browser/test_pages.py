"""The dashboard in a real browser, against a real service without Ray; the tests send what a driver would."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import FRONT, PLANE, TRIALS_OF, Open, needs_chromium, send, submit, trained, wait_for_points
from tests.processes import Running, free_port, service_alone, short_home

pytestmark = needs_chromium


def test_an_empty_service_offers_the_demo_after_asking_for_its_token(opened: Open) -> None:
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="open-sesame-again") as guarded:
        watched = opened(guarded)
        watched.refusals_expected = True
        page = watched.goto("/")
        page.get_by_label("Token", exact=True).last.fill("open-sesame-again")
        page.get_by_role("button", name="Use this token").click()
        expect(page.get_by_text("No study yet")).to_be_visible()
        page.get_by_role("button", name="Run the demo study").click()
        page.wait_for_url(re.compile(r"/studies/s\w+$"))
        expect(page.locator(".study-head .state")).to_have_text("queued, place 1 in the queue")


def test_points_arrive_without_a_reload(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, trials = submit(alone, spec)
    page = opened(alone).goto(f"/studies/{study}")
    expect(page.locator(".plot-note").first).to_have_text("Points appear with the first reports.")
    page.evaluate("window.sameDocument = true")

    send(alone, study, {"kind": "study_started"}, *trained(trials[0], 0))
    wait_for_points(page, PLANE, 1)
    wait_for_points(page, FRONT, 1)
    expect(page.locator(".study-head .state")).to_contain_text("running 1/6")
    expect(page.locator(".verdict")).to_contain_text("So far")

    rest = [event for place, trial in enumerate(trials[1:], 1) for event in trained(trial, place)]
    send(alone, study, *rest, {"kind": "study_finished"})
    wait_for_points(page, FRONT, 6)
    expect(page.locator(".study-head .state")).to_contain_text("finished")
    expect(page.locator(".verdict")).to_contain_text("manual β’s front")
    expect(page.locator(".verdict")).not_to_contain_text("So far")
    assert page.evaluate("window.sameDocument") is True


def test_a_study_is_cancelled_from_its_page(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, _ = submit(alone, spec)
    send(alone, study, {"kind": "study_started"})
    page = opened(alone).goto(f"/studies/{study}")
    page.get_by_role("button", name="Cancel", exact=True).click()
    assert alone.get(f"/api/studies/{study}").json()["state"] == "running"
    page.get_by_role("button", name="Cancel the study").click()
    expect(page.locator(".study-head .state")).to_contain_text("cancelled")
    expect(page.get_by_role("button", name="Delete", exact=True)).to_be_visible()
    assert alone.get(f"/api/studies/{study}").json()["state"] == "cancelled"


def test_trials_are_sorted_filtered_and_opened(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, trials = submit(alone, spec)
    failed = {"kind": "trial_failed", "trial": trials[5], "reason": "loss became non-finite"}
    send(alone, study, {"kind": "study_started"}, *trained(trials[0], 0), *trained(trials[1], 4), failed)
    page = opened(alone).goto(f"/studies/{study}")
    page.get_by_role("tab", name="Trials").click()
    rows = page.locator(".trials tbody tr")
    expect(rows).to_have_count(6)
    page.get_by_role("button", name="Accuracy").click()
    page.get_by_role("button", name="Accuracy").click()
    expect(rows.first).to_have_attribute("data-trial", trials[1])
    page.get_by_role("button", name="Show", exact=True).click()
    expect(rows).to_have_count(1)
    rows.first.get_by_role("button").press("Enter")
    drawer = page.get_by_role("complementary", name="Trial")
    expect(drawer).to_contain_text("failed: loss became non-finite")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()


def test_dark_is_chosen_and_remembered(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, trials = submit(alone, spec)
    send(alone, study, {"kind": "study_started"}, *trained(trials[0], 0))
    page = opened(alone).goto(f"/studies/{study}")
    wait_for_points(page, PLANE, 1)
    background = "getComputedStyle(document.body).backgroundColor"
    ink = "document.querySelector('.plot').layout.font.color"
    light = page.evaluate(background), page.evaluate(ink)
    page.get_by_role("button", name="Use the dark theme").click()
    page.wait_for_function(f"before => {ink} !== before", arg=light[1])
    dark = page.evaluate(background)
    assert dark != light[0]
    page.reload()
    expect(page.get_by_role("button", name="Use the light theme")).to_be_visible()
    assert page.evaluate(background) == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scroll(alone: Running, spec: dict[str, Any], opened: Open, scheme: str) -> None:
    hostile = "<img src=x onerror=alert(1)> " + "long" * 20
    study, trials = submit(alone, spec | {"name": hostile})
    failed = {"kind": "trial_failed", "trial": trials[1], "reason": "unbreakable" * 20}
    send(alone, study, {"kind": "study_started"}, *trained(trials[0], 0), failed)
    watched = opened(alone, width=390, scheme=scheme)
    new = (("/new?view=yaml", ".gutter"), ("/new", ".form .section"))
    for path, ready in (("/", "table.studies"), *new, (f"/studies/{study}", ".plot .main-svg")):
        page = watched.goto(path)
        page.locator(ready).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    expect(page.locator("h1")).to_have_text(hostile)
    assert page.locator("main img").count() == 0


def test_a_killed_service_is_said_and_every_later_point_comes_once(spec: dict[str, Any], opened: Open) -> None:
    port = free_port()
    with short_home() as home:
        with service_alone(home, port) as first:
            study, trials = submit(first, spec)
            send(first, study, {"kind": "study_started"}, *trained(trials[0], 0))
            watched = opened(first)
            watched.refusals_expected = True
            page = watched.goto(f"/studies/{study}")
            wait_for_points(page, FRONT, 1)
            page.evaluate("window.sameDocument = true")
            first.process.kill()
            banner = page.locator("#banner")
            expect(banner).to_have_text("Connection lost. Trying again …")
        with service_alone(home, port) as second:
            later = [event for place, trial in enumerate(trials[1:4], 1) for event in trained(trial, place)]
            send(second, study, *later)
            send(second, study, *later)  # a driver that lost the answer sends again
            wait_for_points(page, FRONT, 4)
            expect(banner).to_be_hidden()
            send(second, study, *trained(trials[4], 4))
            wait_for_points(page, FRONT, 5)
            shown = page.evaluate(TRIALS_OF, FRONT)
            assert sorted(shown) == sorted(trials[:5]), "every point once"
            assert page.evaluate("window.sameDocument") is True
            page.goto("about:blank")
