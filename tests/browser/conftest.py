"""A browser, and a service whose pages it opens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from tests.browser.pages import CALL, CHROMIUM, PATIENCE, QUIET, Open, Run, Watched
from tests.browser.stage import STAGE, URL, answer
from tests.processes import Running, service_alone, short_home


@pytest.fixture(scope="package")
def started() -> Iterator[Running]:
    with short_home() as home, service_alone(home) as running:
        yield running


@pytest.fixture(scope="module")
def alone(started: Running) -> Iterator[Running]:
    """It has no study when a file of tests begins."""
    yield started
    for study in started.get("/api/studies?limit=1000").json()["studies"]:
        started.post(f"/api/studies/{study['id']}/cancel")
        started.delete(f"/api/studies/{study['id']}").raise_for_status()
    assert not started.get("/api/studies").json()["studies"]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield browser
        browser.close()


Kind = tuple[str, str | None, int, str]


@pytest.fixture(scope="module")
def rested(browser: Browser) -> Iterator[dict[Kind, list[BrowserContext]]]:
    """Contexts that no test uses now, by what they are for: scripts that one was served stay in its cache."""
    contexts: dict[Kind, list[BrowserContext]] = {}
    yield contexts
    for context in chain.from_iterable(contexts.values()):
        context.close()


@pytest.fixture
def opened(browser: Browser, rested: dict[Kind, list[BrowserContext]]) -> Iterator[Open]:
    """Opens pages on a service, none in the context of another; all are checked for silence when the test ends."""
    used: list[tuple[Kind, BrowserContext, Watched]] = []

    def open_on(running: Running, width: int = 1280, scheme: Any = "light") -> Watched:
        kind = (running.url, running.token, width, str(scheme))
        there = rested.setdefault(kind, [])
        context = there.pop() if there else browser.new_context(viewport=_size(width), color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        if running.token:
            context.add_cookies([{"name": "paretoscope_token", "value": running.token, "url": running.url}])
        watched = Watched(context.new_page(), running.url)
        used.append((kind, context, watched))
        return watched

    expect.set_options(timeout=PATIENCE)
    yield open_on
    for kind, context, watched in used:
        left = {"origin": watched.url, "storageTypes": "cookies,local_storage,session_storage,indexeddb"}
        context.new_cdp_session(watched.page).send("Storage.clearDataForOrigin", left)
        for page in context.pages:
            page.close()
        rested[kind].append(context)
    for _, _, watched in used:
        watched.check()


def _size(width: int) -> ViewportSize:
    return {"width": width, "height": 844}


@pytest.fixture(scope="package")
def empty(browser: Browser) -> Iterator[Watched]:
    watched = Watched(browser.new_page(), URL)
    watched.page.add_init_script(STAGE)
    watched.page.route(f"{URL}/**", answer)
    yield watched
    watched.page.close()


@pytest.fixture(scope="module")
def stage(empty: Watched) -> Iterator[Page]:
    """A page without a service, for `tests.browser.stage.play`: loaded anew for each file of tests."""
    page = empty.goto("/compare")
    expect(page.get_by_role("heading", name="Nothing to compare yet")).to_be_visible(timeout=PATIENCE)
    yield page  # not sooner: the page itself would still draw over what a test puts on it
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    empty.check()


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
