"""Rules between the parts of a study: each is refused with its path."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput

FIXED = {"name": "fixed"}
TOY = {"name": "t", "problem": {"name": "toy"}, "weighting": FIXED}
VIB = {"name": "v", "problem": {"name": "bottleneck"}, "weighting": FIXED}


def refused(**parts: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        check_study({"name": "s", **parts})
    return [detail.path for detail in caught.value.details]


def test_objectives_are_those_of_the_problem_unless_given() -> None:
    assert [o.metric for o in check_study({"name": "s", "arms": [VIB]}).objectives] == ["i_xz_bits", "i_zy_bits"]
    assert [o.metric for o in check_study({"name": "s", "arms": [TOY]}).objectives] == ["f1", "f2"]


def test_every_arm_must_report_every_objective() -> None:
    assert refused(arms=[TOY, VIB]) == ["objectives[0].metric", "objectives[1].metric"]
    assert "f1" in check_study({"name": "s", "arms": [TOY]}).metrics


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ({"arms": [TOY], "evaluation": {"attacks": [{"name": "pgd"}]}}, "evaluation.attacks"),
        ({"arms": [TOY], "evaluation": {"estimators": ["infonce"]}}, "evaluation.estimators"),
        (
            {"arms": [VIB], "data": {"name": "gaussian"}, "evaluation": {"attacks": [{"name": "pgd"}]}},
            "evaluation.attacks",
        ),
        ({"arms": [VIB], "data": {"name": "digits", "labels": 100}}, "data.labels"),
        ({"arms": [{**TOY, "weighting": {"name": "target-rate"}}]}, "arms[0].weighting.name"),
        ({"arms": [VIB], "data": {"name": "toy", "symbols": 10, "classes": 3}}, "data"),
        ({"arms": [VIB], "data": {"name": "gaussian", "correlations": [1.0]}}, "data.correlations[0]"),
    ],
)
def test_what_does_not_fit_together_is_refused_with_its_path(parts: dict[str, Any], path: str) -> None:
    assert path in refused(**parts)


def test_a_continuous_label_has_no_accuracy_to_optimise() -> None:
    goals = [{"metric": "accuracy", "goal": "maximize"}, {"metric": "i_zy_bits", "goal": "maximize"}]
    assert refused(arms=[VIB], data={"name": "gaussian"}, objectives=goals) == ["objectives[0].metric"]
