"""Figures of a bottleneck study, of several studies laid over each other, and of a thousand trials."""

from __future__ import annotations

import json
import math
from typing import Any

import plotly.graph_objects as go
import pytest

from service.figures import FIGURES, figures_of
from service.figures.figure import Asked
from service.views.fold import StudyView
from service.views.overlay import Overlay
from tests.service.studies import MANUAL, MIB, bottleneck_of, play

NAMES = [
    "hypervolume-cost",
    "attainment",
    "attainment-difference",
    "beta-sensitivity",
    "robustness",
    "learning-curves",
    "generalization-gap",
]
ATTACKED = {"attacks": [{"name": "fgsm"}, {"name": "pgd"}]}
KILOBYTES = 200


def trained(view: StudyView, reports: int) -> StudyView:
    """Every trial has so many reports, each a little different; without any, none has begun."""
    for i, trial in enumerate(view.trials if reports else ()):
        steps: list[dict[str, float | None]] = [
            {
                "seconds": 0.1 * epoch,
                "i_xz_bits": 1 + 20 * math.sin(i) ** 2 + epoch,
                "i_zy_bits": 3 * math.sin(i) ** 2,
                "accuracy": 0.5 + 0.4 * math.cos(i + epoch) ** 2,
                "train_accuracy": 0.6 + 0.4 * math.cos(i + epoch) ** 2,
                "generalization_gap": 0.1,
                "robust_fgsm": 0.5 * math.cos(i) ** 2,
                "robust_pgd": 0.4 * math.cos(i) ** 2,
                "test_examples": 359.0,
                "robust_images": 359.0,
            }
            for epoch in range(1, reports + 1)
        ]
        play(view, trial, steps)
    return view


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reports", [0, 1, 3])
@pytest.mark.parametrize("arms", [1, 9])
@pytest.mark.parametrize("seeds", [1, 3])
def test_a_bottleneck_study_draws_valid_plotly(name: str, reports: int, arms: int, seeds: int) -> None:
    others: list[dict[str, Any]] = [{**MIB, "name": f"MIB {i}"} for i in range(arms - 1)]
    view = trained(bottleneck_of(MANUAL, *others, seeds=list(range(seeds)), evaluation=ATTACKED), reports)
    drawn = FIGURES[name].build(Asked(view))
    go.Figure(drawn)
    json.dumps(drawn, allow_nan=False)
    meta = drawn["layout"]["meta"]
    assert not reports or (meta["subtitle"] and (meta.get("summary") or arms == 1)), "what it shows, and what it found"
    assert reports or not any(x is not None for trace in drawn["data"] for x in trace["x"]), "nothing is made up"
    assert all("title" in axis for key, axis in drawn["layout"].items() if key.startswith(("xaxis", "yaxis")))


@pytest.mark.parametrize("name", NAMES)
def test_colours_and_names_of_arms_are_the_same_in_every_figure(name: str) -> None:
    view = trained(bottleneck_of(MANUAL, MIB, evaluation=ATTACKED), 2)
    drawn = FIGURES[name].build(Asked(view))["data"]
    looks = {t["name"]: (t["marker"]["color"], t["marker"]["symbol"]) for t in drawn if "color" in t.get("marker", {})}
    assert looks == {"manual β": ("#0072B2", "circle"), "MIB": ("#D55E00", "diamond")}


@pytest.mark.parametrize("name", NAMES)
def test_an_overlay_shows_the_arms_of_both_studies(name: str) -> None:
    first = trained(bottleneck_of(MANUAL, MIB, evaluation=ATTACKED), 2)
    second = trained(bottleneck_of(MIB, name="t", seeds=[0, 1, 2], evaluation=ATTACKED), 2)
    second.id = "s2"
    both = Overlay([first, second])
    assert name in figures_of(both)
    figure = FIGURES[name]
    arms = {"s · manual β", "s · MIB", "t · MIB"}
    drawn = figure.build(Asked(both))
    shown = {trace["name"] for trace in drawn["data"] if trace.get("marker")}
    assert shown == (arms - {"t · MIB"} if name == "attainment-difference" else arms)
    picked = {trial for trace in drawn["data"] for trial in trace.get("customdata", [])}
    assert picked <= {*both.trials} and all("/" in trial for trial in picked)
    assert all(control.default in [value for value, _ in control.options] for control in figure.controls(both))


def test_a_thousand_trials_of_twenty_epochs_stay_small() -> None:
    grid = {"name": "fixed", "beta": {"grid": {"from": 1e-5, "to": 1.0, "count": 111, "scale": "log"}}}
    arms = [{"name": f"grid {i}", "weighting": grid} for i in range(3)]
    limits = {"trials": 2000}
    view = trained(bottleneck_of(*arms, MIB, seeds=[0, 1, 2], evaluation=ATTACKED, limits=limits), 20)
    assert len(view.trials) == 1002
    asked = {name: Asked(view) for name in NAMES} | {"attainment-difference": Asked(view, arms=("grid 0", "grid 1"))}
    sizes = {name: len(json.dumps(FIGURES[name].build(asked[name]))) / 1000 for name in NAMES}
    assert {name: size for name, size in sizes.items() if size > KILOBYTES} == {}
