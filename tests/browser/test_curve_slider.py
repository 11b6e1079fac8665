"""A slider along the curve of a training for all βs: the mark, the numbers, the address; the tests send the curves."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from service.contract.wording.numbers import setting, spread
from tests.browser import curves
from tests.browser.curves import BETAS, report, trained
from tests.browser.pages import FRONT, PLANE, Open, Watched, needs_chromium, send, without_drawing
from tests.browser.test_accessibility import problems
from tests.processes import Running

pytestmark = needs_chromium

# Where a figure's first mark stands, and where a place of its axes would, both on the field of the plot.
MARKS = """name => [...document.querySelectorAll(`[data-figure="${name}"] .mark`)]
  .map(({ dataset }) => [Number(dataset.x), Number(dataset.y)])"""
PIXELS = """([name, x, y]) => {
  const { xaxis, yaxis } = document.querySelector(`[data-figure="${name}"] .plot`)._fullLayout;
  return [xaxis.d2p(x), yaxis.d2p(y)];
}"""
STANDS = f"""([name, x, y, mark]) => {{
  const own = ({MARKS})(name)[mark];
  const wanted = own && ({PIXELS})([name, x, y]);
  return own && Math.hypot(own[0] - wanted[0], own[1] - wanted[1]) < 1;
}}"""
# Where a place of a figure's axes is in the window.
SEEN = """([name, x, y]) => {
  const plot = document.querySelector(`[data-figure="${name}"] .plot`);
  const { xaxis, yaxis } = plot._fullLayout;
  const { left, top } = plot.getBoundingClientRect();
  return [left + xaxis._offset + xaxis.d2p(x), top + yaxis._offset + yaxis.d2p(y)];
}"""
# Whether the thin lines of the arm's curves go through these places and no others.
CURVES = """([name, wanted]) => {
  const traces = document.querySelector(`[data-figure="${name}"] .plot`)?.data ?? [];
  const lines = traces.filter((trace) => trace.mode === "lines" && trace.name === "all β");
  const drawn = lines.flatMap(({ x, y }) => Array.from(x, (each, i) => [each, y[i]])).filter(([x]) => x !== null);
  drawn.sort(([a], [b]) => a - b);
  const near = (place, i) => place.every((value, axis) => Math.abs(value / wanted[i][axis] - 1) < 1e-3);
  return drawn.length === wanted.length && drawn.every(near);
}"""
Trials = list[dict[str, Any]]


def submitted(alone: Running, spec: dict[str, Any]) -> tuple[str, Trials]:
    study = alone.post("/api/studies", json=spec).json()["id"]
    return study, alone.get(f"/api/studies/{study}/trials").json()["trials"]


@pytest.fixture(scope="module")
def finished(alone: Running) -> tuple[str, Trials]:
    study, trials = submitted(alone, curves.SPEC)
    events = [event for trial in trials for event in trained(trial)]
    send(alone, study, {"kind": "study_started"}, *events, {"kind": "study_finished"})
    return study, trials


def answered(alone: Running, study: str) -> dict[str, Any]:
    return dict(alone.get(f"/api/studies/{study}/curves").json())


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Place on the curve")


def expect_mark(page: Page, metrics: dict[str, Any], mark: int = 0) -> None:
    """In both figures, at the mean of the seeds."""
    x, y = (metrics[name]["mean"] for name in ("i_xz_bits", "i_zy_bits"))
    for figure in (PLANE, FRONT):
        page.wait_for_function(STANDS, arg=[figure, x, y, mark])


def expect_curves(page: Page, trials: Trials, epoch: int) -> None:
    """In both figures, through every point that these trials reported after this epoch."""
    own = [curves.measured(beta, trial["seed"], epoch) for trial in trials for beta in BETAS]
    for figure in (PLANE, FRONT):
        wanted = sorted([each["i_xz_bits"], each["i_zy_bits"]] for each in own)
        page.wait_for_function(CURVES, arg=[figure, wanted])


def expect_numbers(page: Page, column: int, metrics: dict[str, Any]) -> None:
    names = ("i_xz_bits", "i_zy_bits", "accuracy")
    own = [metrics[name] for name in names]
    words = [spread(each["mean"], each["half_width"], each["low"], each["high"]) for each in own]
    expect(page.locator(f".along tbody td:nth-child({column})")).to_have_text(words)


def test_the_slider_moves_the_mark_and_the_numbers_and_asks_for_nothing(
    alone: Running, finished: tuple[str, Trials], opened: Open
) -> None:
    study, _ = finished
    shown = answered(alone, study)
    places, settings = shown["places"], shown["beside"]["settings"]
    page = opened(alone).goto(f"/studies/{study}")
    expect(page.locator(".slider output")).to_have_text("β 0.01")
    expect_mark(page, places[4]["metrics"])
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.keyboard.press("b")
    expect(slider(page)).to_be_focused()
    for key, i, near in (("ArrowRight", 5, 1), ("ArrowRight", 6, 2), ("End", 8, 2), ("Home", 0, 0)):
        page.keyboard.press(key)
        expect(page.locator(".slider output")).to_have_text(f"β {setting(BETAS[i])}")
        expect(slider(page)).to_have_attribute("aria-valuetext", re.compile(rf"^β {setting(BETAS[i])}, I\(X;Z\)"))
        expect_numbers(page, 2, places[i]["metrics"])
        expect_numbers(page, 3, settings[near]["metrics"])
        expect(page.locator(".along thead th").last).to_contain_text(f"nearest: β {setting(curves.GRID[near])}")
        expect_mark(page, places[i]["metrics"])
        expect_mark(page, settings[near]["metrics"], mark=1)
    box = slider(page).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + box["height"] / 2)
    expect(page.locator(".slider output")).to_have_text(f"β {setting(BETAS[6])}")
    expect_mark(page, places[6]["metrics"])
    expect(page.locator(".slider p")).to_have_text(
        [f"{arm}: mean ± 95 % interval over 3 seeds" for arm in ("all β", "manual β")]
    )
    assert [url for url in asked if "/api/" in url] == []
    page.evaluate("name => Plotly.relayout(document.querySelector(`[data-figure='${name}'] .plot`), "
                  "{'yaxis.range': [-1, 5]})", FRONT)  # fmt: skip
    expect_mark(page, places[6]["metrics"])


@pytest.mark.parametrize("figure", [PLANE, FRONT])
def test_pointing_at_a_curve_names_the_beta_there(
    alone: Running, finished: tuple[str, Trials], opened: Open, figure: str
) -> None:
    """Plotly says the point that is nearest; curves of other seeds are a few pixels beside it."""
    study, trials = finished
    page = opened(alone).goto(f"/studies/{study}")
    expect_curves(page, trials[-3:], epoch=4)
    page.locator(f'[data-figure="{figure}"]').scroll_into_view_if_needed()
    for beta in (BETAS[0], BETAS[2], BETAS[6]):
        own = curves.measured(beta, seed=0)
        x, y = page.evaluate(SEEN, [figure, own["i_xz_bits"], own["i_zy_bits"]])
        page.mouse.move(x - 20, y + 20)
        page.mouse.move(x, y)
        said = page.locator(f'[data-figure="{figure}"] .hoverlayer .hovertext')
        expect(said).to_have_text(re.compile(rf"^all β\s*β {setting(beta)} · seed [012]"))


def test_the_address_restores_the_place(alone: Running, finished: tuple[str, Trials], opened: Open) -> None:
    study, _ = finished
    watched = opened(alone)
    without_drawing(watched.page)
    page = watched.goto(f"/studies/{study}")
    expect(page.locator(".slider output")).to_have_text("β 0.01")
    assert "place" not in page.url
    slider(page).press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"\?place=0\.00316228$"))
    page.reload()
    expect(page.locator(".slider output")).to_have_text("β 0.00316")
    for given, there in (("0.02", "β 0.0316"), ("7", "β 1"), ("colour", "β 0.01"), ("0.2,0.8", "β 0.01")):
        page.goto(f"{alone.url}/studies/{study}?place={given}")
        expect(page.locator(".slider output")).to_have_text(there)


def test_a_live_curve_comes_and_grows_and_the_reader_stays_at_the_place(alone: Running, opened: Open) -> None:
    study, trials = submitted(alone, curves.SPEC)
    send(alone, study, {"kind": "study_started"}, *trained(trials[0]))
    page = opened(alone).goto(f"/studies/{study}?place=0.1")
    expect(page.locator(".along")).to_contain_text("No trial has brought a curve yet.")
    expect(slider(page)).to_be_hidden()
    send(alone, study, report(trials[-1], 1))
    expect(page.locator(".slider output")).to_have_text("β 0.1")
    first = [place["metrics"] for place in answered(alone, study)["places"]]
    assert first[6]["i_zy_bits"]["seeds"] == 1
    expect_mark(page, first[6])
    expect_curves(page, trials[-1:], epoch=1)
    slider(page).press("ArrowRight")
    page.evaluate("window.sameDocument = true")
    send(alone, study, *(report(trial, 3) for trial in trials[-3:]))
    expect(page.locator(".slider p").first).to_have_text("all β: mean ± 95 % interval over 3 seeds")
    later = answered(alone, study)["places"][7]["metrics"]
    assert later["i_zy_bits"]["mean"] > first[7]["i_zy_bits"]["mean"]
    expect_curves(page, trials[-3:], epoch=3)
    expect(page.locator(".slider output")).to_have_text("β 0.316")
    expect_numbers(page, 2, later)
    expect_mark(page, later)
    # An extended study may measure elsewhere: the nearest of its places is the reader's then.
    send(alone, study, *(report(trial, 4, [1e-3, 0.25, 0.9]) for trial in trials[-3:]))
    expect(page.locator(".slider output")).to_have_text("β 0.25")
    assert page.evaluate("window.sameDocument") is True


def test_an_open_trial_has_all_its_points_ringed_and_told(
    alone: Running, finished: tuple[str, Trials], opened: Open
) -> None:
    study, trials = finished
    page = opened(alone).goto(f"/studies/{study}?tab=trials&trial={trials[-1]['id']}")
    drawer = page.get_by_role("complementary", name="Trial")
    expect(drawer.get_by_role("heading", name="9 points")).to_be_visible()
    rows = drawer.get_by_role("region", name="Points of this trial").locator("tbody tr")
    expect(rows).to_have_count(9)
    expect(rows.nth(6)).to_have_text(re.compile(r"^0\.1\D*1\.97"))
    placed = drawer.get_by_role("region", name="Points against the front").locator("tbody tr")
    expect(placed).to_have_count(9)
    expect(placed.nth(4).locator("td").nth(3)).to_have_text("0.01")
    for heading in ("Learning curve", "Last report"):
        expect(drawer.get_by_role("heading", name=f"{heading}, at the middle of its range")).to_be_visible()
    rings = """([name, count]) => {
      const ring = document.querySelector(`[data-figure="${name}"] .plot`).data?.at(-1);
      return ring?.marker?.symbol === "circle-open" && new Set(ring.x).size === count;
    }"""
    for figure in (PLANE, FRONT):
        page.wait_for_function(rings, arg=[figure, 9])
    page.locator(".trials-panel").scroll_into_view_if_needed()
    expect(page.locator(".trials-panel .filters")).to_contain_text("values at the middle of their range")
    page.locator(f'.trials tr[data-trial="{trials[0]["id"]}"] button').click()
    expect(drawer.get_by_role("heading", name="Last report", exact=True)).to_be_visible()
    expect(drawer.get_by_role("region", name="Points of this trial")).to_be_hidden()
    for figure in (PLANE, FRONT):
        page.wait_for_function(rings, arg=[figure, 1])


# Texts of the section whose boxes meet, and those that stick out of it.
MEETING = """() => {
  const section = document.querySelector(".along");
  const around = section.getBoundingClientRect();
  const words = [...section.querySelectorAll("*")].filter((e) => e.children.length === 0 && e.textContent.trim());
  const boxes = [...words, section.querySelector("input")].map((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const box = element.matches("input") ? element.getBoundingClientRect() : range.getBoundingClientRect();
    return { text: element.textContent, box };
  }).filter(({ box }) => box.width);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const after = (a, i) => boxes.slice(i + 1).filter((b) => meet(a.box, b.box)).map((b) => [a.text, b.text]);
  const pairs = boxes.flatMap(after);
  const out = boxes.filter(({ box }) => box.left < around.left - 1 || box.right > around.right + 1);
  return [boxes.length, pairs, out.map(({ text }) => text)];
}"""


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_slider_fits_its_page_and_is_accessible(alone: Running, opened: Open, width: int, scheme: str) -> None:
    arms = [{**arm, "name": f"{arm['name']} {'unbreakable' * 3}"} for arm in curves.SPEC["arms"]]
    study, trials = submitted(alone, curves.SPEC | {"arms": arms})
    send(alone, study, {"kind": "study_started"}, *(event for trial in trials for event in trained(trial)))
    page = opened(alone, width=width, scheme=scheme).goto(f"/studies/{study}")
    places = [place["metrics"] for place in answered(alone, study)["places"]]
    for shown in (f'[data-figure="{PLANE}"]', f'[data-figure="{FRONT}"]', ".along"):  # drawn when they come into view
        page.locator(shown).scroll_into_view_if_needed()
    for key, place in (("Home", 0), ("ArrowRight", 1), ("End", 8)):
        slider(page).press(key)
        expect_numbers(page, 2, places[place])
        expect_mark(page, places[place])
        count, meeting, outside = page.evaluate(MEETING)
        assert count > 12 and (meeting, outside) == ([], [])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 390:  # the open trial will cover it
        assert problems(page) == []
    slider(page).press("Home")
    page.goto(f"{page.url}&trial={trials[-1]['id']}")
    expect(page.get_by_role("region", name="Points of this trial")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert problems(page) == []


def quiet(alone: Running, opened: Open) -> Watched:
    watched = opened(alone)
    without_drawing(watched.page)
    return watched


def test_preferences_are_stepped_through_beside_weights_by_hand(alone: Running, opened: Open) -> None:
    tasks = {"name": "multitask", "main": "left", "auxiliaries": ["right"]}
    by_hand = {"name": "fixed", "weights": {"right": {"grid": [0.5, 2.0]}}}
    arms = [
        {"name": "by hand", "problem": tasks, "weighting": by_hand},
        {"name": "all mixtures", "problem": tasks, "weighting": {"name": "conditional", "points": 3}},
    ]
    study, trials = submitted(alone, {"name": "p", "data": {"name": "overlaid"}, "seeds": [0], "arms": arms})

    def metrics(left: float) -> dict[str, float]:
        return {"accuracy_left": 0.5 + 0.4 * left, "accuracy_right": 0.9 - 0.4 * left}

    points = [{"where": {"left": x, "right": 1 - x}, "metrics": metrics(x)} for x in (0.0, 0.5, 1.0)]
    send(
        *(alone, study, {"kind": "study_started"}),
        *({"kind": "report", "trial": trial["id"], "metrics": {"epoch": 1, **metrics(0.6)}} for trial in trials[:2]),
        {"kind": "report", "trial": trials[2]["id"], "metrics": {"epoch": 1, **metrics(0.5)}, "points": points},
    )
    page = quiet(alone, opened).goto(f"/studies/{study}")
    expect(page.locator(".slider output")).to_have_text("left 0.5 · right 0.5")
    slider(page).press("ArrowRight")
    expect(page.locator(".slider output")).to_have_text("left 1 · right 0")
    expect(page.locator(".along thead th").last).to_contain_text("nearest: left 0.667 · right 0.333")
    expect(page).to_have_url(re.compile(r"place=1%2C0$"))
    page.reload()
    expect(page.locator(".slider output")).to_have_text("left 1 · right 0")


def test_of_several_curves_one_is_chosen_and_an_old_link_is_forgotten(alone: Running, opened: Open) -> None:
    arm = {
        "name": "all β",
        "weighting": {"name": "conditional", "points": 9},
        "training": {"learning_rate": {"grid": [1.0, 2.0]}},
    }
    study, trials = submitted(alone, curves.SPEC | {"arms": [arm]})
    send(alone, study, {"kind": "study_started"}, *(report(trial, 1) for trial in trials))
    watched = quiet(alone, opened)
    watched.refusals_expected = True
    page = watched.goto(f"/studies/{study}?curve=tgone&place=0.1")
    expect(page).to_have_url(re.compile(r"\?place=0\.1$"))
    choice = page.get_by_role("combobox", name="Curve")
    expect(choice.locator("option")).to_have_text(["all β · learning rate 1", "all β · learning rate 2"])
    choice.select_option("all β · learning rate 2")
    expect(page).to_have_url(re.compile(rf"curve={trials[3]['id']}$"))
    expect(page.locator(".slider output")).to_have_text("β 0.1")
    expect(page.locator(".slider p").last).to_have_text("No network was trained separately for one such place.")
    page.reload()
    expect(choice).to_have_value(trials[3]["id"])
    network = {"name": "conditional", "points": 9, "verify": 1}
    checked, trials = submitted(alone, curves.SPEC | {"arms": [{"name": "all β", "weighting": network}]})
    send(alone, checked, {"kind": "study_started"}, *(report(trial, 1) for trial in trials))
    page.goto(f"{alone.url}/studies/{checked}")
    expect(page.locator(".along thead th").last).to_contain_text("trained alone: β 0.01")
    expect(page.locator(".slider p").last).to_contain_text("all β, trained alone: mean")
    plain, _ = submitted(alone, curves.SPEC | {"arms": curves.SPEC["arms"][:1]})
    page.goto(f"{alone.url}/studies/{plain}")
    expect(page.locator(".arms")).to_be_visible()
    expect(page.locator(".along")).to_have_count(0)
