"""A curve place by place: over the seeds that have it, beside the nearest network that was trained separately."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.curve_places import apart, curve_places
from service.contract.wire.errors import NotFound
from service.views.fold import StudyView
from tests.service.studies import (
    ALL_BETAS,
    FIXED,
    MANUAL,
    bits,
    bottleneck_of,
    curve,
    play,
    play_curves,
    study_of,
)

FRONT = curve((1e-4, 9.0, 3.0), (1e-2, 4.0, 2.0), (1.0, 1.0, 1.0))
WIDTHS = {**ALL_BETAS, "training": {"learning_rate": {"grid": [1.0, 2.0]}}}


def raised(by: float) -> Any:
    return curve((1e-4, 9.0, 3.0 + by), (1e-2, 4.0, 2.0 + by), (1.0, 1.0, 1.0 + by))


def grid_and_curves(seeds: int = 3) -> StudyView:
    """A grid of 0.01, 0.1 and 1, and a curve in each seed, 0.1 bit above the last one's."""
    view = bottleneck_of(MANUAL, ALL_BETAS, seeds=range(seeds))
    trials = list(view.trials)
    for i, trial in enumerate(trials[: 3 * seeds]):
        play(view, trial, bits((5.0 - i // seeds, 2.0)))
    for i, trial in enumerate(trials[3 * seeds :]):
        play_curves(view, trial, FRONT, raised(0.1 * i))
    return view


def test_a_place_has_the_mean_of_its_seeds_and_their_interval() -> None:
    places = curve_places(grid_and_curves(), None).places
    assert [place.where for place in places] == [{"beta": 1e-4}, {"beta": 1e-2}, {"beta": 1.0}]
    middle = places[1].metrics["i_zy_bits"]
    assert middle.mean == pytest.approx(2.1) and middle.seeds == 3
    assert middle.half_width == pytest.approx(4.302653 * 0.1 / math.sqrt(3), rel=1e-5)
    assert places[1].metrics["i_xz_bits"].half_width == 0.0


def test_the_nearest_network_is_that_of_the_nearest_ratio_of_betas() -> None:
    shown = curve_places(grid_and_curves(), None)
    assert shown.beside is not None and shown.beside.arm == "manual β"
    near = [shown.beside.settings[place.nearest or 0] for place in shown.places]
    assert [each.where for each in near] == [{"beta": 0.01}, {"beta": 0.01}, {"beta": 1.0}]
    assert near[2].config == {"weighting.beta": 1.0} and near[2].metrics["i_xz_bits"].mean == 3.0


def test_without_a_network_of_constant_weights_there_is_nothing_beside_the_curve() -> None:
    view = bottleneck_of(ALL_BETAS, {"name": "MIB", "weighting": {"name": "mib"}}, seeds=(0,))
    one, two = view.trials
    play_curves(view, one, FRONT)
    play(view, two, bits((5.0, 2.0)))
    shown = curve_places(view, None)
    assert shown.beside is None and [place.nearest for place in shown.places] == [None] * 3


def test_without_an_arm_of_constant_weights_the_networks_that_verify_a_curve_lie_beside_it() -> None:
    weighting = {"name": "conditional", "points": 3, "verify": 1}
    rates = {"learning_rate": {"grid": [0.001, 0.01]}}
    view = bottleneck_of({"name": "all β", "weighting": weighting, "training": rates}, seeds=(0, 1))
    for i, (trial, own) in enumerate(view.all_trials.items()):
        if own.planned.verifies:
            play(view, trial, bits((4.0 + i, 2.0)))
        else:
            play_curves(view, trial, FRONT)
    first, second = (curve_places(view, each.trial) for each in curve_places(view, None).curves)
    assert first.beside is not None and second.beside is not None
    assert (first.beside.arm, first.beside.verifies) == ("all β", True)
    (one,), (other,) = first.beside.settings, second.beside.settings
    assert one.where == {"beta": pytest.approx(0.01)} and [place.nearest for place in first.places] == [0] * 3
    means = [each.metrics["i_xz_bits"].mean for each in (one, other)]
    assert means == [8.5, 10.5], "the networks of its own learning rate, over two seeds"
    shown = curve_places(grid_and_curves(), None).beside
    assert shown is not None and not shown.verifies


def test_networks_of_the_same_problem_come_before_others() -> None:
    nib = {**MANUAL, "name": "another rate", "problem": {"name": "bottleneck", "rate": "nib"}}
    view = bottleneck_of(nib, MANUAL, ALL_BETAS, seeds=(0,))
    *grids, last = view.trials
    for trial in grids:
        play(view, trial, bits((5.0, 2.0)))
    play_curves(view, last, FRONT)
    beside = curve_places(view, None).beside
    assert beside is not None and beside.arm == "manual β"


def test_a_setting_that_has_not_reported_or_failed_is_not_there() -> None:
    view = bottleneck_of(MANUAL, ALL_BETAS, seeds=(0,))
    one, two, _, last = view.trials
    play(view, one, bits((5.0, 2.0)))
    play(view, two, bits((5.0, 2.0)), end="trial_failed")
    play_curves(view, last, FRONT)
    beside = curve_places(view, None).beside
    assert beside is not None and [each.where for each in beside.settings] == [{"beta": 0.01}]


def test_a_study_without_a_curve_shows_none_and_one_comes_with_the_first_report() -> None:
    view = bottleneck_of(MANUAL, ALL_BETAS, seeds=(0,))
    assert curve_places(view, None) == ([], None, [], None)
    last = list(view.trials)[-1]
    assert curve_places(view, last).places == [], "a link to it is older than its first curve"
    play_curves(view, last, FRONT, end="")
    shown = curve_places(view, None)
    assert shown.shown == last and len(shown.places) == 3
    assert [(each.trial, each.arm, each.seeds) for each in shown.curves] == [(last, "all β", 1)]


def test_any_trial_of_a_configuration_asks_for_its_curve() -> None:
    view = bottleneck_of(WIDTHS, seeds=(0, 1))
    one, two, three, four = view.trials
    for i, trial in enumerate((one, two, three, four)):
        play_curves(view, trial, raised(0.1 * i))
    shown = curve_places(view, four)
    assert shown.shown == three and [each.trial for each in shown.curves] == [one, three]
    assert [each.config for each in shown.curves] == [{"training.learning_rate": w} for w in (1.0, 2.0)]
    assert shown.places[0].metrics["i_zy_bits"].mean == pytest.approx(3.25)
    with pytest.raises(NotFound, match="no trial 'elsewhere'"):
        curve_places(view, "elsewhere")


def test_failed_seeds_do_not_count_and_collapsed_ones_are_counted() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=(0, 1, 2))
    one, two, three = view.trials
    play_curves(view, one, FRONT, end="trial_failed")
    play_curves(view, two, FRONT)
    play_curves(view, three, curve((1e-4, 9.0, 3.0), (1e-2, 4.0, 2.0), (1.0, 0.01, 0.0)))
    places = curve_places(view, None).places
    assert [place.collapsed for place in places] == [0, 0, 1]
    assert [place.metrics["i_xz_bits"].seeds for place in places] == [2, 2, 2]


def test_what_is_not_finite_or_tells_of_other_metrics_is_left_out() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=(0,))
    (trial,) = view.trials
    points = curve((1e-2, 4.0, None), (1.0, 1.0, 1.0), i_xz_bits_stderr=0.1, test_examples=360)
    play_curves(view, trial, points, seconds=16.0)
    first, second = curve_places(view, None).places
    assert set(first.metrics) == {"i_xz_bits", "seconds"} and set(second.metrics) == {
        *("i_xz_bits", "i_zy_bits", "seconds")
    }


def test_preferences_lie_beside_the_shares_of_constant_weights() -> None:
    view = study_of({"name": "all", "weighting": {"name": "conditional"}}, {"name": "by hand", "weighting": FIXED})
    one, two, *fixed = view.trials
    points: Any = [
        {"where": {"left": left, "right": 1 - left}, "metrics": {"accuracy_left": left}} for left in (0.0, 0.4, 1.0)
    ]
    for trial in (one, two):
        play_curves(view, trial, points)
    for trial in fixed:
        play(view, trial, [{"accuracy_left": 0.5}])
    shown = curve_places(view, None)
    assert shown.beside is not None
    assert [each.where for each in shown.beside.settings] == [
        {"left": pytest.approx(2 / 3), "right": pytest.approx(1 / 3)},
        {"left": pytest.approx(1 / 3), "right": pytest.approx(2 / 3)},
    ]
    assert [place.nearest for place in shown.places] == [1, 1, 0]


positive = st.floats(1e-6, 1e6)


def test_places_along_something_else_lie_nowhere_on_a_curve() -> None:
    """Whoever trains elsewhere may send them."""
    view = bottleneck_of(MANUAL, ALL_BETAS, seeds=(0, 1))
    [fixed, *_, one, two] = view.trials
    play(view, fixed, bits((5.0, 2.0)))
    play_curves(view, one, FRONT)
    other: Any = [{**point, "where": {"rate": 0.5, "distortion": i / 4}} for i, point in enumerate(FRONT)]
    play_curves(view, two, [*other, *raised(0.1)])
    shown = curve_places(view, None)
    assert [place.where for place in shown.places] == [{"beta": 1e-4}, {"beta": 1e-2}, {"beta": 1.0}]
    assert shown.beside is not None and [place.metrics["i_zy_bits"].seeds for place in shown.places] == [2] * 3


@given(positive, positive, positive)
def test_betas_are_apart_by_their_ratio(beta: float, one: float, other: float) -> None:
    ratios = [abs(math.log(value / beta)) for value in (one, other)]
    distances = [apart({"beta": beta}, {"beta": value}) for value in (one, other)]
    if abs(ratios[0] - ratios[1]) > 1e-6 and max(ratios) < 10:
        assert (ratios[0] < ratios[1]) == (distances[0] < distances[1])
    assert apart({"beta": 0.0}, {"beta": 0.0}) == 0.0 < apart({"beta": 0.0}, {"beta": beta}) == 1.0
