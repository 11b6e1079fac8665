"""Whatever a user wrote is shown as it was written, wherever it is shown: never as markup."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Open, needs_chromium, send, submit, trained, without_drawing
from tests.processes import Running

pytestmark = needs_chromium

EVIL = "<img src=x onerror=window.hit=1>"
NAME, ARM, OTHER = f"study {EVIL}", f"arm {EVIL}", f"other {EVIL}"
REASON, LINE, HOST = f"reason {EVIL}", f"line {EVIL}", f"host {EVIL}"


@pytest.fixture(scope="module")
def hostile(alone: Running) -> tuple[str, list[str]]:
    spec: dict[str, Any] = {
        "name": NAME,
        "training": {"epochs": 3},
        "seeds": [0, 1],
        "arms": [
            {"name": ARM, "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.1]}}},
            {"name": OTHER, "weighting": {"name": "mib"}},
        ],
    }
    study, trials = submit(alone, spec)
    started, *rest = trained(trials[0], 0)
    rest[0] |= {"log": [LINE]}
    failed = {"kind": "trial_failed", "trial": trials[1], "reason": REASON}
    events = [event for place, trial in enumerate(trials[2:], 2) for event in trained(trial, place)]
    ended = {"kind": "study_finished", "reason": REASON}
    send(alone, study, {"kind": "study_started"}, {**started, "host": HOST}, *rest, failed, *events, ended)
    return study, trials


def harmless(page: Page) -> None:
    """No element came of what a user wrote, and none of it ran."""
    assert page.locator("img").count() == 0
    assert page.evaluate("window.hit ?? null") is None


def test_the_list_shows_names_as_they_are(alone: Running, hostile: tuple[str, list[str]], opened: Open) -> None:
    page = opened(alone).goto("/")
    row = page.locator("tbody tr", has_text=NAME)
    expect(row.locator("th a")).to_have_text(NAME)
    expect(row.locator(".arms-cell .arm")).to_have_text([ARM, OTHER])
    expect(row.locator(".state")).to_have_attribute("title", REASON)
    page.get_by_label("Filter").fill(EVIL)
    expect(row).to_be_visible()
    page.get_by_label("Filter").fill(f"{EVIL} nowhere")
    expect(page.locator(".no-match")).to_contain_text(f"has “{EVIL} nowhere” in its name, notes")
    harmless(page)


def test_the_study_page_shows_all_words_as_they_are(
    alone: Running, hostile: tuple[str, list[str]], opened: Open
) -> None:
    study, trials = hostile
    watched = opened(alone)
    without_drawing(watched.page)
    page = watched.goto(f"/studies/{study}?tab=trials&trial={trials[0]}&column=host&column=state")
    expect(page.locator("h1")).to_have_text(NAME)
    expect(page.locator("#crumbs .crumb-name")).to_have_text(NAME)
    expect(page.locator(".reason")).to_have_text(f"Reason {EVIL}")
    expect(page.locator(".verdict")).to_contain_text(EVIL)
    expect(page.locator(".failures")).to_contain_text(f"1 trial failed: {REASON}")
    expect(page.locator(".arms tbody th")).to_have_text([ARM, OTHER])
    row = page.locator(f'.trials tr[data-trial="{trials[0]}"]')
    expect(row.locator("th")).to_have_text(ARM)
    expect(row).to_contain_text(HOST)
    drawer = page.get_by_role("complementary", name="Trial")
    expect(drawer.locator("h2")).to_have_text(f"{ARM} · seed 0")
    expect(drawer.locator(".log")).to_have_text(LINE)
    expect(drawer).to_contain_text(HOST)
    failed = page.locator(f'.trials tr[data-trial="{trials[1]}"]')
    expect(failed).to_have_attribute("title", REASON)
    failed.get_by_role("button").click()
    expect(drawer).to_contain_text(f"failed: {REASON}")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Spec and methods").click()
    expect(page.get_by_label("The study as YAML")).to_contain_text(f'name: "{NAME}"')
    expect(page.locator(".methods")).to_contain_text(EVIL)
    harmless(page)


def test_figures_draw_names_as_words(alone: Running, hostile: tuple[str, list[str]], opened: Open) -> None:
    study, _ = hostile
    page = opened(alone).goto(f"/studies/{study}")
    legend = page.locator('[data-figure="pareto-front"] .legendtext')
    expect(legend.first).to_contain_text(EVIL)
    harmless(page)


def test_a_comparison_shows_names_as_they_are(alone: Running, hostile: tuple[str, list[str]], opened: Open) -> None:
    study, _ = hostile
    watched = opened(alone)
    without_drawing(watched.page)
    page = watched.goto(f"/compare?studies={study},{study}x")
    watched.refusals_expected = True
    expect(page.locator(".compared li a").first).to_have_text(NAME)
    expect(page.locator(".arms tbody th").first).to_contain_text(ARM)
    expect(page.locator(".missing")).to_contain_text(f"{study}x")
    page.goto(f"{alone.url}/compare?studies=%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E")
    expect(page.locator("main")).to_contain_text(f"There is no study {EVIL}")
    harmless(page)


def test_a_new_study_shows_what_is_wrong_as_it_was_written(
    alone: Running, hostile: tuple[str, list[str]], opened: Open
) -> None:
    study, trials = hostile
    page = opened(alone).goto(f"/new?from={study}&trial={trials[0]}")
    expect(page.locator(".doc")).to_contain_text(f"One trial of {NAME}, arm {ARM}")
    expect(page.locator(".arm-title")).to_have_text(ARM)
    expect(page.locator(".check tbody th")).to_have_text(ARM)
    page.get_by_label("epochs", exact=True).fill(EVIL)
    expect(page.locator("#f-training-epochs-error")).to_contain_text(EVIL)
    expect(page.locator(".errors")).to_contain_text(EVIL)
    page.get_by_role("button", name="YAML").click()
    editor = page.get_by_label("The study as YAML")
    editor.fill(f"name: x\n{EVIL}: 1\narms: []\n")
    expect(page.locator(".errors")).to_contain_text(f"unknown key {EVIL}")
    page.get_by_role("button", name="Form").click()
    expect(page.locator(".form .field", has_text="not a part of a study")).to_contain_text(EVIL)
    harmless(page)


def test_a_page_that_cannot_be_found_repeats_its_address_as_words(alone: Running, opened: Open) -> None:
    watched = opened(alone)
    watched.refusals_expected = True
    page = watched.goto("/studies/%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E")
    expect(page.locator("main")).to_contain_text(f"No study has the id {EVIL}")
    harmless(page)
