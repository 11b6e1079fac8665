"""The report opened from a file, with no network at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages import PATIENCE, needs_chromium, send, submit, trained
from tests.processes import Running

pytestmark = needs_chromium

EVIL = '</script><img src=x onerror="document.title = 1">'
DRAWN = "document.body.dataset.drawn"
WIDTHS = "[...document.querySelectorAll('.plot .main-svg:first-of-type')].map((svg) => svg.clientWidth)"


class Offline:
    """A page without a network, what it asked for, and what it complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))


@pytest.fixture(scope="module")
def report(alone: Running, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study with an arm whose name would like to be a script."""
    spec: dict[str, Any] = {
        "name": "offline",
        "training": {"epochs": 3},
        "seeds": [0, 1],
        "arms": [
            {"name": EVIL, "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.01, 0.1]}}},
            {"name": "MIB", "weighting": {"name": "mib"}},
        ],
    }
    study, trials = submit(alone, spec)
    events = [event for place, trial in enumerate(trials) for event in trained(trial, place)]
    send(alone, study, {"kind": "study_started"}, *events, {"kind": "study_finished"})
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_bytes(alone.get(f"/api/studies/{study}/report").content)
    return file


@pytest.fixture(scope="module")
def offline(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Offline]:
    """Opened once for each width and scheme; it asks for nothing but itself and says nothing."""
    width: int
    scheme: Literal["light", "dark"]
    width, scheme = getattr(request, "param", (1280, "light"))
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, offline=True)
    context.set_default_timeout(PATIENCE)
    opened = Offline(context.new_page())
    opened.page.goto(report.as_uri())
    opened.page.wait_for_function(DRAWN)
    yield opened
    context.close()
    assert opened.asked == [report.as_uri()] and opened.complaints == []


def test_every_figure_is_drawn_without_a_network(offline: Offline) -> None:
    page = offline.page
    plots = page.locator(".plot:not(.empty)")
    assert plots.count() == int(page.evaluate(DRAWN)) >= 5
    assert all(
        count >= 2
        for count in page.evaluate(
            """[...document.querySelectorAll('.plot:not(.empty)')]
                 .map((plot) => plot.querySelectorAll('.main-svg').length)"""
        )
    )
    points = "document.getElementById('figure-pareto-front').data.flatMap((trace) => trace.customdata ?? []).length"
    assert page.evaluate(points) == 8
    page.locator("#figure-pareto-front .scatterlayer .point").first.hover(force=True)
    expect(page.locator("#figure-pareto-front .hoverlayer .hovertext").first).to_be_visible()


def test_a_name_that_would_like_to_be_a_script_is_a_name(offline: Offline) -> None:
    assert offline.page.title() == "offline · Paretoscope"
    assert offline.page.locator("img").count() == 0
    expect(offline.page.locator("main table th[scope=row]").first).to_contain_text(EVIL)


def test_it_says_what_a_reader_wants_to_know(offline: Offline) -> None:
    page = offline.page
    expect(page.locator(".verdict")).to_contain_text("hypervolume")
    for heading in ("Arms", "Figures", "Trials", "Methods", "BibTeX", "Study"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    assert page.locator(".trials tbody tr").count() == 8
    expect(page.locator("footer")).to_contain_text("Seeds 0, 1. Reference point I(X;Z) 32, I(Z;Y) 0.")


@pytest.mark.parametrize("offline", [(390, "light"), (1280, "dark")], indirect=True)
def test_it_fits_a_telephone_and_a_dark_room_and_everybody_can_read_it(offline: Offline) -> None:
    page = offline.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert [v["id"] for v in found.response["violations"] if v["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("offline", [(1280, "dark")], indirect=True)
def test_on_paper_figures_are_light_and_as_wide_as_the_page(offline: Offline) -> None:
    page = offline.page
    dark = page.evaluate("getComputedStyle(document.body).color")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(f"{WIDTHS}.every((width) => width === 640)")
    assert page.evaluate("getComputedStyle(document.body).color") != dark
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(f"{WIDTHS}.every((width) => width !== 640)")
    assert page.evaluate("getComputedStyle(document.body).color") == dark
    assert len(page.pdf()) > 20_000
