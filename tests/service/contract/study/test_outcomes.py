"""What a trial's last metrics say about it: whether its code carries anything, and where it lies."""

from __future__ import annotations

import math

import pytest

from service.contract.study.outcomes import collapsed, objective_values
from service.contract.study.study import Objective

NATS = math.log(2)  # of a bit
PLANE = ["i_xz_bits", "i_zy_bits"]


@pytest.mark.parametrize(
    ("bits", "nats", "nothing"),
    [
        (0.0499, None, True),
        (0.05, None, False),
        (3.0, None, False),
        (3.0, 0.0, True),  # the trained bound says that nothing is left, however loose the other
        (3.0, 0.0499 * NATS, True),
        (3.0, 0.0501 * NATS, False),  # 0.035 nats are more than 0.05 bits
        (0.01, 2.0, True),
        (0.0, 0.0, True),
        (None, 0.0, False),  # no rate, nothing to collapse
        (None, None, False),
    ],
)
def test_a_code_of_less_than_a_twentieth_bit_by_either_bound_is_collapsed(
    bits: float | None, nats: float | None, nothing: bool
) -> None:
    assert collapsed({"i_xz_bits": bits, "loss_info": nats}) is nothing


@pytest.mark.parametrize(
    ("gained", "error", "nothing"),
    [(0.004, 0.004, True), (-0.02, 0.004, True), (0.005, 0.004, False), (2.0, 0.01, False), (0.0, None, False)],
)
def test_a_code_at_chance_level_by_the_error_of_its_estimate_is_collapsed(
    gained: float, error: float | None, nothing: bool
) -> None:
    """A β of 100: 0.06 bit of rate, and nothing of the label in it."""
    metrics = {"i_xz_bits": 0.06, "loss_info": 0.06 * NATS, "i_zy_bits": gained, "i_zy_bits_stderr": error}
    assert collapsed(metrics) is nothing
    assert (objective_values(metrics, PLANE) is None) is nothing
    assert not collapsed({**metrics, "i_xz_bits": None}), "no rate, nothing to collapse"


def test_a_trial_that_reported_no_rate_is_not_collapsed() -> None:
    assert not collapsed({}) and not collapsed({"accuracy": 0.1})
    assert collapsed({"i_xz_bits": 0.0}) and not collapsed({"i_xz_bits": 1.0})


def test_a_place_among_the_objectives_is_in_their_order_and_may_be_0() -> None:
    assert objective_values({"i_zy_bits": 0.0, "i_xz_bits": 3.0, "accuracy": 0.5}, PLANE) == [3.0, 0.0]
    assert objective_values({"i_zy_bits": 0.0, "i_xz_bits": 3.0}, PLANE[::-1]) == [0.0, 3.0]


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_trial_that_lacks_an_objective_has_no_place(value: float | None) -> None:
    assert objective_values({"i_xz_bits": 3.0, "i_zy_bits": value}, PLANE) is None
    assert objective_values({"i_xz_bits": 3.0}, PLANE) is None


def test_a_collapsed_trial_has_no_place() -> None:
    assert objective_values({"i_xz_bits": 0.01, "i_zy_bits": 1.0}, PLANE) is None
    toy = ["f1", "f2"]
    assert objective_values({"f1": 0.0, "f2": 0.01}, toy) == [0.0, 0.01], "a small objective is no small rate"


def test_a_reference_of_0_is_a_reference_and_none_is_the_metrics_own() -> None:
    assert Objective(metric="i_xz_bits", goal="maximize", reference=0.0).reference_value == 0.0
    assert Objective(metric="i_xz_bits", goal="minimize").reference_value == 32.0
    assert Objective(metric="generalization_gap", goal="minimize", reference=0.0).reference_value == 0.0
    assert Objective(metric="seconds", goal="minimize", reference=60.0).reference_value == 60.0
