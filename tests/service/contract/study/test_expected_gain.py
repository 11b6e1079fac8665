"""What another batch would gain: exact where gains fall as 1/k, careful elsewhere, silent without evidence."""

from __future__ import annotations

from itertools import accumulate
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from service.contract.study.expected_gain import Gain, Values, enough, expected_gain, student, volume_curves
from service.contract.study.study import Objective

OBJECTIVES = [
    Objective(metric="i_xz_bits", goal="minimize", reference=10.0),
    Objective(metric="i_zy_bits", goal="maximize", reference=0.0),
]


def grown(gains: list[float]) -> list[float]:
    return list(accumulate(gains))


def dominated(points: list[list[float]], corner: list[float]) -> float:
    """Area in two dimensions, by strips."""
    inside = sorted(p for p in points if p[0] < corner[0] and p[1] < corner[1])
    area, height = 0.0, corner[1]
    for x, y in inside:
        if y < height:
            area += (corner[0] - x) * (height - y)
            height = y
    return area


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30, 999])
def test_students_t_is_that_of_scipy(freedom: int) -> None:
    assert student(freedom) == pytest.approx(stdtrit(freedom, 0.975))


@pytest.mark.parametrize("batches", [3, 4, 9])
def test_gains_that_fall_as_one_over_k_are_foreseen_exactly_and_without_spread(batches: int) -> None:
    curve = grown([1 / k for k in range(1, batches + 1)])
    seen = expected_gain([curve, curve, curve])
    assert seen is not None
    assert seen.mean == pytest.approx(1 / (batches + 1) / curve[-1]) and seen.upper == pytest.approx(seen.mean)


@given(st.floats(1.1, 4.0), st.integers(3, 20))
def test_gains_that_fall_faster_are_not_underrated(power: float, batches: int) -> None:
    """Every bounded curve's do in the end."""
    curve = grown([k**-power for k in range(1, batches + 1)])
    seen = expected_gain([curve] * 3)
    assert seen is not None and seen.mean * curve[-1] >= (batches + 1) ** -power


def test_seeds_that_differ_widen_the_interval_and_a_single_one_has_its_own_spread() -> None:
    steady, other = grown([1.0, 0.5, 1 / 3, 0.25]), grown([1.0, 0.1, 0.4, 0.1])
    alike, apart = expected_gain([steady] * 3), expected_gain([steady, other, steady])
    one = expected_gain([grown([1.0, 0.1, 0.4, 0.1, 0.3, 0.1])])
    assert alike and apart and one
    assert alike.upper - alike.mean == pytest.approx(0, abs=1e-12) and apart.upper - apart.mean > 0.01
    assert one.upper > 2 * one.mean


def test_seeds_that_are_steady_but_unlike_count_as_so_many_seeds_not_as_so_many_batches() -> None:
    """Batches of one seed say nothing new about another: three values, not nine."""
    sizes = (0.5, 1.0, 1.5)
    curves = [grown([size / k for k in range(1, 7)]) for size in sizes]
    volume = fmean(curve[-1] for curve in curves)
    seen = expected_gain(curves)
    assert seen is not None
    half = student(2) * stdev([size / 7 / volume for size in sizes]) / 3**0.5
    assert seen.upper - seen.mean == pytest.approx(half)


def test_what_has_not_happened_lately_may_still_happen() -> None:
    """One gain among n batches that had none: the upper end is about three times its share, never nothing."""
    curve = grown([1.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    seen = expected_gain([curve])
    assert seen is not None
    assert seen.mean > 0 and 2.5 < seen.upper / seen.mean < 3.5


@pytest.mark.parametrize(
    "curves", [[], [[]], [[1.0, 1.0]] * 5, [[0.0, 0.0, 0.0, 0.0]] * 3], ids=["no seed", "none", "short", "nothing"]
)
def test_nothing_is_said_without_a_curve(curves: list[list[float]]) -> None:
    assert expected_gain(curves) is None


def test_enough_is_when_the_upper_end_was_below_so_often_in_a_row() -> None:
    low, high = Gain(0.0, 0.004), Gain(0.0, 0.006)
    assert enough([None, low, high, low, low, low], 0.005, 2) == 5
    assert enough([None, low, high, low], 0.005, 2) is None
    assert enough([None, None, low], 0.005, 1) == 3
    assert enough([low, None, low], 0.005, 2) is None, "a batch about which nothing is known breaks the row"
    assert enough([Gain(0.0, 0.005)] * 3, 0.005, 1) is None, "below, not at"


def test_a_curve_is_the_hypervolume_of_all_batches_so_far_and_stays_where_a_seed_has_no_more() -> None:
    first: list[list[Values]] = [[(4.0, 1.0), None], [(2.0, 0.5)], [(9.0, 2.0)]]
    curves = volume_curves([first, [[(4.0, 1.0)]], [[None], [None]]], OBJECTIVES, dominated)
    assert curves == [[6.0, 7.0, 8.0], [6.0, 6.0, 6.0], [0.0, 0.0, 0.0]]
    assert volume_curves([[[None], [None]], [[None]]], OBJECTIVES, dominated) == [[0.0, 0.0], [0.0, 0.0]]


def test_a_metric_without_a_reference_is_measured_from_beyond_its_worst_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Objective, "reference_value", property(lambda own: own.reference or None))
    corners: list[list[float]] = []

    def noting(points: list[list[float]], corner: list[float]) -> float:
        corners.append(corner)
        return 1.0

    volume_curves([[[(4.0, 1.0)], [(2.0, 0.5)]]], OBJECTIVES, noting)
    assert corners[0] == [10.0, pytest.approx(-0.45)], "less is better on all axes: the worst of I(Z;Y) is -0.5"
