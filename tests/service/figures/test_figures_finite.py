"""Figures of a bottleneck study are valid, and none lets a number through that JSON has no word for."""

from __future__ import annotations

import json
import math
from itertools import cycle

import plotly.graph_objects as go
import pytest

from service.contract.wire.events import Metrics, cleaned
from service.figures import FIGURES
from service.figures.drawing.bands import bounds_of
from service.figures.figure import Asked
from service.views.fold import StudyView
from service.views.overlay import Overlay
from tests.service.studies import MANUAL, MIB, bottleneck_of, play

HUGE = 3e38  # as large as a float of 32 bits gets
ODD = (math.nan, math.inf, -math.inf, None, HUGE, -HUGE, 0.0, 5e-324)
STRAIGHT_FROM_THE_VIEW = ("information-plane", "pareto-front", "importance", "parallel-coordinates")


def spoiled(values: tuple[float | None, ...], as_logged: bool) -> StudyView:
    """Every metric of every trial takes these values in turn, as far as it can."""
    view = bottleneck_of(MANUAL, MIB, evaluation={"attacks": [{"name": "fgsm"}]}, training={"balance": {}})
    names = [name for name in view.study.metrics if name != "epoch"]
    turn = cycle(values)

    def value(name: str) -> float | None:
        low, high = bounds_of(name)
        found = next(turn)
        return found if found is None or not math.isfinite(found) else min(max(found, low), high)

    for trial in view.trials:
        reports: list[Metrics] = [{name: value(name) for name in names} for _ in range(7)]
        play(view, trial, list(map(cleaned, reports)) if as_logged else reports)
    return view


@pytest.mark.parametrize("values", [ODD, ODD[:3], (math.nan, 1.0, 0.5), (math.inf, 0.3, 0.5, None, 0.7)])
@pytest.mark.parametrize(
    ("name", "as_logged"), [*((name, True) for name in FIGURES), *((name, False) for name in STRAIGHT_FROM_THE_VIEW)]
)
def test_what_is_not_finite_reaches_no_figure(name: str, as_logged: bool, values: tuple[float | None, ...]) -> None:
    view = spoiled(values, as_logged)
    other = spoiled((1.0, math.nan), as_logged)
    for asked in (Asked(view), Asked(view, z="accuracy"), Asked(Overlay([view, other]))):
        drawn = FIGURES[name].build(asked)
        json.dumps(drawn, allow_nan=False)
        go.Figure(drawn)


@pytest.mark.parametrize("name", STRAIGHT_FROM_THE_VIEW)
@pytest.mark.parametrize("reports", [0, 1, 3])
@pytest.mark.parametrize("arms", [1, 9])
@pytest.mark.parametrize("seeds", [1, 3])
def test_a_bottleneck_study_draws_valid_plotly(name: str, reports: int, arms: int, seeds: int) -> None:
    others = [{**MIB, "name": f"MIB {i}"} for i in range(arms - 1)]
    view = bottleneck_of(MANUAL, *others, seeds=list(range(seeds)))
    for i, trial in enumerate(view.trials if reports else ()):
        play(
            view,
            trial,
            [{"i_xz_bits": i + 1.0, "i_zy_bits": 1.0 * epoch, "accuracy": 0.01 * i} for epoch in range(reports)],
        )
    for asked in (Asked(view), Asked(view, z="accuracy")):
        drawn = FIGURES[name].build(asked)
        go.Figure(drawn)
        meta = drawn["layout"]["meta"]
        assert not reports or (meta["subtitle"] and (meta.get("summary") or meta.get("empty"))), (
            "what it shows and found"
        )
        assert all("title" in axis for key, axis in drawn["layout"].items() if key.startswith(("xaxis", "yaxis")))
        drawn_xs = [x for trace in drawn["data"] for x in trace.get("x", []) if x is not None]
        assert reports or not drawn_xs, "nothing is made up"
