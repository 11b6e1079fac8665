"""Training seconds of an arm, and what is no part of them."""

from __future__ import annotations

from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from tests.planned import planned
from workers.planning.budget import budget_of


def test_networks_that_verify_a_curve_are_trained_whatever_its_arm_has_spent() -> None:
    curves = {"name": "curves", "weighting": {"name": "conditional", "verify": 2}}
    study = check_study({"name": "s", "seeds": [0, 1, 2], "arms": [curves], "limits": {"training_seconds": 5}})
    trials: list[PlannedTrial] = planned(study)
    verifying = [trial for trial in trials if trial.verifies]
    own = [trial for trial in trials if not trial.verifies]
    assert (len(own), len(verifying)) == (3, 6)
    budget = budget_of(study, {trial.id: 100.0 for trial in verifying})
    assert budget is not None and not budget.is_spent("curves"), "they are no part of its cost"
    budget = budget_of(study, {own[0].id: 5.0})
    assert budget is not None and budget.is_spent("curves")
    assert [budget.is_out(trial) for trial in (*own, *verifying)] == [True] * 3 + [False] * 6
