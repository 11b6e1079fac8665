"""Pick a point on a study's page: the ring, the words, its trial, the study of it alone; the tests send the trials."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from service.contract.study.parsing import check_study
from tests.browser.pages import FRONT, Open, needs_chromium, send
from tests.browser.test_accessibility import problems
from tests.processes import Running

pytestmark = needs_chromium

SPEC: dict[str, Any] = {
    "name": "pick",
    "seeds": [0],
    "arms": [{"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.01, 0.1, 1.0]}}}],
}
BITS = [(8.0, 3.1), (6.0, 3.0), (2.0, 2.7), (1.0, 0.5)]
RINGED = """([name, x]) => document.querySelector(`[data-figure="${name}"] .plot`)
  ?.data?.some((trace) => trace.marker?.symbol === "circle-open" && trace.x.length === 1 && trace.x[0] === x)"""


def played(alone: Running, spec: dict[str, Any], reached: list[tuple[float, float]]) -> str:
    """Its trials have reached these bits, in their order."""
    study = str(alone.post("/api/studies", json=spec).json()["id"])
    trials = alone.get(f"/api/studies/{study}/trials").json()["trials"]
    events: list[dict[str, Any]] = []
    for trial, (x, y) in zip(trials, reached, strict=True):
        metrics = {"epoch": 20, "i_xz_bits": x, "i_zy_bits": y, "accuracy": y / 3.2, "seconds": 1.0}
        events.append({"kind": "report", "trial": trial["id"], "metrics": metrics})
        events.append({"kind": "trial_finished", "trial": trial["id"]})
    send(alone, study, {"kind": "study_started"}, *events, {"kind": "study_finished"})
    return study


@pytest.fixture(scope="module")
def study(alone: Running) -> str:
    return played(alone, SPEC, BITS)


@pytest.fixture(scope="module")
def two_arms(alone: Running) -> str:
    """MIB is inside both bounds of the test below with fewer bits than any β."""
    arms = [*SPEC["arms"], {"name": "MIB", "weighting": {"name": "mib"}}]
    return played(alone, {**SPEC, "name": "two arms", "arms": arms}, [*BITS, (1.5, 2.75)])


def picker(page: Page) -> Locator:
    """Opened, where it was not."""
    button = page.get_by_role("button", name="Pick a point")
    if button.get_attribute("aria-expanded") == "false":
        button.click()
    return page.get_by_role("region", name="Pick a point")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_rule_rings_its_point_and_gives_its_trial_and_its_study(
    alone: Running, study: str, opened: Open, width: int, scheme: str
) -> None:
    page = opened(alone, width, scheme).goto(f"/studies/{study}")
    picker(page).get_by_role("button", name="Pick").click()
    expect(picker(page).get_by_role("status")).to_contain_text("it bulges furthest", ignore_case=True)
    expect(picker(page).get_by_role("status")).to_contain_text("manual β, seed 0")
    expect(picker(page)).to_contain_text("β 0.1")
    page.wait_for_function(RINGED, arg=[FRONT, 2.0])
    weights = picker(page).get_by_role("link", name="Its weights")
    picked = alone.get(f"/api/studies/{study}/pick").json()
    assert picked["checkpoint"] and weights.get_attribute("href") == picked["checkpoint"]
    picker(page).get_by_text("Its study as YAML").click()
    text = picker(page).get_by_role("region", name="The study of this point as YAML").text_content()
    alone_study = check_study(yaml.safe_load(text or ""))
    assert [arm.weighting.beta for arm in alone_study.arms if hasattr(arm.weighting, "beta")] == [0.1]
    assert problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    picker(page).get_by_role("button", name="Show its trial").click()
    expect(page.locator(".drawer")).to_contain_text("0.1")


def test_weights_and_bounds_choose_other_points_and_a_refusal_says_why(
    alone: Running, study: str, opened: Open
) -> None:
    watched = opened(alone)
    watched.refusals_expected = True
    page = watched.goto(f"/studies/{study}")
    rule, pick = picker(page).get_by_label("by ", exact=False).first, picker(page).get_by_role("button", name="Pick")
    rule.select_option("weights")
    for field, weight in zip(picker(page).get_by_role("spinbutton").all()[:2], ("1", "0"), strict=True):
        field.fill(weight)
    pick.click()
    page.wait_for_function(RINGED, arg=[FRONT, 1.0])
    rule.select_option("constraint")
    picker(page).get_by_label("bounded metric").select_option("i_zy_bits")
    picker(page).get_by_label("bound", exact=True).fill("2.9")
    pick.click()
    page.wait_for_function(RINGED, arg=[FRONT, 6.0])
    expect(picker(page).get_by_role("status")).to_contain_text("i_zy_bits at least 2.9")
    picker(page).get_by_label("bound", exact=True).fill("9")
    pick.click()
    expect(picker(page).get_by_role("alert")).to_have_text("none of 4 points has i_zy_bits at least 9")
    expect(picker(page).get_by_role("status")).to_be_hidden()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_a_point_is_picked_within_several_bounds_and_of_one_arm(
    alone: Running, two_arms: str, opened: Open, width: int, scheme: str
) -> None:
    watched = opened(alone, width, scheme)
    watched.refusals_expected = True
    page = watched.goto(f"/studies/{two_arms}")
    pick, status = picker(page).get_by_role("button", name="Pick"), picker(page).get_by_role("status")
    picker(page).get_by_label("by ", exact=False).first.select_option("constraint")
    first = picker(page).get_by_role("group", name="Bound 1")
    first.get_by_label("bound", exact=True).fill("2.6")
    picker(page).get_by_role("button", name="Add a bound").click()
    second = picker(page).get_by_role("group", name="Bound 2")
    expect(second.get_by_label("bounded metric")).to_be_focused()
    expect(second.get_by_label("bounded metric")).to_have_value("i_xz_bits")
    expect(second.get_by_label("which bound")).to_have_value("at_most")
    second.get_by_label("bound", exact=True).fill("6.5")
    picker(page).get_by_label("then the best").select_option("i_zy_bits")
    pick.click()
    expect(status).to_contain_text("i_zy_bits at least 2.6 and i_xz_bits at most 6.5")
    page.wait_for_function(RINGED, arg=[FRONT, 6.0])
    picker(page).get_by_label("of ", exact=False).first.select_option("MIB")
    pick.click()
    expect(status).to_contain_text("MIB, seed 0")
    page.wait_for_function(RINGED, arg=[FRONT, 1.5])
    assert problems(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    second.get_by_label("bound", exact=True).fill("1")
    pick.click()
    refused = "none of 1 point has i_zy_bits at least 2.6 and i_xz_bits at most 1"
    expect(picker(page).get_by_role("alert")).to_have_text(refused)
    picker(page).get_by_role("button", name="Remove bound 2").click()
    expect(picker(page).get_by_role("button", name="Add a bound")).to_be_focused()
    pick.click()
    expect(status).to_contain_text("of 1 point with i_zy_bits at least 2.6", ignore_case=True)


def test_a_study_of_one_arm_is_asked_for_none(alone: Running, study: str, opened: Open) -> None:
    page = opened(alone).goto(f"/studies/{study}")
    expect(picker(page).get_by_role("combobox")).to_have_count(1)
