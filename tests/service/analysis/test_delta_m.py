"""Δm and mean ranks on plain values: by hand, and by what must not matter."""

from __future__ import annotations

import itertools
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis import Axis, Interval, Point
from service.analysis.delta_m import Alone, alone_in, chosen_by_seed, delta_m, drops, mean_ranks
from service.contract.metrics.metric import Goal

HITS, LOSS = Axis("accuracy_a", "maximize", None), Axis("test_loss_b", "minimize", None)
AXES = (HITS, LOSS)
positive = st.floats(0.01, 10.0)


def point(arm: str, seed: int, values: tuple[float, ...], judged: tuple[float, ...] | None = None) -> Point:
    return Point(f"{arm}:{seed}:{values}", arm, seed, values, judged)


def alone(*values: float) -> Alone:
    return Alone(values, values)


def test_a_worked_example() -> None:
    """Accuracy 0.72 where 0.80 is reached alone: 10 % lost. Loss 0.45 where 0.50 is: 10 % gained."""
    assert drops((0.72, 0.50), (0.80, 0.50), AXES) == pytest.approx([10, 0])
    assert drops((0.80, 0.45), (0.80, 0.50), AXES) == pytest.approx([0, -10])
    own = {0: point("x", 0, (0.72, 0.45)), 1: point("x", 1, (0.80, 0.60)), 2: point("x", 2, (0.60, 0.50))}
    base = {0: alone(0.80, 0.50), 1: alone(0.80, 0.50), 2: alone(0.75, 0.40)}
    drop = delta_m(own, base, AXES)
    assert drop.by_seed == pytest.approx({0: 0.0, 1: 10.0, 2: 22.5})
    # Mean 10.83, standard deviation 11.27, Student's t of three 4.303: 4.303 · 11.27/√3.
    assert drop.mean.mean == pytest.approx(32.5 / 3) and drop.mean.half_width == pytest.approx(28.01, abs=0.01)
    assert [drop.by_axis[axis.metric].mean for axis in AXES] == pytest.approx([10.0, 35 / 3])


def test_a_published_row_by_its_own_numbers() -> None:
    """NYUv2, linear scalarisation as Navon et al. (2022) print it: Δm 5.59 of nine measures, five to maximize."""
    up, down = cast(list[Goal], ["maximize"]), cast(list[Goal], ["minimize"])
    goals = up * 2 + down * 4 + up * 3
    single = (38.30, 63.76, 0.6754, 0.2780, 25.01, 19.21, 30.14, 57.20, 69.15)
    scalarised = (39.29, 65.33, 0.5493, 0.2263, 28.15, 23.96, 22.09, 47.50, 61.08)
    axes = [Axis(f"m{i}", goal, None) for i, goal in enumerate(goals)]
    assert sum(drops(scalarised, single, axes)) / 9 == pytest.approx(5.59, abs=0.005)


@given(st.lists(positive, min_size=2, max_size=2), st.lists(positive, min_size=2, max_size=2))
def test_what_is_better_is_below_zero_whichever_way_better_is(own: list[float], base: list[float]) -> None:
    hits, loss = drops(own, base, AXES)
    assert (hits < 0) == (own[0] > base[0]) and (loss < 0) == (own[1] < base[1])
    assert drops(base, base, AXES) == [0, 0]


@given(st.lists(positive, min_size=2, max_size=2), st.lists(positive, min_size=2, max_size=2), positive)
def test_the_unit_of_a_measure_does_not_matter(own: list[float], base: list[float], unit: float) -> None:
    scaled = drops([own[0], own[1] * unit], [base[0], base[1] * unit], AXES)
    assert scaled == pytest.approx(drops(own, base, AXES))


def test_the_validation_split_chooses_and_the_test_split_is_claimed() -> None:
    base = {0: Alone((0.8, 0.5), (0.9, 0.5))}
    lucky = point("grid", 0, (0.9, 0.3), judged=(0.6, 0.9))
    sound = point("grid", 0, (0.7, 0.6), judged=(0.8, 0.5))
    chosen = chosen_by_seed([lucky, sound], base, AXES)
    assert chosen == {"grid": {0: sound}}
    assert delta_m(chosen["grid"], base, AXES).by_seed == pytest.approx({0: (12.5 + 20) / 2})


def test_of_several_single_trials_validation_chooses_one_for_each_task() -> None:
    first = [point("s", 0, (0.9,), (0.5,)), point("s", 0, (0.7,), (0.6,))]
    second = [point("s", 0, (0.3,), (0.4,)), point("s", 0, (0.2,), (0.5,))]
    assert alone_in([first, second], AXES) == Alone((0.7, 0.3), (0.6, 0.4))


