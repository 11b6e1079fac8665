"""The list of studies in a real browser: it follows them, filters, sorts, and leads to a comparison."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import Open, needs_chromium, send, submit, trained
from tests.processes import Running, free_port, service_alone, short_home

pytestmark = needs_chromium


def row_of(page: Page, name: str) -> Locator:
    return page.locator("tbody tr", has=page.get_by_role("link", name=name, exact=True))


def test_the_list_follows_its_studies(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, trials = submit(alone, spec | {"name": "followed"})
    page = opened(alone).goto("/")
    row = row_of(page, "followed")
    expect(row).to_contain_text("0/6")
    send(alone, study, {"kind": "study_started"}, *trained(trials[0], 0))
    expect(row).to_contain_text("1/6")
    expect(row).to_contain_text("running")


def test_the_hypervolume_grows_as_a_line_with_words(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, trials = submit(alone, spec | {"name": "sparkling"})
    page = opened(alone).goto("/")
    row = row_of(page, "sparkling")
    expect(row.locator(".spark")).to_have_text("–")
    # Reference point (32, 0): one trial at (2, 1) has 30, another at (3, 1.2) adds 29 · 0.2.
    send(alone, study, {"kind": "study_started"}, *trained(trials[0], 0))
    expect(row.get_by_role("img", name="hypervolume from 0 to 30.0")).to_be_visible()
    send(alone, study, *trained(trials[1], 1))
    expect(row.get_by_role("img", name="hypervolume from 0 to 35.8")).to_be_visible()
    expect(row.locator(".spark")).to_have_text("35.8")
    line = row.locator(".spark path").get_attribute("d")
    assert line == "M1.0 16.0H36.0V4.3H71.0V2.0", "steps: first along, then up"


def test_a_filter_narrows_the_list_and_stands_in_the_address(
    alone: Running, spec: dict[str, Any], opened: Open
) -> None:
    submit(alone, spec | {"name": "apples"})
    study, _ = submit(alone, spec | {"name": "pears", "arms": [{"name": "Quince", "weighting": {"name": "mib"}}]})
    alone.post(f"/api/studies/{study}/cancel")
    watched = opened(alone)
    page = watched.goto("/")
    names = page.locator("tbody th")
    row_of(page, "apples").wait_for()

    page.keyboard.press("/")
    page.keyboard.type("quince")
    expect(names).to_have_text(["pears"])
    expect(page).to_have_url(re.compile(r"\?q=quince$"))
    page.get_by_label("State").select_option("queued")
    expect(page.locator(".no-match")).to_contain_text(
        "No study has “quince” in its name, notes, tags, data or arms and is queued."
    )
    page.get_by_role("button", name="Show all studies").click()
    expect(row_of(page, "apples")).to_be_visible()

    page = watched.goto("/?q=pea&state=cancelled")
    expect(names).to_have_text(["pears"])
    expect(page.get_by_label("Filter")).to_have_value("pea")


def test_a_column_sorts_both_ways_and_then_not_at_all(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    for name, seeds in (("sorted b", 1), ("sorted a", 3), ("sorted c", 2)):
        submit(alone, spec | {"name": name, "seeds": list(range(seeds))})
    page = opened(alone).goto("/?q=sorted")
    names = page.locator("tbody th")
    expect(names).to_have_text(["sorted c", "sorted a", "sorted b"])
    page.get_by_role("button", name="Trials").click()
    expect(names).to_have_text(["sorted a", "sorted c", "sorted b"])
    expect(page.locator("thead th[aria-sort=descending]")).to_have_text("Trials")
    page.get_by_role("button", name="Study", exact=True).click()
    expect(names).to_have_text(["sorted a", "sorted b", "sorted c"])
    expect(page).to_have_url(re.compile("sort=study"))
    page.get_by_role("button", name="Study", exact=True).click()
    page.get_by_role("button", name="Study", exact=True).click()
    expect(names).to_have_text(["sorted c", "sorted a", "sorted b"])


def test_selected_studies_lead_to_their_comparison_by_keyboard(
    alone: Running, spec: dict[str, Any], opened: Open
) -> None:
    first, trials = submit(alone, spec | {"name": "selected one"})
    second, _ = submit(alone, spec | {"name": "selected two"})
    page = opened(alone).goto("/?q=selected")
    page.get_by_label("Select selected one").focus()
    page.keyboard.press("Space")
    bar = page.locator(".selection")
    expect(bar).to_contain_text("1 study selected, select another to compare")
    page.get_by_label("Select selected two").press("Space")
    expect(bar).to_contain_text("2 studies selected")

    send(alone, first, {"kind": "study_started"}, *trained(trials[0], 0))
    expect(row_of(page, "selected one")).to_contain_text("1/6")
    expect(page.get_by_label("Select selected one")).to_be_checked()
    page.reload()
    expect(page.get_by_label("Select selected two")).to_be_checked()
    page.get_by_role("link", name="Compare").press("Enter")
    expect(page).to_have_url(re.compile(rf"/compare\?studies={first},{second}$"))
    expect(page.locator("h1")).to_have_text("2 studies compared")


def test_no_more_than_six_studies_are_selected(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    for i in range(7):
        submit(alone, spec | {"name": f"many {i}"})
    page = opened(alone).goto("/?q=many")
    boxes = page.locator("tbody input[type=checkbox]")
    expect(boxes).to_have_count(7)
    for i in range(6):
        boxes.nth(i).check()
    expect(boxes.nth(6)).to_be_disabled()
    expect(page.locator(".selection")).to_contain_text("6 studies selected, which is the most")
    page.get_by_role("button", name="Clear").click()
    expect(boxes.nth(6)).to_be_enabled()
    expect(page.locator(".selection")).to_be_hidden()


def test_older_studies_are_shown_when_asked_for(spec: dict[str, Any], opened: Open) -> None:
    with short_home() as home, service_alone(home) as crowded:
        for i in range(52):
            submit(crowded, spec | {"name": f"study {i}"})
        page = opened(crowded).goto("/")
        rows = page.locator("tbody tr")
        expect(rows).to_have_count(50)
        expect(page.locator(".list-head")).to_contain_text("50 studies shown, 50 queued or running")
        page.get_by_role("button", name="Show older studies").click()
        expect(rows).to_have_count(52)
        expect(page.get_by_role("button", name="Show older studies")).to_be_hidden()
        page.goto("about:blank")


def test_a_list_that_lost_the_service_says_so_and_goes_on(spec: dict[str, Any], opened: Open) -> None:
    port = free_port()
    with short_home() as home:
        with service_alone(home, port) as first:
            submit(first, spec | {"name": "before"})
            watched = opened(first)
            watched.refusals_expected = True
            page = watched.goto("/")
            expect(row_of(page, "before")).to_be_visible()
        expect(page.locator("#banner")).to_have_text("Connection lost. Trying again …")
        expect(row_of(page, "before")).to_be_visible()
        with service_alone(home, port) as second:
            submit(second, spec | {"name": "after"})
            expect(row_of(page, "after")).to_be_visible()
            expect(page.locator("#banner")).to_be_hidden()
            page.goto("about:blank")


@pytest.mark.parametrize("status", [502, 504])
def test_a_proxy_that_cannot_reach_the_service_is_a_lost_connection(
    alone: Running, spec: dict[str, Any], opened: Open, status: int
) -> None:
    name = f"behind a proxy that says {status}"
    submit(alone, spec | {"name": name})
    watched = opened(alone)
    watched.refusals_expected = True
    watched.page.route("**/api/studies?*", lambda route: route.fulfill(status=status, body="Bad gateway"))
    page = watched.goto("/")
    expect(page.locator("#banner")).to_have_text("Connection lost. Trying again …")
    page.unroute("**/api/studies?*")
    expect(row_of(page, name)).to_be_visible()
    expect(page.locator("#banner")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_stacks_on_a_phone(alone: Running, spec: dict[str, Any], opened: Open, scheme: str) -> None:
    study, trials = submit(alone, spec | {"name": "narrow " + "unbreakable" * 8})
    send(alone, study, {"kind": "study_started"}, *trained(trials[0], 0))
    page = opened(alone, width=390, scheme=scheme).goto("/?q=narrow")
    row = page.locator("tbody tr").first
    expect(row.get_by_role("img", name="hypervolume from 0 to 30.0")).to_be_visible()
    row.get_by_role("checkbox").check()
    expect(page.locator(".selection")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.list .scroll'))")
