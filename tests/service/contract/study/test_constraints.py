"""Constraints: what is refused, what they mean for a trial's metrics, and by which split they are judged."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.study.constraints import Constraint
from service.contract.study.outcomes import excesses, feasible
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput

ARM = {"name": "a", "weighting": {"name": "fixed", "beta": 0.1}}


def study(*constraints: Any, **spec: Any) -> Study:
    return check_study({"name": "s", "arms": [ARM], "constraints": list(constraints), **spec})


@pytest.mark.parametrize(
    ("constraint", "path", "words"),
    [
        ({"metric": "accurracy", "at_least": 0.9}, "constraints[0]", ["'accurracy'", "known: ", "accuracy"]),
        ({"metric": "loss_left", "at_most": 1.0}, "constraints[0].metric", ["'loss_left'", "arm 'a'", "accuracy"]),
        ({"metric": "robust_pgd", "at_least": 0.5}, "constraints[0].metric", ["evaluation.attacks"]),
        ({"metric": "validation_accuracy", "at_least": 0.5}, "constraints[0].metric", ["name 'accuracy'"]),
        ({"metric": "accuracy", "at_least": 0.5, "at_most": 0.75}, "constraints[0]", ["one of them", "0.5 and 0.75"]),
        ({"metric": "accuracy"}, "constraints[0]", ["at_least or at_most", "neither"]),
        ({"metric": "accuracy", "at_least": nan}, "constraints[0].at_least", ["finite", "nan"]),
        ({"metric": "accuracy", "at_most": inf}, "constraints[0].at_most", ["finite", "inf"]),
        ({"metric": "accuracy", "at_least": "0.9"}, "constraints[0].at_least", ["number", "'0.9'"]),
        ({"metric": "accuracy", "above": 0.9}, "constraints[0].above", []),
        ({"at_least": 0.9}, "constraints[0].metric", ["missing"]),
    ],
)
def test_a_bad_constraint_is_refused_with_path_rule_and_value(constraint: Any, path: str, words: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        study(constraint)
    messages = [detail.message for detail in caught.value.details if detail.path == path]
    assert messages, caught.value.details
    for word in words:
        assert word in messages[0]


def test_the_same_side_of_a_metric_is_bounded_once() -> None:
    with pytest.raises(InvalidInput, match="'accuracy ≥' appears twice"):
        study({"metric": "accuracy", "at_least": 0.9}, {"metric": "accuracy", "at_least": 0.8})
    assert len(study({"metric": "accuracy", "at_least": 0.5}, {"metric": "accuracy", "at_most": 0.9}).bounds) == 2


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({}, "validation_accuracy"),
        ({"selection": "test"}, "accuracy"),
        ({"data": {"name": "digits", "validation_fraction": 0.0}}, "accuracy"),
    ],
)
def test_a_constraint_is_judged_by_the_split_that_chooses(spec: dict[str, Any], name: str) -> None:
    bounds = study({"metric": "accuracy", "at_least": 0.9}, **spec).bounds
    assert [(bound.metric, bound.constraint.at_least) for bound in bounds] == [(name, 0.9)]


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_bound_is_kept_on_its_side_and_on_the_bound_itself(bound: float, value: float) -> None:
    least = Constraint(metric="accuracy", at_least=bound)
    most = Constraint(metric="accuracy", at_most=bound)
    assert feasible({"accuracy": value}, [least.judged_by("accuracy")]) is (value >= bound)
    assert feasible({"accuracy": value}, [most.judged_by("accuracy")]) is (value <= bound)
    assert least.excess(value) == -most.excess(value)


def test_all_constraints_are_kept_or_the_trial_is_infeasible() -> None:
    both = [Constraint(metric="accuracy", at_least=0.5), Constraint(metric="i_xz_bits", at_most=8.0)]
    bounds = [each.judged_by(each.metric) for each in both]
    assert feasible({"accuracy": 0.75, "i_xz_bits": 4.0}, bounds) is True
    assert feasible({"accuracy": 0.75, "i_xz_bits": 9.0}, bounds) is False
    assert excesses({"accuracy": 0.75, "i_xz_bits": 9.0}, bounds) == [-0.25, 1.0]


@pytest.mark.parametrize("metrics", [{}, {"accuracy": None}, {"accuracy": nan}])
def test_what_was_not_measured_is_neither_kept_nor_broken(metrics: dict[str, float | None]) -> None:
    assert feasible(metrics, [Constraint(metric="accuracy", at_least=0.5).judged_by("accuracy")]) is None
    assert feasible({"accuracy": 0.75}, []) is None


def test_the_validation_value_decides_where_both_are_there() -> None:
    bounds = study({"metric": "accuracy", "at_least": 0.5}).bounds
    assert feasible({"accuracy": 0.75, "validation_accuracy": 0.25}, bounds) is False
    assert feasible({"accuracy": 0.75}, bounds) is True


def test_a_study_without_constraints_says_nothing_of_them() -> None:
    assert "constraints" not in check_study({"name": "s", "arms": [ARM]}).model_dump()
    kept = study({"metric": "accuracy", "at_least": 0.9})
    assert check_study(kept.model_dump(by_alias=True, mode="json")) == kept
