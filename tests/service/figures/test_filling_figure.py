"""How a front was filled: which values in which order, and the gaps that are left."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from service.contract.wire.events import Curve
from service.figures import figures_of
from service.figures.figure import Asked
from service.figures.filling import FIGURE, FilledPlace, draw_filling, filling_data, gap_words
from service.views.fold import StudyView
from tests.service.studies import FILLED, MANUAL, bottleneck_of, curve, event, play, play_curves, tell

ONE_NETWORK: dict[str, Any] = {"name": "all β", "weighting": {"name": "conditional", "points": 3}}
REACHED = [(0.01, 10.0, 3.0), (1.0, 2.0, 0.0), (0.1, 4.0, 2.0), (0.5, 5.0, 1.0)]  # the last one is dominated


def told(view: StudyView, trial: str, beta: float, x: float, y: float) -> None:
    tell(view, event("trial_started", trial=trial, config={"weighting.beta": beta}))
    measured = {"i_xz_bits": x, "i_zy_bits": y}
    play(view, trial, [{**measured, **{f"validation_{name}": value for name, value in measured.items()}}])


def filled() -> StudyView:
    """Four values with two seeds each, one unit of I(X;Z) to either side of what is said, and a grid without any."""
    view = bottleneck_of(MANUAL, FILLED, seeds=[0, 1])
    slots = [trial for trial, own in view.trials.items() if own.planned.arm == "filled"]
    for i, (beta, x, y) in enumerate(REACHED):
        told(view, slots[2 * i], beta, x - 1, y)
        told(view, slots[2 * i + 1], beta, x + 1, y)
    return view


def test_values_stand_in_their_order_with_their_means_over_seeds() -> None:
    grid, arm = filling_data(filled()).arms
    assert grid.places == [] and grid.gaps == [] and grid.tolerance is None
    assert [(place.order, place.seeds, place.values) for place in arm.places] == [
        (i, 2, (x, y)) for i, (_, x, y) in enumerate(REACHED, 1)
    ]
    assert [place.label for place in arm.places] == ["β 0.01", "β 1", "β 0.1", "β 0.5"]


def test_the_largest_gap_lies_between_neighbours_on_the_front() -> None:
    """The front goes from (2, 0) over (4, 2) to (10, 3): it is 8 wide and 3 high."""
    arm = filling_data(filled()).arms[1]
    assert arm.largest is not None and {arm.largest.first, arm.largest.second} == {0, 2}
    assert arm.largest.size == pytest.approx(((6 / 8) ** 2 + (1 / 3) ** 2) ** 0.5)
    assert gap_words(arm) == "filled: 4 values, largest gap 0.821 (0.3 allowed)"


def test_a_curve_beside_them_has_all_of_its_points() -> None:
    view = bottleneck_of(FILLED, ONE_NETWORK, seeds=[0, 1])
    for trial, own in view.trials.items():
        if own.planned.arm == ONE_NETWORK["name"]:
            points = curve((0.01, 10.0, 3.0 + own.planned.seed), (0.1, 4.0, 2.0), (1.0, 0.0, 0.0))
            for point in points:
                point["metrics"] |= {f"validation_{name}": value for name, value in point["metrics"].items()}
            play_curves(view, trial, points)
    arm = filling_data(view).arms[1]
    assert [(place.label, place.order, place.seeds, place.values) for place in arm.places] == [
        ("β 0.01", 1, 2, (10.0, 3.5)),
        ("β 0.1", 1, 2, (4.0, 2.0)),
    ], "at the third the code carries nothing"
    assert arm.largest is not None and gap_words(arm) == "all β: 2 values, largest gap 1.41"


def test_what_breaks_a_constraint_fills_nothing() -> None:
    """A value with one seed left is that one; one without any has no place, and so it is along a curve."""
    view = bottleneck_of(FILLED, ONE_NETWORK, seeds=[0, 1], constraints=[{"metric": "accuracy", "at_least": 0.9}])

    def measured(x: float, y: float, accuracy: float) -> dict[str, float | None]:
        both = {"i_xz_bits": x, "i_zy_bits": y, "accuracy": accuracy}
        return {**both, **{f"validation_{name}": value for name, value in both.items()}}

    slots, alike = ([t for t, own in view.trials.items() if own.planned.arm == arm] for arm in ("filled", "all β"))
    for trial, x, accuracy in zip(slots, (10.0, 0.1, 0.2, 0.3), (0.95, 0.5, 0.5, 0.5), strict=False):
        play(view, trial, [measured(x, 3.0, accuracy)])
    places: Curve = [
        {"where": {"beta": beta}, "metrics": measured(x, y, accuracy)}
        for beta, x, y, accuracy in [(0.01, 10.0, 3.0, 0.95), (0.1, 4.0, 2.0, 0.5)]
    ]
    for trial in alike:
        play_curves(view, trial, places)
    kept = [[(place.seeds, place.values) for place in arm.places] for arm in filling_data(view).arms]
    assert kept == [[(1, (10.0, 3.0))], [(2, (10.0, 3.0))]]


def test_it_is_drawn_with_numbers_and_a_click_opens_a_trial() -> None:
    view = filled()
    drawn = draw_filling(filling_data(view), "r")
    go.Figure(drawn)  # plotly takes it
    dots = [trace for trace in drawn["data"] if trace["name"] == "filled" and trace["mode"] == "markers"]
    assert [view.trials[trial].planned.config["weighting.beta"] for trial in dots[0]["customdata"]] == [
        0.01,
        1,
        0.1,
        0.5,
    ]
    assert [trace["text"] for trace in drawn["data"] if trace["mode"] == "text"] == [["1", "2", "3", "4"]]
    assert "largest gap 0.821" in drawn["layout"]["meta"]["summary"]


def test_without_a_finished_trial_it_is_empty_and_says_what_will_come() -> None:
    view = bottleneck_of(FILLED, seeds=[0])
    with_words = FIGURE.with_words(Asked(view))
    assert with_words.empty == "Points appear when the first trials have finished."


def test_one_value_has_no_gap() -> None:
    view = bottleneck_of(FILLED, seeds=[0])
    told(view, next(iter(view.trials)), 0.1, 4.0, 2.0)
    (arm,) = filling_data(view).arms
    assert arm.places == [FilledPlace(next(iter(view.trials)), "", 1, 1, (4.0, 2.0))]
    assert gap_words(arm) == "filled: 1 value, no gap"
    go.Figure(FIGURE.drawn(Asked(view)))


def test_only_studies_that_fill_have_it() -> None:
    assert "filling" in figures_of(bottleneck_of(MANUAL, FILLED)) and "filling" not in figures_of(bottleneck_of())
