"""Intervals by the tables of the textbooks."""

from __future__ import annotations

import math

import pytest

from service.analysis import Interval, mean_interval, metric_intervals, wilson

T_975 = {2: 4.30265, 3: 3.18245, 4: 2.77645, 9: 2.26216, 29: 2.04523}  # Student, by degrees of freedom


@pytest.mark.parametrize("df", T_975)
def test_the_half_width_is_students_quantile_times_the_standard_error(df: int) -> None:
    values = [float(i * i) for i in range(df + 1)]
    n, mean = len(values), sum(values) / len(values)
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    found = mean_interval(values)
    assert found.mean == pytest.approx(mean) and found.seeds == n
    assert found.half_width == pytest.approx(T_975[df] * sd / math.sqrt(n), rel=1e-5)


def test_seeds_that_agree_have_an_interval_of_no_width() -> None:
    assert mean_interval([2.0, 2.0, 2.0]) == Interval(2.0, 0.0, 3, 2.0, 2.0)


@pytest.mark.parametrize(
    ("share", "count", "low", "high"),
    [
        (0.0, 10, 0.0, 0.277533),  # z²/(n + z²)
        (1.0, 10, 0.722467, 1.0),
        (0.5, 10, 0.236593, 0.763407),
        (0.95, 360, 0.922356, 0.968142),
    ],
)
def test_wilson_by_value(share: float, count: int, low: float, high: float) -> None:
    assert wilson(share, count) == pytest.approx((low, high), abs=1e-5)


def test_a_share_uses_its_own_number_of_examples_and_a_standard_error_goes_first() -> None:
    found = metric_intervals(
        {
            "accuracy": 0.5,
            "test_examples": 10.0,
            "robust_pgd": 0.5,
            "robust_images": 40.0,
            "i_zy_bits": 1.0,
            "i_zy_bits_stderr": 0.5,
        }
    )
    assert found["accuracy"] == pytest.approx((0.236593, 0.763407), abs=1e-5)
    assert found["robust_pgd"] == pytest.approx(wilson(0.5, 40.0))
    assert found["robust_pgd"] != found["accuracy"]
    assert found["i_zy_bits"] == pytest.approx((1 - 0.979982, 1 + 0.979982))
    assert "test_examples" not in found and "i_zy_bits_stderr" not in found


def test_without_a_number_of_examples_there_is_no_interval() -> None:
    assert metric_intervals({"accuracy": 0.5}) == {}
    assert metric_intervals({"accuracy": 0.5, "test_examples": 0.0}) == {}
    assert metric_intervals({"accuracy": 0.5, "test_examples": None}) == {}
    assert metric_intervals({"accuracy": None, "test_examples": 10.0}) == {}


def test_rounding_takes_no_interval_beyond_a_share() -> None:
    for count in range(1, 200):
        assert wilson(0.0, count)[0] >= 0.0 and wilson(1.0, count)[1] <= 1.0


@pytest.mark.parametrize("count", [0.0, 5e-324, 0.5])
def test_a_share_of_less_than_one_example_has_no_interval(count: float) -> None:
    assert metric_intervals({"accuracy": 0.0, "test_examples": count}) == {}
