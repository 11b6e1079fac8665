"""A browser, and a service whose pages it opens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.pages import CALL, CHROMIUM, PATIENCE, QUIET, Open, Run, Watched
from tests.browser.stage import STAGE, URL, answer
from tests.processes import Running, service_alone, short_home


@pytest.fixture(scope="module")
def alone() -> Iterator[Running]:
    with short_home() as home, service_alone(home) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens pages on a service; all are checked for silence when the test ends."""
    pages: list[Watched] = []
    contexts = []

    def open_on(running: Running, width: int = 1280, scheme: Any = "light") -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        if running.token:
            context.add_cookies([{"name": "paretoscope_token", "value": running.token, "url": running.url}])
        pages.append(Watched(context.new_page(), running.url))
        return pages[-1]

    expect.set_options(timeout=PATIENCE)
    yield open_on
    for context in contexts:
        context.close()
    for watched in pages:
        watched.check()


@pytest.fixture(scope="module")
def stage(browser: Browser) -> Iterator[Page]:
    """A page without a service, for `tests.browser.stage.play`."""
    watched = Watched(browser.new_page(), URL)
    watched.page.add_init_script(STAGE)
    watched.page.route(f"{URL}/**", answer)
    page = watched.goto("/compare")
    expect(page.get_by_role("heading", name="Nothing to compare yet")).to_be_visible(timeout=PATIENCE)
    yield page  # not sooner: the page itself would still draw over what a test puts on it
    watched.page.close()
    watched.check()


@pytest.fixture(scope="module")
def page(stage: Page) -> Page:
    """A quiet page, on which modules are imported."""
    return stage


@pytest.fixture(scope="module")
def run(page: Page) -> Run:
    """Calls a function of a module with each of some lists of values."""

    def call(module: str, name: str, *calls: list[Any]) -> list[Any]:
        return list(page.evaluate(CALL, [module, name, list(calls)]))

    return call
