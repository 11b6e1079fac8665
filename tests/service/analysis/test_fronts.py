"""Fronts and hypervolumes in every direction, by closed form and by moocore itself."""

from __future__ import annotations

import itertools

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis import Axis, Point, Trial, axis_for, hypervolume, nondominated, points_of
from service.contract.metrics import Goal
from service.contract.study.parsing import check_study

GOALS: list[tuple[Goal, Goal]] = [
    ("minimize", "minimize"),
    ("minimize", "maximize"),
    ("maximize", "minimize"),
    ("maximize", "maximize"),
]


def axes_of(*goals: Goal, reference: float = 10.0) -> list[Axis]:
    """The reference is 10 where less is better and −10 where more is: both ways are mirror images."""
    return [Axis(f"m{i}", goal, reference if goal == "minimize" else -reference) for i, goal in enumerate(goals)]


def mirrored(goals: tuple[Goal, ...], *values: float) -> tuple[float, ...]:
    return tuple(value if goal == "minimize" else -value for goal, value in zip(goals, values, strict=True))


def points(goals: tuple[Goal, ...], *places: tuple[float, ...]) -> list[Point]:
    return [Point(f"p{i}", "a", 0, mirrored(goals, *place)) for i, place in enumerate(places)]


@pytest.mark.parametrize("goals", GOALS)
def test_the_hypervolume_is_the_same_from_every_side(goals: tuple[Goal, Goal]) -> None:
    # (2, 6) covers 8 × 4, (5, 3) adds 5 × 3, (6, 7) lies within, (3, 6) is dominated.
    assert hypervolume(points(goals, (2, 6), (5, 3), (6, 7), (3, 6)), axes_of(*goals)) == pytest.approx(32 + 15)


@pytest.mark.parametrize("goals", GOALS)
def test_points_beyond_the_reference_add_nothing(goals: tuple[Goal, Goal]) -> None:
    axes = axes_of(*goals)
    assert hypervolume(points(goals, (11, 1)), axes) == 0.0
    assert hypervolume(points(goals, (1, 11)), axes) == 0.0
    assert hypervolume(points(goals, (10, 1)), axes) == 0.0, "on the edge there is no area"
    assert hypervolume(points(goals, (2, 6), (1, 12), (15, 0)), axes) == pytest.approx(32)


@pytest.mark.parametrize("goals", GOALS)
def test_the_front_is_the_same_from_every_side(goals: tuple[Goal, Goal]) -> None:
    given = points(goals, (2, 6), (5, 3), (6, 7), (3, 6), (5, 3), (2, 8), (1, 9))
    front = nondominated(given, axes_of(*goals))
    assert sorted(p.trial for p in front) == ["p0", "p1", "p4", "p6"]
    assert [p.values for p in front] == sorted(p.values for p in front), "along the first axis"


def test_three_objectives_make_a_volume() -> None:
    goals: tuple[Goal, ...] = ("minimize", "maximize", "minimize")
    axes = axes_of(*goals)
    # 8 · 7 · 6, and (4, 2, 4) adds 6 · 8 · 6 less what both cover, 6 · 7 · 6.
    assert hypervolume(points(goals, (2, 3, 4), (4, 2, 4)), axes) == pytest.approx(336 + 288 - 252)
    assert [p.trial for p in nondominated(points(goals, (2, 3, 4), (4, 2, 4), (4, 3, 4)), axes)] == ["p0", "p1"]


def test_an_axis_without_a_reference_leaves_no_hypervolume() -> None:
    axes = [Axis("a", "minimize", 10.0), Axis("b", "maximize", None)]
    some = points(("minimize", "minimize"), (1, 1))
    assert hypervolume(some, axes) is None and hypervolume([], axes) is None
    assert [p.trial for p in nondominated(some, axes)] == ["p0"]


def test_a_reference_of_nothing_is_a_reference() -> None:
    axes = [Axis("a", "maximize", 0.0), Axis("b", "maximize", 0.0)]
    assert hypervolume([Point("p", "a", 0, (2.0, 3.0))], axes) == pytest.approx(6.0)


@given(st.lists(st.tuples(st.floats(-1, 12), st.floats(-1, 12)), min_size=1, max_size=12), st.sampled_from(GOALS))
def test_front_and_volume_agree_with_their_definitions(
    places: list[tuple[float, float]], goals: tuple[Goal, Goal]
) -> None:
    axes, given = axes_of(*goals), points(goals, *places)
    exact = float(moocore.hypervolume(np.array(places), ref=[10.0, 10.0]))
    assert hypervolume(given, axes) == pytest.approx(exact)

    def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one != other and one[0] <= other[0] and one[1] <= other[1]

    expected = {f"p{i}" for i, place in enumerate(places) if not any(dominates(other, place) for other in places)}
    assert {p.trial for p in nondominated(given, axes)} == expected
    assert hypervolume(nondominated(given, axes), axes) == pytest.approx(exact)


def test_a_point_carries_its_trial_arm_seed_and_values_in_the_order_of_the_axes() -> None:
    trials: list[Trial] = [
        Trial("t", "arm", 7, {"m1": 1.0, "m0": 2.0, "other": None}),
        Trial("u", "arm", 7, {"m0": 0.0, "m1": 0.0}),
    ]
    found = points_of(trials, axes_of("minimize", "minimize"))
    assert found == [Point("t", "arm", 7, (2.0, 1.0)), Point("u", "arm", 7, (0.0, 0.0))]
    infinite: list[Trial] = [
        Trial("i", "arm", 0, {"m0": float("inf"), "m1": 1.0}),
        Trial("j", "arm", 0, {"m0": 1.0, "m1": float("-inf")}),
    ]
    assert points_of(infinite, axes_of("minimize", "minimize")) == []


def test_an_axis_is_the_studys_own_objective_before_the_metrics_default() -> None:
    objectives = [
        {"metric": "i_xz_bits", "goal": "maximize", "reference": 3.0},
        {"metric": "accuracy", "goal": "maximize", "reference": 0.25},
    ]
    arm = {"name": "a", "weighting": {"name": "fixed"}}
    study = check_study({"name": "s", "arms": [arm], "objectives": objectives})
    assert axis_for(study, "i_xz_bits")[:3] == ("i_xz_bits", "maximize", 3.0)
    assert axis_for(study, "accuracy")[:3] == ("accuracy", "maximize", 0.25)
    assert axis_for(study, "i_zy_bits")[:3] == ("i_zy_bits", "maximize", 0.0)
    assert axis_for(study, "seconds")[:3] == ("seconds", "minimize", None)
    plain = check_study({"name": "s", "arms": [arm]})
    assert axis_for(plain, "i_xz_bits")[1] == "minimize"


def test_the_order_of_points_does_not_matter() -> None:
    given = points(("minimize", "maximize"), (2, 6), (5, 3), (6, 7), (3, 6))
    axes = axes_of("minimize", "maximize")
    volumes = {round(hypervolume(list(order), axes) or 0.0, 9) for order in itertools.permutations(given)}
    assert volumes == {47.0}
