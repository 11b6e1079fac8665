"""Where every trial lies against the baseline's front of its own seed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from service.analysis.compared import compared
from service.analysis.readings import Reading
from service.analysis.trial_places import TrialPlace, told, trial_mean, trial_place
from service.views.fold import StudyView
from tests.service.studies import ALL_BETAS, MANUAL, MIB, bits, bottleneck_of, curve, event, play, play_curves, tell

# β 0.01, 0.1, 1 of each seed, as (I(X;Z), I(Z;Y)): ranges 8 and 2; that of the second seed lies 2 bits further.
GRIDS = [((10.0, 3.0), (6.0, 2.0), (2.0, 1.0)), ((12.0, 3.0), (8.0, 2.0), (4.0, 1.0))]
BETA = "weighting.beta"


def study(*rival: tuple[float, float], arm: dict[str, Any] = MIB, **spec: Any) -> StudyView:
    """A grid of three βs, and an arm with a trial in each seed."""
    view = bottleneck_of(MANUAL, arm, seeds=range(len(rival)), baseline="manual β", **spec)
    for seed, place in enumerate(rival):
        grid = iter(GRIDS[seed])
        for trial in view.trials.values():
            if trial.planned.seed == seed:
                play(view, trial.planned.id, bits(next(grid) if trial.planned.arm == "manual β" else place))
    tell(view, event("study_finished"))
    return view


def place_of(view: StudyView, seed: int = 0, arm: str = "MIB") -> TrialPlace | None:
    own = next(t for t in view.trials.values() if (t.planned.arm, t.planned.seed) == (arm, seed))
    return trial_place(view, own.planned.id)


def test_a_trial_is_held_against_the_front_of_its_own_seed() -> None:
    """9 bits of rate with 1.5 of label: 3 bits too many of the first seed's grid, 1 of the second's, by the step."""
    view = study((9.0, 1.5), (9.0, 1.5))
    gaps = []
    for seed in (0, 1):
        place = place_of(view, seed)
        assert place is not None and place.baseline == "manual β"
        (point,) = place.points
        assert point.place is not None and point.dominated and not point.place.beyond
        gaps.append(point.place.matched)
    assert gaps[0] == (Reading(-3.0, -5.0), Reading(-0.5, -1.25))
    assert gaps[1] == (Reading(-1.0, -3.0), Reading(-0.5, -0.75))


def test_the_distance_is_signed_and_in_units_of_the_ranges() -> None:
    (worse,), (better,) = (_points(study(each)) for each in ((10.4, 3.0), (2.0, 2.5)))
    assert told(worse.distance) == pytest.approx(-0.05)
    assert told(better.distance) == pytest.approx(0.75 / math.sqrt(2)) and not better.dominated


def _points(view: StudyView) -> list[Any]:
    place = place_of(view)
    assert place is not None
    return [point.place for point in place.points]


def test_a_trial_amounts_to_a_setting_of_the_grid() -> None:
    """Half way between β 0.1 and 1, which are powers."""
    (own,) = _points(study((4.0, 1.5)))
    assert own.amounts == {BETA: pytest.approx(10**-0.5)}


def test_beyond_the_reach_of_the_front_nothing_is_amounted_to() -> None:
    (own,) = _points(study((1.0, 0.1)))
    assert own.beyond and own.amounts == {} and own.matched == (None, None)


def test_every_trial_of_an_arm_has_a_place_not_only_those_on_its_front() -> None:
    several = {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    view = bottleneck_of(MANUAL, several, seeds=[0], baseline="manual β")
    places = iter([*GRIDS[0], (4.0, 1.5), (9.0, 1.5)])
    for trial in view.trials:
        play(view, trial, bits(next(places)))
    own = [trial_place(view, trial) for trial in view.trials]
    assert own[:3] == [None] * 3, "the baseline is not held against itself"
    assert [each.points[0].dominated for each in own[3:] if each] == [False, True]


def test_the_mean_of_an_arm_in_a_seed_is_that_of_its_trial() -> None:
    view = study((9.0, 1.5), (7.0, 1.9))
    (arm,) = (own for own in compared(view).arms if own.name == "MIB")
    assert arm.place.place.by_seed.keys() == {0, 1}
    for seed, reading in arm.place.place.by_seed.items():
        place = place_of(view, seed)
        assert place is not None and place.points[0].place is not None
        assert place.points[0].place.distance == pytest.approx(reading)


def test_a_curve_is_placed_point_by_point_and_in_one_row_by_the_mean_of_its_front() -> None:
    view = bottleneck_of(MANUAL, ALL_BETAS, seeds=[0], baseline="manual β")
    *grid, one = view.trials
    for trial, measured in zip(grid, GRIDS[0], strict=True):
        play(view, trial, bits(measured))
    play_curves(view, one, curve((0.01, 10.0, 3.2), (0.1, 6.0, 1.8), (0.5, 9.0, 1.7)))
    place, row = trial_place(view, one), trial_mean(view, one)
    assert place is not None and row is not None
    assert [point.where for point in place.points] == [{"beta": 0.01}, {"beta": 0.1}, {"beta": 0.5}]
    assert [point.dominated for point in place.points] == [False, True, True]
    gaps = [point.place.matched[1] for point in place.points if point.place]
    assert [gap and gap.line for gap in gaps] == pytest.approx([0.2, -0.2, -1.05])
    assert row.dominated == 0.5, "the third is dominated by another of its own points"
    assert row.matched[1] == pytest.approx(Reading(0.0, 0.0)) and row.amounts == {}


def test_three_objectives_tell_only_whether_a_trial_is_dominated() -> None:
    third = [{"metric": m, "goal": g} for m, g in (("i_xz_bits", "minimize"), ("i_zy_bits", "maximize"))]
    view = study((9.0, 1.5), objectives=[*third, {"metric": "epoch", "goal": "minimize", "reference": 9.0}])
    place = place_of(view)
    assert place is not None
    assert [(point.dominated, point.place) for point in place.points] == [(True, None)]


def test_a_trial_that_counts_for_no_front_has_no_place() -> None:
    view = study((0.0, 0.0))
    assert next(t.collapsed for t in view.trials.values() if t.planned.arm == "MIB")
    assert place_of(view) is None


@pytest.mark.parametrize(("reading", "value"), [((0.3, 0.1), 0.1), ((-0.1, -0.3), -0.1), ((0.2, -0.1), 0.0)])
def test_between_step_and_line_a_point_is_told_to_be_on_the_front(reading: tuple[float, float], value: float) -> None:
    assert told(Reading(*reading)) == value
