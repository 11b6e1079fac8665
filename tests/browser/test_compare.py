"""Studies laid over each other in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import FRONT, PLANE, Open, needs_chromium, send, submit, trained, wait_for_points
from tests.processes import Running

pytestmark = needs_chromium

WORDS = """async (specs) => (await import("/assets/pages/differences.js")).differenceWords(specs)"""
CLICK = """trial => document.querySelector('[data-figure="pareto-front"] .plot')
  .emit("plotly_click", { points: [{ customdata: trial }] })"""


def run(running: Running, spec: dict[str, Any], trained_trials: int = 6) -> tuple[str, list[str]]:
    study, trials = submit(running, spec)
    events = [event for place, trial in enumerate(trials[:trained_trials]) for event in trained(trial, place)]
    send(running, study, {"kind": "study_started"}, *events)
    if trained_trials == len(trials):
        send(running, study, {"kind": "study_finished"})
    return study, trials


def test_two_studies_share_verdict_table_and_figures(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    first, _ = run(alone, spec | {"name": "first"})
    second, trials = run(alone, spec | {"name": "second"})
    page = opened(alone).goto(f"/compare?studies={first},{second}")
    expect(page.locator("h1")).to_have_text("2 studies compared")
    wait_for_points(page, PLANE, 12)
    wait_for_points(page, FRONT, 12)
    arms = ["first · manual β", "first · MIB", "second · manual β", "second · MIB"]
    expect(page.locator(".arms tbody th")).to_have_text(arms)
    expect(page.locator(".verdict")).to_contain_text("first · manual β")
    expect(page.locator(".differ")).to_be_hidden()
    tabs = page.get_by_role("tab").all_inner_texts()
    assert tabs == ["Cost", "Sensitivity", "Curves", "Weights", "Runs"], "the main figures stand above them"

    page.evaluate(CLICK, f"{second}/{trials[3]}")
    expect(page).to_have_url(re.compile(rf"/studies/{second}\?trial={trials[3]}$"))
    expect(page.get_by_role("complementary", name="Trial")).to_be_visible()


def test_axes_are_chosen_and_stand_in_the_address(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    ids = ",".join(run(alone, spec | {"name": name})[0] for name in ("axes a", "axes b"))
    page = opened(alone).goto(f"/compare?studies={ids}")
    wait_for_points(page, FRONT, 12)
    panel = page.locator('[data-figure="pareto-front"]')
    panel.locator("select").nth(1).select_option("accuracy")
    expect(page).to_have_url(re.compile(r"[?&]y=accuracy"))
    title = "document.querySelector('[data-figure=\"pareto-front\"] .plot').layout.yaxis.title.text"
    page.wait_for_function(f"{title} === 'accuracy'")
    page.reload()
    wait_for_points(page, FRONT, 12)
    assert page.evaluate(title) == "accuracy"


def test_points_of_a_running_study_arrive_without_a_reload(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    ended, _ = run(alone, spec | {"name": "ended"})
    running, trials = run(alone, spec | {"name": "still running"}, trained_trials=1)
    page = opened(alone).goto(f"/compare?studies={ended},{running}")
    wait_for_points(page, FRONT, 7)
    expect(page.locator(".compared li").nth(1)).to_contain_text("running 1/6")
    page.evaluate("window.sameDocument = true")
    send(alone, running, *trained(trials[1], 1))
    wait_for_points(page, FRONT, 8)
    expect(page.locator(".compared li").nth(1)).to_contain_text("running 2/6")
    assert page.evaluate("window.sameDocument") is True


def test_a_missing_study_is_named_and_the_others_are_shown(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    here, _ = run(alone, spec | {"name": "here"})
    watched = opened(alone)
    watched.refusals_expected = True
    page = watched.goto(f"/compare?studies={here},snowhere")
    expect(page.locator(".missing")).to_have_text("There is no study snowhere; it may have been deleted.")
    expect(page.locator("h1")).to_have_text("One study; add another to compare")
    wait_for_points(page, FRONT, 6)
    page = watched.goto("/compare?studies=snowhere,sgone")
    expect(page.locator("main")).to_contain_text("There are no studies snowhere, sgone")
    page = watched.goto("/compare")
    expect(page.locator("main")).to_contain_text("Nothing to compare yet")


def test_studies_are_left_out_and_added(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    one, two = (run(alone, spec | {"name": name})[0] for name in ("leave one", "leave two"))
    page = opened(alone).goto(f"/compare?studies={one},{two}")
    page.get_by_role("link", name="Leave out leave one").press("Enter")
    expect(page.locator(".compared li")).to_have_count(1)
    page.get_by_label("Add").select_option(label="leave one")
    expect(page).to_have_url(re.compile(rf"/compare\?studies={two},{one}$"))
    expect(page.locator(".compared li a:first-child")).to_have_text(["leave two", "leave one"])


def test_what_makes_fronts_another_question_is_said(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    digits, _ = run(alone, spec | {"name": "on digits"})
    fashion = {"data": {"name": "fashion-mnist"}, "training": {"epochs": 9, "batch_size": 256, "learning_rate": 0.03}}
    other, _ = submit(alone, spec | {"name": "on fashion", **fashion})
    page = opened(alone).goto(f"/compare?studies={digits},{other}")
    expect(page.locator(".differ")).to_have_text(
        "These studies differ in data: digits, fashion-mnist. Their fronts are not the same question. "
        "They also differ in training: epochs 3, 9."
    )


def test_differences_are_read_off_the_specs(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/compare")
    axes = [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]
    base: dict[str, Any] = {"data": {"name": "digits"}, "model": {"name": "mlp", "latent": 16}, "objectives": axes}

    def words(**changed: Any) -> Any:
        return page.evaluate(WORDS, [base, base | changed])

    assert words(arms=[], seeds=[3]) == ""
    assert words(model={"name": "mlp", "latent": 4}) == "These studies differ in model: latent 16, 4."
    assert words(evaluation={"estimators": ["mine"]}) == (
        "These studies differ in estimators: none beside the bounds, mine."
    )
    assert words(data={"name": "digits", "labels": 100}) == (
        "These studies differ in data: labels none, 100. Their fronts are not the same question."
    )
    assert words(objectives=[axes[0], {"metric": "accuracy", "goal": "maximize"}]) == (
        "These studies differ in objectives: i_xz_bits (minimize) and i_zy_bits (maximize), "
        "i_xz_bits (minimize) and accuracy (maximize). Their fronts are not the same question."
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_comparison_stacks_on_a_phone(alone: Running, spec: dict[str, Any], opened: Open, scheme: str) -> None:
    names = ("narrow", "unbreakable" * 8)
    ids = ",".join(run(alone, spec | {"name": name})[0] for name in names)
    page = opened(alone, width=390, scheme=scheme).goto(f"/compare?studies={ids}")
    wait_for_points(page, PLANE, 12)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
