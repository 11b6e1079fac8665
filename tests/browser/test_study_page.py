"""The study page: tabs, brush, table, trial, deep links, keys; the tests send what a driver would."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import FRONT, PLANE, Open, needs_chromium, place_of, send, submit, trained, wait_for_points
from tests.processes import Running

pytestmark = needs_chromium

UNMUTED = """name => {
  const plot = document.querySelector(`[data-figure="${name}"] .plot`);
  return plot.data.flatMap((trace) => (trace.selectedpoints ?? []).map((i) => trace.customdata[i])).sort();
}"""


@pytest.fixture
def finished(alone: Running, spec: dict[str, Any]) -> tuple[str, list[str]]:
    study, trials = submit(alone, spec)
    events = [event for place, trial in enumerate(trials) for event in trained(trial, place)]
    send(alone, study, {"kind": "study_started"}, *events, {"kind": "study_finished"})
    return study, trials


def test_a_point_is_clicked_through_to_its_trial(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    study, trials = finished
    page = opened(alone).goto(f"/studies/{study}")
    wait_for_points(page, FRONT, 6)
    page.mouse.move(*place_of(page, trials[0]))
    page.mouse.click(*place_of(page, trials[0]))
    drawer = page.get_by_role("complementary", name="Trial")
    expect(drawer).to_contain_text(trials[0])
    expect(drawer).to_contain_text("weighting.beta")
    expect(drawer.get_by_role("heading", name="Log")).to_be_visible()
    expect(drawer.get_by_text("No checkpoint")).to_be_visible()
    assert f"trial={trials[0]}" in page.url
    drawer.get_by_role("link", name="Copy as study").click()
    page.wait_for_url(re.compile(rf"/new\?from={study}&trial={trials[0]}"))


def test_a_link_holds_every_choice(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    study, _ = finished
    first = opened(alone).goto(f"/studies/{study}")
    wait_for_points(first, FRONT, 6)
    first.locator(f'[data-figure="{FRONT}"] select').first.select_option("accuracy")
    first.get_by_role("tab", name="Trials").click()
    first.get_by_role("combobox", name="State").select_option("finished")
    first.get_by_label("Where").fill("seed = 1")
    rows = first.locator(".trials tbody tr")
    expect(rows).to_have_count(3)
    first.get_by_role("button", name="Accuracy", exact=True).click()
    first.get_by_text("Columns", exact=True).click()
    first.get_by_label("Host", exact=True).check()
    expect(first.locator('.trials th[data-column="host"]')).to_be_visible()
    first.keyboard.press("Escape")
    rows.first.get_by_role("button").click()
    expect(first.get_by_role("complementary", name="Trial")).to_be_visible()

    again = opened(alone).goto(first.url.removeprefix(alone.url))
    expect(again.locator(".trials tbody tr")).to_have_count(3)
    expect(again.get_by_role("tab", name="Trials")).to_have_attribute("aria-selected", "true")
    expect(again.locator('.trials th[data-column="host"]')).to_be_visible()
    expect(again.locator('.trials th[data-column="accuracy"]')).to_have_attribute("aria-sort", "ascending")
    expect(again.get_by_role("complementary", name="Trial")).to_be_visible()
    expect(again.locator(f'[data-figure="{FRONT}"] select').first).to_have_value("accuracy")
    title = f"document.querySelector('[data-figure=\"{FRONT}\"] .plot').layout?.xaxis.title.text"
    again.wait_for_function(f"{title} === 'accuracy'")


def test_a_brush_in_one_figure_mutes_the_others_everywhere(
    alone: Running, finished: tuple[str, list[str]], opened: Open
) -> None:
    study, trials = finished
    page = opened(alone).goto(f"/studies/{study}")
    wait_for_points(page, FRONT, 6)
    panel = page.locator(f'[data-figure="{FRONT}"]')
    panel.hover()
    panel.locator('[data-title="Box Select"]').click()
    (x0, y0), (x1, y1) = place_of(page, trials[0]), place_of(page, trials[1])
    page.mouse.move(min(x0, x1) - 8, min(y0, y1) - 8)
    page.mouse.down()
    page.mouse.move(max(x0, x1) + 8, max(y0, y1) + 8, steps=5)
    page.mouse.up()
    expect(page.get_by_text("2 trials selected, the others are muted")).to_be_visible()
    for figure in (FRONT, PLANE):
        page.wait_for_function(
            f"([name, wanted]) => ({UNMUTED})(name).join() === wanted", arg=[figure, ",".join(sorted(trials[:2]))]
        )
    page.get_by_role("button", name="List them").click()
    expect(page.locator(".trials tbody tr")).to_have_count(2)
    assert "brush=" in page.url
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".trials tbody tr")).to_have_count(6)
    page.wait_for_function(f"name => ({UNMUTED})(name).length === 0", arg=PLANE)


def test_a_wrong_condition_says_what_can_be_asked(
    alone: Running, finished: tuple[str, list[str]], opened: Open
) -> None:
    watched = opened(alone)
    watched.refusals_expected = True
    page = watched.goto(f"/studies/{finished[0]}?tab=trials")
    page.get_by_label("Where").fill("colour > 3")
    expect(page.get_by_role("alert").filter(has_text="Cannot ask about 'colour'")).to_be_visible()
    page.get_by_label("Where").fill("accuracy > 0.71")
    expect(page.locator(".trials tbody tr")).to_have_count(1)


def test_everything_can_be_reached_by_keyboard(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    study, _ = finished
    page = opened(alone).goto("/")
    page.keyboard.press("?")
    card = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(card).to_contain_text("new study")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)

    page.goto(f"{alone.url}/studies/{study}")
    wait_for_points(page, FRONT, 6)
    selected = page.get_by_role("tab", selected=True)
    first = selected.inner_text()
    page.keyboard.press("2")
    expect(selected).not_to_have_text(first)
    expect(selected).to_be_focused()
    page.keyboard.press("End")
    expect(selected).to_have_text("Spec and methods")
    page.keyboard.press("ArrowLeft")
    expect(selected).to_have_text("Trials")
    expect(page.locator(".trials tbody tr")).to_have_count(6)
    page.keyboard.press("j")
    drawer = page.get_by_role("complementary", name="Trial")
    expect(drawer).to_be_visible()
    page.keyboard.press("j")
    second = page.locator(".trials tbody tr").nth(1)
    expect(second).to_have_attribute("aria-selected", "true")
    expect(drawer).to_contain_text(second.get_attribute("data-trial") or "none")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    page.keyboard.press("f")
    expect(page.get_by_label("Where")).to_be_focused()
    page.keyboard.type("n = 1")  # typed, not a shortcut
    assert page.url.startswith(f"{alone.url}/studies/{study}")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")


def test_a_figure_is_saved_as_svg_and_png(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    page = opened(alone).goto(f"/studies/{finished[0]}")
    wait_for_points(page, FRONT, 6)
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        page.locator(f'[data-figure="{FRONT}"] summary', has_text="Save").click()
        with page.expect_download() as saved:
            page.get_by_role("button", name=f"Save Pareto front as {kind}").click()
        assert saved.value.suggested_filename == f"small pareto front.{kind.lower()}"
        content = saved.value.path().read_bytes()
        assert content.startswith(start)
        if kind == "SVG":
            assert "I(X;Z) [bits]" in content.decode() and "Pareto front" in content.decode()


def test_the_study_is_taken_along(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    page = opened(alone).goto(f"/studies/{finished[0]}")
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Trials as CSV").click()
    assert saved.value.path().read_text().count("\n") == 7
    page.get_by_role("tab", name="Spec and methods").click()
    expect(page.locator(".methods")).to_contain_text("seeds")
    expect(page.get_by_label("BibTeX")).to_contain_text("@")


def test_only_the_open_tab_is_fetched(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    watched = opened(alone)
    asked: list[str] = []
    watched.page.on("request", lambda request: asked.append(request.url))
    page = watched.goto(f"/studies/{finished[0]}")
    wait_for_points(page, FRONT, 6)
    page.wait_for_function("document.querySelector('[data-figure=\"hypervolume-cost\"] .plot')?.data")
    assert not [url for url in asked if "weight-paths" in url or "/trials?" in url]
    page.get_by_role("tab", name="Weights").click()
    page.wait_for_function("document.querySelector('[data-figure=\"weight-paths\"] .plot')?.data")


def test_one_seed_has_no_interval_and_says_so(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, trials = submit(alone, spec | {"seeds": [0]})
    events = [event for place, trial in enumerate(trials) for event in trained(trial, place)]
    send(alone, study, {"kind": "study_started"}, *events, {"kind": "study_finished"})
    page = opened(alone).goto(f"/studies/{study}")
    expect(page.locator(".verdict")).to_contain_text("one seed: no interval, no test")
    expect(page.locator(".arms .panel-head")).to_contain_text("one seed, no interval")
    expect(page.locator(".arms tbody")).not_to_contain_text("±")


def test_modules_of_the_page_are_asked_for_at_once(
    alone: Running, finished: tuple[str, list[str]], opened: Open
) -> None:
    """Else each import would wait for the one before: before-paint.js names them all."""
    page = opened(alone).goto(f"/studies/{finished[0]}")
    wait_for_points(page, FRONT, 6)
    late = page.evaluate(
        """() => performance.getEntriesByType('resource')
             .filter((entry) => entry.name.endsWith('.js') && !entry.name.includes('plotly'))
             .filter((entry) => ![...document.querySelectorAll('link, script')]
               .some((l) => (l.href ?? l.src) === entry.name || l.src === entry.name))
             .map((entry) => entry.name)"""
    )
    assert late == []
