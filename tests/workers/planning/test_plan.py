"""What a cohort is told of its members."""

from __future__ import annotations

import pickle

import pytest

from service.contract.methods.models import Mlp
from service.contract.methods.weightings import Fixed
from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.wire.events import Setting
from workers.planning.plan import Plan

STUDY = check_study(
    {
        "name": "s",
        "arms": [
            {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2]}}},
            {
                "name": "tuned",
                "weighting": {"name": "fixed", "beta": {"range": {"from": 0.1, "to": 1.0}}},
                "model": {"latent": {"choice": [2, 4]}},
                "search": {"name": "optuna", "trials": 1},
            },
        ],
    }
)
SUGGESTED: dict[str, Setting] = {"weighting.beta": 0.3, "model.latent": 4}


@pytest.fixture
def plan() -> Plan:
    """As it arrives in another process."""
    made = Plan({trial.id: trial for trial in expand(STUDY)}, STUDY.data, STUDY.evaluation, 1.0)
    return Plan(*pickle.loads(pickle.dumps(tuple(made))))


def test_a_slot_is_trained_with_the_values_that_were_suggested(plan: Plan) -> None:
    trial = plan.trial(expand(STUDY)[2].id, SUGGESTED)
    assert (trial.arm, trial.weighting, trial.model) == ("tuned", Fixed(beta=0.3), Mlp(latent=4))
    assert trial.config.items() >= SUGGESTED.items()


def test_a_planned_trial_is_trained_as_it_was_planned(plan: Plan) -> None:
    first, second, _ = expand(STUDY)
    assert (plan.trial(first.id, {}), plan.trial(second.id, {})) == (first, second)


def test_a_slot_without_its_values_is_refused(plan: Plan) -> None:
    with pytest.raises(ValueError, match=r"weighting\.beta of trial t\w+ has no value"):
        plan.trial(expand(STUDY)[2].id, {"model.latent": 4})
