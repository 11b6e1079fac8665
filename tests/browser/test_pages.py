"""The dashboard in a real browser, against a real service without Ray; the tests send what a driver would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.processes import Running, free_port, service_alone, short_home

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
PATIENCE = 15_000
POINTS = """place => {
  const plot = document.querySelectorAll('.plot')[place];
  return (plot?.data ?? []).reduce((sum, trace) => sum + (trace.customdata?.length ?? 0), 0);
}"""
PLANE, FRONT = 0, 1

pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="needs Debian's chromium in /usr/bin: apt-get install chromium"
)


class Watched:
    """A page, what it complained about, and where its requests went."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        self.refusals_expected = False
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))

    def goto(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def check(self) -> None:
        """Nothing in the console but refusals a test provokes (the browser logs each 4xx), nothing from elsewhere."""
        refused = [text for text in self.complaints if "Failed to load resource" in text]
        assert not [text for text in self.complaints if text not in refused]
        assert self.refusals_expected or not refused
        assert self.hosts <= {urlsplit(self.url).netloc}


@pytest.fixture(scope="module")
def alone() -> Iterator[Running]:
    with short_home() as home, service_alone(home) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET.split())
        yield browser
        browser.close()


Open = Callable[..., Watched]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens pages on a service; all are checked for silence when the test ends."""
    pages: list[Watched] = []
    contexts = []

    def open_on(running: Running, width: int = 1280, scheme: Any = "light") -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        pages.append(Watched(context.new_page(), running.url))
        return pages[-1]

    expect.set_options(timeout=PATIENCE)
    yield open_on
    for context in contexts:
        context.close()
    for watched in pages:
        watched.check()


def submit(running: Running, spec: dict[str, Any]) -> tuple[str, list[str]]:
    study = running.post("/api/studies", json=spec).json()["id"]
    trials = running.get(f"/api/studies/{study}/trials").json()["trials"]
    return study, [trial["id"] for trial in trials]


def send(running: Running, study: str, *events: dict[str, Any]) -> None:
    numbered = [{"uid": "-".join(map(str, event.values()))[:150], **event} for event in events]
    running.post(f"/api/studies/{study}/reports", json={"events": numbered}).raise_for_status()


def trained(trial: str, place: int, epochs: int = 3) -> list[dict[str, Any]]:
    """The events of one trial; a later place is a better and a larger code."""
    reports = [
        {
            "kind": "report",
            "trial": trial,
            "metrics": {
                "epoch": epoch,
                "seconds": 0.5 * epoch,
                "i_xz_bits": 2.0 + place,
                "i_zy_bits": (1.0 + 0.2 * place) * epoch / epochs,
                "accuracy": (0.5 + 0.05 * place) * epoch / epochs,
            },
        }
        for epoch in range(1, epochs + 1)
    ]
    return [{"kind": "trial_started", "trial": trial}, *reports, {"kind": "trial_finished", "trial": trial}]


def wait_for_points(page: Page, figure: int, count: int) -> None:
    page.wait_for_function(f"([place, count]) => ({POINTS})(place) === count", arg=[figure, count])


def test_an_empty_service_offers_the_demo_after_asking_for_its_token(opened: Open) -> None:
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="open-sesame") as guarded:
        watched = opened(guarded)
        watched.refusals_expected = True
        page = watched.goto("/")
        page.get_by_label("Token", exact=True).last.fill("open-sesame")
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
    expect(page.locator(".verdict")).to_contain_text("MIB reaches")
    expect(page.locator(".verdict")).not_to_contain_text("So far")
    assert page.evaluate("window.sameDocument") is True


def test_the_list_follows_its_studies(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, trials = submit(alone, spec | {"name": "followed"})
    page = opened(alone).goto("/")
    row = page.locator("tr", has=page.get_by_role("link", name="followed", exact=True))
    expect(row).to_contain_text("0/6")
    send(alone, study, {"kind": "study_started"}, *trained(trials[0], 0))
    expect(row).to_contain_text("1/6")
    expect(row).to_contain_text("running")


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
    page.locator("#trials").scroll_into_view_if_needed()
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


def test_a_new_study_is_checked_where_it_is_written(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new")
    expect(page.locator(".check-words")).to_have_text("39 trials in 2 arms")
    editor = page.get_by_label("The study as YAML")
    text = editor.input_value()
    line = next(i for i, each in enumerate(text.splitlines(), 1) if each.startswith("seeds:"))

    editor.fill(text.replace("seeds: [0, 1, 2]", "seeds: [0, none]"))
    expect(page.locator(".gutter .marked")).to_have_text(str(line))
    expect(page.locator(".errors")).to_contain_text(f"line {line} seeds[1]")
    expect(page.get_by_role("button", name="Run this study")).to_be_disabled()

    editor.fill(text.replace("seeds: [0, 1, 2]", "seeds: [7]"))
    expect(page.locator(".check-words")).to_have_text("13 trials in 2 arms")
    expect(page.locator(".gutter .marked")).to_have_count(0)
    page.get_by_role("button", name="Run this study").click()
    page.wait_for_url(re.compile(r"/studies/s\w+$"))
    expect(page.locator("h1")).to_have_text("manual β versus MIB on digits")

    page.get_by_role("link", name="Run again, changed").click()
    expect(page.locator(".check-words")).to_have_text("13 trials in 2 arms")


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
    for path, ready in (("/", "table.studies"), ("/new", ".gutter"), (f"/studies/{study}", ".plot .main-svg")):
        page = watched.goto(path)
        page.locator(ready).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    expect(page.locator("h1")).to_have_text(hostile)
    assert page.locator("main img").count() == 0


def test_a_lost_connection_is_said_and_made_up_for(spec: dict[str, Any], opened: Open) -> None:
    port = free_port()
    with short_home() as home:
        with service_alone(home, port) as first:
            study, trials = submit(first, spec)
            send(first, study, {"kind": "study_started"}, *trained(trials[0], 0))
            watched = opened(first)
            watched.refusals_expected = True
            page = watched.goto(f"/studies/{study}")
            wait_for_points(page, FRONT, 1)
        banner = page.locator("#banner")
        expect(banner).to_have_text("Connection lost. Trying again …")
        with service_alone(home, port) as second:
            send(second, study, *trained(trials[1], 1))
            wait_for_points(page, FRONT, 2)
            expect(banner).to_be_hidden()
            page.goto("about:blank")
