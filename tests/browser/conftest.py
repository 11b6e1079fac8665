"""A browser, and a service whose pages it opens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.pages import CHROMIUM, PATIENCE, QUIET, Open, Watched
from tests.processes import Running, service_alone, short_home


@pytest.fixture(scope="module")
def alone() -> Iterator[Running]:
    with short_home() as home, service_alone(home) as running:
        yield running


@pytest.fixture(scope="module")
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
        pages.append(Watched(context.new_page(), running.url))
        return pages[-1]

    expect.set_options(timeout=PATIENCE)
    yield open_on
    for context in contexts:
        context.close()
    for watched in pages:
        watched.check()
