from __future__ import annotations

import math

import pytest

from service.analysis import (
    Axis,
    Interval,
    Point,
    Trial,
    compare,
    hypervolume,
    mean_interval,
    metric_intervals,
    nondominated,
    points_of,
    wilson,
)

RATE, LABEL = Axis("i_xz_bits", "minimize", 10.0), Axis("i_zy_bits", "maximize", 0.0)
AXES = (RATE, LABEL)


def point(name: str, x: float, y: float, arm: str = "a", seed: int = 0) -> Point:
    return Point(name, arm, seed, (x, y))


def names(points: list[Point]) -> list[str]:
    return [p.trial for p in points]


def test_the_front_keeps_ties_and_drops_what_is_worse_on_both() -> None:
    points = [point("b", 4, 3), point("a", 2, 1), point("worse", 5, 2), point("twin", 4, 3), point("slow", 4, 2)]
    assert names(nondominated(points, AXES)) == ["a", "b", "twin"]


def test_one_point_is_a_front_and_none_is_none() -> None:
    assert names(nondominated([point("a", 1, 1)], AXES)) == ["a"]
    assert nondominated([], AXES) == []
    assert hypervolume([], AXES) == 0.0


def test_the_hypervolume_is_the_area_worked_out_by_hand() -> None:
    # (2,1) covers 8×1; (4,3) adds 6×2: 8 + 12 = 20.
    assert hypervolume([point("a", 2, 1), point("b", 4, 3)], AXES) == pytest.approx(20.0)
    assert hypervolume([point("a", 2, 1), point("b", 4, 3), point("dominated", 5, 2)], AXES) == pytest.approx(20.0)
    assert hypervolume([point("beyond the reference", 11, 3)], AXES) == 0.0


def test_trials_without_a_finite_value_are_no_points() -> None:
    trials: list[Trial] = [
        Trial("ok", "a", 0, {"i_xz_bits": 1.0, "i_zy_bits": 1.0}),
        Trial("none", "a", 0, {"i_xz_bits": None, "i_zy_bits": 1.0}),
        Trial("nan", "a", 0, {"i_xz_bits": math.nan, "i_zy_bits": 1.0}),
        Trial("missing", "a", 0, {"i_xz_bits": 1.0}),
    ]
    assert names(points_of(trials, AXES)) == ["ok"]


def test_the_interval_over_seeds_is_students() -> None:
    assert mean_interval([]) == Interval(None, None, 0)
    assert mean_interval([3.0]) == Interval(3.0, None, 1, 3.0, 3.0)
    assert mean_interval([5.0, 3.0]) == Interval(4.0, None, 2, 3.0, 5.0), "of two seeds both values, no interval"
    interval = mean_interval([1.0, 2.0, 3.0])
    assert interval.mean == 2.0
    assert interval.half_width == pytest.approx(4.302653 / math.sqrt(3), rel=1e-5)


def test_arms_are_compared_seed_by_seed_on_the_same_reference() -> None:
    trials: list[Trial] = [
        Trial("a0", "a", 0, {"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5}),
        Trial("a1", "a", 1, {"i_xz_bits": 4.0, "i_zy_bits": 1.0, "accuracy": 0.6}),
        Trial("b0", "b", 0, {"i_xz_bits": 4.0, "i_zy_bits": 3.0, "accuracy": 0.9}),
    ]
    a, b, c = compare(trials, ["a", "b", "c"], [0, 1], AXES)
    assert (a.hypervolume.mean, a.hypervolume.seeds, a.hypervolume_all_seeds) == (7.0, 2, 8.0)
    assert (b.hypervolume.mean, b.hypervolume.half_width) == (18.0, None)
    # Of 20 in seed 0, a alone attains 2 and b alone 12; seed 1 is a's.
    assert (a.front_share, b.front_share) == pytest.approx(((2 / 20 + 1) / 2, 12 / 20 / 2))
    assert a.best == {"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.6}
    assert (c.hypervolume.mean, c.front_share, c.best["accuracy"]) == (None, 0.0, None)


def test_a_seed_without_volume_has_no_share_to_lose() -> None:
    """All its trials lie beyond the reference."""
    trials: list[Trial] = [
        Trial("a0", "a", 0, {"i_xz_bits": 2.0, "i_zy_bits": 1.0}),
        Trial("b0", "b", 0, {"i_xz_bits": 4.0, "i_zy_bits": 3.0}),
        Trial("a1", "a", 1, {"i_xz_bits": 99.0, "i_zy_bits": 1.0}),
    ]
    a, b = compare(trials, ["a", "b"], [0, 1], AXES)
    assert (a.front_share, b.front_share) == pytest.approx((2 / 20, 12 / 20))


def test_many_trials_at_the_end_of_the_front_do_not_make_a_share_of_it() -> None:
    crowd: list[Trial] = [
        Trial(f"c{i}", "crowd", 0, {"i_xz_bits": 9.0 + i / 100, "i_zy_bits": 3.0 + i / 100}) for i in range(9)
    ]
    middle = Trial("m", "middle", 0, {"i_xz_bits": 2.0, "i_zy_bits": 2.9})
    twin = Trial("t", "twin", 0, {"i_xz_bits": 2.0, "i_zy_bits": 2.9})
    ends, whole = compare([*crowd, middle], ["crowd", "middle"], [0], AXES)
    assert (ends.on_front, whole.on_front) == (9, 1)
    assert ends.front_share < 0.02 and 0.8 < whole.front_share < 1
    assert [each.front_share for each in compare([middle, twin], ["middle", "twin"], [0], AXES)] == [0.0, 0.0], (
        "without one of two that are equal nothing is lost"
    )


def test_accuracies_carry_wilson_intervals_from_their_own_number_of_images() -> None:
    found = metric_intervals(
        {"accuracy": 0.9, "test_examples": 100.0, "robust_pgd": 0.0, "robust_images": 20.0, "train_accuracy": 1.0}
    )
    assert set(found) == {"accuracy", "robust_pgd"}
    assert found["accuracy"] == pytest.approx((0.8256, 0.9448), abs=1e-4)  # R: prop.test(90, 100, correct=FALSE)
    assert found["robust_pgd"] == pytest.approx((0.0, 0.1611), abs=1e-4)
    scipy = pytest.importorskip("scipy.stats")
    for share, count in ((0.5, 2), (1.0, 7), (0.953, 360)):
        exact = scipy.binomtest(round(share * count), count).proportion_ci(method="wilson")
        assert wilson(round(share * count) / count, count) == pytest.approx((exact.low, exact.high), abs=1e-5)


def test_bits_carry_the_interval_of_their_standard_error() -> None:
    found = metric_intervals({"i_xz_bits": 3.0, "i_xz_bits_stderr": 0.1, "i_zy_bits": None, "i_zy_bits_stderr": None})
    assert found == {"i_xz_bits": pytest.approx((2.804, 3.196), abs=1e-3)}


def test_a_share_that_is_none_has_no_interval() -> None:
    assert metric_intervals({"accuracy": 97.0, "test_examples": 360.0, "robust_pgd": -1.0, "robust_images": 0.0}) == {}
