"""An epoch's report is one class from the loop to the driver, and what it holds can be sent."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.events import REASON_LENGTH, Metrics, cleaned

NUMBERS = st.one_of(st.none(), st.integers(-(2**53), 2**53), st.floats())
METRICS = st.dictionaries(st.sampled_from(["epoch", "seed", "seconds", "accuracy", "robust_images", "x"]), NUMBERS)


def report(metrics: Metrics) -> EpochReport:
    return EpochReport(epoch=3, metrics={"t": metrics}, failures={}, final=False)


@given(METRICS)
def test_a_report_comes_back_from_its_text_as_it_was(metrics: Metrics) -> None:
    made = report(metrics)
    assert EpochReport.model_validate_json(made.model_dump_json()) == made
    assert made.metrics["t"].keys() == metrics.keys(), "a metric without a value is null, not absent"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null_once_the_report_is_made(value: float) -> None:
    made = report({"accuracy": value, "loss_pred": 0.5})
    assert made.metrics["t"] == {"accuracy": None, "loss_pred": 0.5}
    assert json.loads(made.model_dump_json())["metrics"]["t"] == {"accuracy": None, "loss_pred": 0.5}


def test_counts_are_whole_numbers_and_measures_are_not() -> None:
    metrics = report({"epoch": 3.0, "robust_images": 20.0, "seconds": 2.0, "accuracy": 1.0}).metrics["t"]
    assert {name: type(value) for name, value in metrics.items()} == {
        "epoch": int,
        "robust_images": int,
        "seconds": float,
        "accuracy": float,
    }
    assert cleaned({"epoch": 2.5}) == {"epoch": 2.5}, "what is no count is not made one"


def test_a_reason_is_cut_and_can_be_sent() -> None:
    failures = {"a": "half a character \ud83d", "b": "x" * 9000}
    made = EpochReport(epoch=0, metrics={}, failures=failures, final=True)
    assert made.failures == {"a": "half a character ?", "b": "x" * REASON_LENGTH}
    assert made.model_dump_json()


def test_an_unknown_key_or_a_fraction_of_an_epoch_is_refused() -> None:
    body = json.loads(report({}).model_dump_json())
    for change in ({"more": 1}, {"epoch": 1.5}, {"epoch": -1}):
        with pytest.raises(ValidationError):
            EpochReport.model_validate({**body, **change})
