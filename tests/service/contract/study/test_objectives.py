"""The objectives of a study that names none: always metrics that its trials report."""

from __future__ import annotations

import pytest

from service.contract.study.parsing import check_study


@pytest.mark.parametrize(
    ("main", "auxiliaries", "expected"),
    [
        ("class", ["rotation", "coarse-class"], ["accuracy_class", "accuracy_rotation"]),
        ("reconstruction", ["class", "rotation"], ["accuracy_class", "accuracy_rotation"]),
        ("class", ["reconstruction"], ["test_loss_class", "accuracy_class"]),
        ("reconstruction", ["class"], ["test_loss_reconstruction", "accuracy_class"]),
        ("reconstruction", ["exemplar"], ["test_loss_reconstruction", "loss_reconstruction"]),
    ],
)
def test_tasks_are_compared_by_what_they_report(main: str, auxiliaries: list[str], expected: list[str]) -> None:
    problem = {"name": "multitask", "main": main, "auxiliaries": auxiliaries}
    arm = {"name": "a", "problem": problem, "weighting": {"name": "uniform"}}
    study = check_study({"name": "s", "arms": [arm]})
    assert [objective.metric for objective in study.objectives] == expected
    assert set(expected) <= set(study.metrics)
