"""What the arms of a study may spend in training seconds."""

from __future__ import annotations

from service.contract.study.parsing import check_study
from tests.planned import planned
from workers.planning.budget import budget_of


def test_an_arm_that_has_spent_its_seconds_is_out_and_no_other() -> None:
    arms = [{"name": name, "weighting": {"name": name}} for name in ("uniform", "mib")]
    study = check_study({"name": "s", "seeds": [0, 1], "arms": arms, "limits": {"training_seconds": 5}})
    spent = [trial for trial in planned(study) if trial.arm == "mib"]
    budget = budget_of(study, {trial.id: 2.6 for trial in spent})
    assert budget is not None
    assert {trial.arm: budget.is_out(trial) for trial in planned(study)} == {"uniform": False, "mib": True}
    budget = budget_of(study, {spent[0].id: 2.6})
    assert budget is not None and not budget.is_spent("mib")
