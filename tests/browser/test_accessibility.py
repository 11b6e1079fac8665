"""axe-core over every page and state, light and dark, wide and narrow: nothing serious."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.pages import FRONT, Open, needs_chromium, send, submit, trained, wait_for_points
from tests.processes import Running

pytestmark = needs_chromium

SHORT: dict[str, Any] = {"resultTypes": ["violations"]}  # what passes is not described node by node
EVERY: dict[str, Any] = {}  # rule is asked
COLOURS: dict[str, Any] = {"runOnly": ["color-contrast", "link-in-text-block"]}


def problems(page: Page, rules: dict[str, Any] = EVERY) -> list[str]:
    found = Axe().run(page, options=SHORT | rules).response["violations"]
    return [
        f"{each['id']}: {node['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]


@pytest.mark.parametrize(
    ("width", "scheme", "rules"),
    [(1280, "light", EVERY), (1280, "dark", COLOURS), (390, "light", COLOURS), (390, "dark", EVERY)],
)
def test_no_page_has_a_serious_problem(
    alone: Running, spec: dict[str, Any], opened: Open, width: int, scheme: str, rules: dict[str, Any]
) -> None:
    """Every width and every scheme is asked by every rule, and each of the two by the other for its colours."""
    study, trials = submit(alone, spec)
    other, _ = submit(alone, spec | {"name": "queued"})
    failed = {"kind": "trial_failed", "trial": trials[5], "reason": "loss became non-finite"}
    events = [event for place, trial in enumerate(trials[:5]) for event in trained(trial, place)]
    send(alone, study, {"kind": "study_started"}, *events, failed)
    watched = opened(alone, width=width, scheme=scheme)
    watched.refusals_expected = True  # the page of no study
    for path, ready in (
        ("/", "table.studies"),
        ("/new?view=form", "form"),
        ("/new?view=yaml", ".gutter"),
        (f"/compare?studies={study},{other}", f'[data-figure="{FRONT}"] .main-svg'),
        ("/studies/nothing", ".empty"),
    ):
        page = watched.goto(path)
        page.locator(ready).first.wait_for()
        assert problems(page, rules) == [], path

    page = watched.goto(f"/studies/{study}")
    wait_for_points(page, FRONT, 5)
    for tab in page.get_by_role("tab").all():
        tab.click()
        panel = page.get_by_role("tabpanel")
        expect(panel).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert problems(page, rules) == [], tab.inner_text()
    page.get_by_role("tab", name="Trials").click()
    page.locator(".trials tbody tr button").first.click()
    expect(page.get_by_role("complementary", name="Trial")).to_contain_text(trials[0])
    assert problems(page, rules) == [], "an open trial"
