"""The dashboard over a study that really trains: Ray, service and browser, as a user has them."""

from __future__ import annotations

import re
from typing import Any

import yaml
from playwright.sync_api import Page, expect

from tests.browser.pages import FRONT, POINTS, TRIALS_OF, Open, needs_chromium, place_of
from tests.processes import Running

pytestmark = needs_chromium

SECONDS = 90_000


def write(page: Page, study: dict[str, Any]) -> str:
    """Submit from the page, as YAML; the id of the study."""
    page.get_by_label("The study as YAML").fill(yaml.safe_dump(study, allow_unicode=True, sort_keys=False))
    page.get_by_role("button", name="Run this study").click()
    page.wait_for_url(re.compile(r"/studies/s\w+$"))
    return page.url.rpartition("/")[2]


def test_a_study_is_submitted_watched_opened_cancelled_and_compared(
    cluster: Running, spec: dict[str, Any], opened: Open
) -> None:
    watched = opened(cluster)
    page = watched.goto("/new?view=yaml")
    expect(page.locator(".check-words")).to_contain_text("trials")
    first = write(page, spec | {"name": "quick"})
    page.evaluate("window.sameDocument = true")
    page.wait_for_function(f"name => ({POINTS})(name) === 6", arg=FRONT, timeout=SECONDS)
    expect(page.locator(".study-head .state")).to_contain_text("finished", timeout=SECONDS)
    assert page.evaluate("window.sameDocument") is True, "points arrive without a reload"

    trial = page.evaluate(TRIALS_OF, FRONT)[0]
    page.mouse.move(*place_of(page, trial))
    page.mouse.click(*place_of(page, trial))
    drawer = page.get_by_role("complementary", name="Trial")
    expect(drawer).to_contain_text(trial)
    expect(drawer.get_by_label("Log of this trial")).to_contain_text("epoch", ignore_case=True)
    with page.expect_download() as saved:
        drawer.get_by_role("link", name=re.compile("Weights")).click()
    assert saved.value.path().stat().st_size > 1000

    long = spec | {"name": "long", "training": {"epochs": 5000, "batch_size": 256}}
    page.goto(f"{cluster.url}/new?view=yaml")
    expect(page.locator(".check-words")).to_contain_text("trials")
    second = write(page, long)
    seen = page.wait_for_function(f"name => ({POINTS})(name)", arg=FRONT, timeout=SECONDS)
    assert seen.json_value() > 0
    expect(page.locator(".verdict")).to_contain_text("So far")
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel the study").click()
    expect(page.locator(".study-head .state")).to_contain_text("cancelled")

    page.goto(f"{cluster.url}/")
    for name in ("quick", "long"):
        page.get_by_role("checkbox", name=re.compile(name)).first.check()
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url(re.compile(r"/compare\?studies="))
    page.wait_for_function(f"name => ({POINTS})(name) > 6", arg=FRONT)
    studies = {shown.partition("/")[0] for shown in page.evaluate(TRIALS_OF, FRONT)}
    assert studies == {first, second}