def test_a_task_without_a_single_trial_or_with_nothing_to_lose_leaves_the_seed_out() -> None:
    own = [point("s", 0, (0.9,))]
    assert alone_in([own, []], AXES) is None
    assert alone_in([own, [point("s", 0, (0.0,))]], AXES) is None
    assert alone_in([own, [point("s", 0, (0.1,), (0.0,))]], AXES) is None
    points = [point("x", 0, (0.8, 0.5)), point("x", 1, (0.8, 0.5))]
    assert chosen_by_seed(points, {1: alone(0.8, 0.5)}, AXES) == {"x": {1: points[1]}}


def test_seeds_that_are_missing_make_no_interval() -> None:
    base = {seed: alone(0.8, 0.5) for seed in range(3)}
    two = {seed: point("x", seed, (0.8, 0.5 + 0.1 * seed)) for seed in (0, 1)}
    drop = delta_m(two, base, AXES).mean
    assert (drop.half_width, drop.seeds) == (None, 2) and [drop.low, drop.mean, drop.high] == pytest.approx([0, 5, 10])
    assert delta_m({}, base, AXES).mean == Interval(None, None, 0)


# Ranks


def of(seed: int, **values: tuple[float, float]) -> dict[str, dict[int, Point]]:
    return {arm: {seed: point(arm, seed, own)} for arm, own in values.items()}


def means(ranks: dict[str, Interval]) -> dict[str, float | None]:
    return {arm: rank.mean for arm, rank in ranks.items()}


def test_ranks_by_hand_with_a_tie() -> None:
    """On accuracy x, y, z are 1.5, 1.5 and 3; on the loss 3, 2 and 1."""
    chosen = of(0, x=(0.9, 0.6), y=(0.9, 0.5), z=(0.8, 0.4))
    assert means(mean_ranks(chosen, ["x", "y", "z"], [0], AXES)) == {"x": 2.25, "y": 1.75, "z": 2.0}


def test_rounding_breaks_no_tie() -> None:
    chosen = of(0, x=(0.72, 0.5), y=(0.72 + 3e-8, 0.5 - 3e-8), z=(0.7201, 0.6))
    assert means(mean_ranks(chosen, ["x", "y", "z"], [0], AXES)) == {"x": 2.0, "y": 2.0, "z": 2.0}


def test_ranks_of_seeds_are_averaged_with_their_interval() -> None:
    chosen: dict[str, dict[int, Point]] = {"x": {}, "y": {}}
    for seed in range(3):
        chosen["x"][seed] = point("x", seed, (0.9, 0.4 if seed else 0.6))
        chosen["y"][seed] = point("y", seed, (0.8, 0.5))
    ranks = mean_ranks(chosen, ["x", "y"], [0, 1, 2], AXES)
    # 1.5, 1, 1: mean 1.167, standard deviation 0.289.
    assert ranks["x"].mean == pytest.approx(7 / 6)
    assert ranks["x"].half_width == pytest.approx(4.303 * 0.2887 / 3**0.5, abs=1e-3)
    assert ranks["y"].mean == pytest.approx(11 / 6)
    assert mean_ranks(chosen, ["x", "y"], [0, 1], AXES)["x"].half_width is None


def test_the_order_of_arms_does_not_matter() -> None:
    chosen = of(0, x=(0.9, 0.6), y=(0.9, 0.5), z=(0.8, 0.4))
    expected = means(mean_ranks(chosen, ["x", "y", "z"], [0], AXES))
    assert len(chosen) == 3
    for order in itertools.permutations(chosen):
        assert means(mean_ranks({arm: chosen[arm] for arm in order}, order, [0], AXES)) == expected


@given(st.lists(st.tuples(positive, positive), min_size=2, max_size=6))
def test_ranks_share_out_the_places(values: list[tuple[float, float]]) -> None:
    chosen = of(0, **{f"arm{i}": own for i, own in enumerate(values)})
    ranks = [rank.mean or 0.0 for rank in mean_ranks(chosen, list(chosen), [0], AXES).values()]
    assert sum(ranks) == pytest.approx(len(values) * (len(values) + 1) / 2)


def test_a_seed_counts_when_every_arm_has_it_or_has_lost_it() -> None:
    chosen = of(0, x=(0.9, 0.6), y=(0.8, 0.5))
    chosen["x"][1] = point("x", 1, (0.9, 0.6))
    assert mean_ranks(chosen, ["x", "y"], [0, 1], AXES)["x"].seeds == 1, "y is still training"
    lost = mean_ranks(chosen, ["x", "y"], [0, 1], AXES, lost=[("y", 1)])
    assert means(lost) == {"x": 1.25, "y": 1.75}, "whoever fails comes last"
    assert mean_ranks({}, ["x", "y"], [0], AXES, lost=[("x", 0), ("y", 0)])["x"].seeds == 0


def test_one_arm_alone_has_no_rank() -> None:
    assert mean_ranks(of(0, x=(0.9, 0.6)), ["x"], [0], AXES) == {}
