"""The page's modules by themselves: values in, values out, run in the browser that will run them."""

from __future__ import annotations

import math
from typing import Any

from playwright.sync_api import Page

from service.contract.metrics import described
from tests.browser.pages import Run, needs_chromium

pytestmark = needs_chromium


def test_the_address_keeps_and_drops_choices(page: Page) -> None:
    script = """async () => {
      const { choose, chosen, allChosen } = await import("/assets/kit/address.js");
      const before = location.href;
      choose({ q: "a b&c", brush: ["t1", "t2"], sort: "-x", none: null, empty: "" });
      const held = [location.search, chosen("q"), allChosen("brush"), chosen("none"), chosen("empty")];
      choose({ q: null, brush: [], sort: "" });
      return [held, location.href === before];
    }"""
    held, is_back = page.evaluate(script)
    assert held == ["?q=a+b%26c&brush=t1&brush=t2&sort=-x", "a b&c", ["t1", "t2"], None, None]
    assert is_back


def row(name: str) -> dict[str, Any]:
    return dict(described(name)._asdict())


CURVES = """async ([rows, objectives]) => {
  const { curvesOf, shownFirst, epochIn } = await import("/assets/kit/metrics.js");
  const metrics = new Map(rows.map((row) => [row.name, row]));
  return [curvesOf(metrics, objectives), shownFirst(metrics, objectives), epochIn(metrics)];
}"""


def test_metrics_are_told_apart_by_their_kind(page: Page) -> None:
    bits = [{"metric": "i_xz_bits"}, {"metric": "i_zy_bits"}]
    names = "epoch seconds weight_pred i_xz_bits i_xz_bits_stderr i_xz_infonce_bits i_zy_bits accuracy train_accuracy"
    rows = [row(name) for name in f"{names} robust_pgd".split()]
    curves, first, epoch = page.evaluate(CURVES, [rows, bits])
    assert curves == [
        {"names": ["accuracy", "train_accuracy"]},
        {"names": ["i_xz_bits", "i_zy_bits"], "title": "bits"},
    ]
    assert (first, epoch) == (["i_xz_bits", "i_zy_bits", "accuracy"], "epoch")
    renamed = [{**each, "name": f"own_{each['name']}"} for each in rows]
    curves, first, epoch = page.evaluate(CURVES, [renamed, []])
    assert [curve["names"] for curve in curves] == [
        ["own_accuracy", "own_train_accuracy"],
        ["own_i_xz_bits", "own_i_zy_bits"],
    ], "names do not matter"
    assert (first, epoch) == (["own_accuracy"], "own_epoch")


def test_tasks_show_their_objectives_and_weights(page: Page) -> None:
    tasks = [{"metric": "accuracy_left"}, {"metric": "accuracy_right"}]
    names = "epoch accuracy_left accuracy_right weight_left weight_right accuracy mean_accuracy worst_accuracy"
    curves, first, _ = page.evaluate(CURVES, [[row(name) for name in names.split()], tasks])
    assert curves == [
        {"names": ["accuracy_left", "accuracy_right"]},
        {"names": ["weight_left", "weight_right"], "title": "weights"},
    ]
    assert first == ["accuracy_left", "accuracy_right", "accuracy"], "no mean over tasks"


def listed(name: str, **changed: Any) -> dict[str, Any]:
    arms = [{"name": f"arm of {name}"}]
    counts = {"planned": 1, "failed": 0}
    own = {"id": f"s{name}", "name": name, "state": "queued", "progress": 0.0, "created_at": "2026", "spark": []}
    return {**own, "arms": arms, "counts": counts, **changed}


def test_studies_are_sorted_by_what_a_column_shows(run: Run) -> None:
    studies = [
        listed("b", progress=0.5, counts={"planned": 3, "failed": 1}, spark=[1.0, 9.0]),
        listed("A", progress=1.0, counts={"planned": 1, "failed": 0}, state="finished", created_at="2025"),
        listed("c", progress=0.1, counts={"planned": 2, "failed": 2}, spark=[5.0], arms=[{"name": "x"}, {"name": "y"}]),
    ]
    by = [
        "study",
        "-study",
        "progress",
        "trials",
        "-failed",
        "-hypervolume",
        "created",
        "-arms",
        "state",
        "nothing",
        "select",
    ]
    orders = run("pages/list-rows", "sorted", *([studies, sort] for sort in by))
    assert ["".join(each["name"] for each in order) for order in orders] == [
        *("Abc", "cbA", "cbA", "Acb", "cbA", "bcA", "Abc", "cbA", "Abc", "bAc", "bAc")
    ]


def test_a_spark_steps_along_and_then_up(run: Run) -> None:
    assert run("figures/spark", "steps", [[0, 1]], [[3]], [[2, 2, 2]], [[0, 4, 2]]) == [
        *("M1.0 16.0H71.0V2.0", "M1.0 16.0H71", "M1.0 16.0H36.0V16.0H71.0V16.0", "M1.0 16.0H36.0V2.0H71.0V9.0")
    ]


def test_a_brush_mutes_the_points_outside_it_and_no_other(page: Page) -> None:
    script = """async () => {
      const { brushed } = await import("/assets/figures/look.js");
      const points = { type: "scatter", customdata: ["t1", "t2", "t3"] };
      const line = { mode: "lines", opacity: 0.8 };
      const chosen = new Set(["t3", "t1"]);
      return [brushed(points, chosen).selectedpoints, brushed(points, null).selectedpoints ?? null,
        brushed(line, chosen).opacity, brushed(line, null).opacity, brushed(points, new Set(["t9"])).selectedpoints,
        brushed({ ...points, type: "scatter3d" }, chosen).selectedpoints ?? null];
    }"""
    inside, none, muted, plain, nobody, deep = page.evaluate(script)
    assert (inside, none, nobody, deep) == ([0, 2], None, [], None)
    assert math.isclose(muted, 0.28) and plain == 0.8


def test_the_ring_is_round_the_open_trial(page: Page) -> None:
    script = """async () => {
      const { ringOf } = await import("/assets/figures/look.js");
      const above = { x: [1, 2], y: [3, 4], customdata: ["t1", "t2"] };
      const below = { x: [9], y: [9], customdata: ["t3"], yaxis: "y2" };
      const rings = ["t2", "t3", "t9", null].map((trial) => ringOf([above, below], trial));
      return rings.map(({ x, y, yaxis }) => [x, y, yaxis ?? null]);
    }"""
    assert page.evaluate(script) == [[[2], [4], "y"], [[9], [9], "y2"], [[], [], None], [[], [], None]]
