"""What a study is warned of: it runs all the same."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.parsing import check_study
from service.contract.study.warnings import warnings

ARML = {"name": "arml"}


def warned(problem: dict[str, Any], weighting: dict[str, Any], *metrics: str) -> list[tuple[str, str]]:
    arms = [{"name": "a", "problem": problem, "weighting": weighting}]
    goals = [{"metric": metric, "goal": "maximize", "reference": 0.0} for metric in metrics]
    study = check_study({"name": "s", "arms": arms, **({"objectives": goals} if goals else {})})
    return [(detail.path, detail.message) for detail in warnings(study)]


def tasks(*auxiliaries: str) -> dict[str, Any]:
    return {"name": "multitask", "main": "class", "auxiliaries": list(auxiliaries)}


@pytest.mark.parametrize("problem", [tasks("rotation"), {"name": "bottleneck"}])
def test_arml_with_one_auxiliary_is_uniform_by_construction(problem: dict[str, Any]) -> None:
    ((path, message),) = warned(problem, ARML)
    assert path == "arms[0].weighting.name" and "those of uniform" in message


def test_arml_with_two_auxiliaries_has_something_to_choose() -> None:
    assert warned(tasks("rotation", "random-labels"), ARML) == []
    assert warned(tasks("rotation"), {"name": "uniform"}) == []


@pytest.mark.parametrize(
    ("problem", "metrics", "quantity"),
    [
        (tasks("rotation"), ("accuracy_class", "test_loss_class"), "class"),
        (tasks("rotation"), ("test_loss_rotation", "loss_rotation"), "rotation"),
        (tasks("rotation"), ("accuracy", "accuracy_class"), "class"),  # the main task's is the task's own
        ({"name": "bottleneck"}, ("accuracy", "i_zy_bits"), "pred"),
        ({"name": "bottleneck"}, ("i_xz_bits", "loss_info"), "info"),
        ({"name": "toy"}, ("f1", "loss_f1"), "f1"),
    ],
)
def test_two_views_of_one_quantity_are_no_trade_off(
    problem: dict[str, Any], metrics: tuple[str, str], quantity: str
) -> None:
    ((path, message),) = warned(problem, {"name": "uniform"}, *metrics)
    assert path == "objectives[1].metric"
    assert f"{metrics[1]} and {metrics[0]} are two views of one quantity ({quantity})" in message


@pytest.mark.parametrize(
    ("problem", "metrics"),
    [
        (tasks("rotation"), ("accuracy_class", "accuracy_rotation")),
        (tasks("rotation"), ("accuracy", "test_loss_rotation")),
        ({"name": "bottleneck"}, ("i_xz_bits", "i_zy_bits")),
        ({"name": "bottleneck"}, ("seconds", "accuracy")),
        ({"name": "toy"}, ("f1", "f2")),
    ],
)
def test_two_quantities_are_not_warned_of(problem: dict[str, Any], metrics: tuple[str, str]) -> None:
    assert warned(problem, {"name": "uniform"}, *metrics) == []


def test_watching_is_said_to_cost_arms_that_would_not_compare_gradients() -> None:
    def paths(*weightings: str, gradients: bool = True) -> list[str]:
        arms = [{"name": name, "weighting": {"name": name}} for name in weightings]
        study = check_study({"name": "s", "arms": arms, "evaluation": {"gradients": gradients}})
        return [detail.path for detail in warnings(study)]

    assert paths("uniform", "mib") == ["evaluation.gradients"]
    assert paths("uniform", "mib", gradients=False) == paths("uniform", "uw") == paths("mib", "mgb") == []


def test_a_study_with_nothing_held_out_is_told_that_it_chooses_by_what_it_claims() -> None:
    def paths(fraction: float, **spec: Any) -> list[str]:
        arms = [{"name": "a", "weighting": {"name": "uniform"}, **spec.pop("arm", {})}]
        data = {"name": "digits", "validation_fraction": fraction}
        return [each.path for each in warnings(check_study({"name": "s", "data": data, "arms": arms, **spec}))]

    assert paths(0.0) == ["data.validation_fraction"] and paths(0.2) == []
    assert paths(0.0, selection="test") == [], "it says so itself"
    assert paths(0.0, arm={"problem": {"name": "toy"}}) == [], "what is exact has no split"
