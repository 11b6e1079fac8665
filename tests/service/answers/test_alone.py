"""The study of one trial alone is one that the service takes, whatever the trial was planned from."""

from __future__ import annotations

from typing import Any

import pytest

from service.answers.presets import presets
from service.contract.methods.balance import RECURRING
from service.contract.parameters.axes import Choice, Searched
from service.contract.study.alone import alone
from service.contract.study.expansion import PlannedTrial, Slot, expand, resolve, searched
from service.contract.study.parsing import check_study
from service.contract.study.study import Study

SIMPLEX = {"name": "mixed", "weighting": {"name": "fixed", "simplex": 4}}
MIXED_TOY = {**SIMPLEX, "problem": {"name": "toy"}}
TASKS = {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}
MIB = {"name": "MIB", "weighting": {"name": "mib"}}
MODES = ["none", "full", "partial", "both", "repeated", "after"]


def trained(**training: Any) -> dict[str, Any]:
    return {"training": {"epochs": 4, **training}, "arms": [MIB]}


SPECS: dict[str, dict[str, Any]] = {
    "mixtures of the toy": {"arms": [MIXED_TOY]},
    "mixtures of tasks": {"arms": [{**SIMPLEX, "problem": TASKS}]},
    "modes of balance": trained(balance={"mode": {"grid": ["none", "partial"]}, "every": 2}),
    "all modes, intervals and orders": trained(
        balance={"mode": {"grid": MODES}, "every": {"grid": [1, 2]}, "order": {"grid": ["sweep", "reverse"]}}
    ),
    "modes of an arm": {"arms": [{**MIB, "training": {"balance": {"mode": {"grid": MODES}, "every": 2}}}]},
    "optimizers": trained(optimizer={"grid": ["adam", "sgd"]}, momentum={"grid": [0.0, 0.9]}, nesterov=True, beta1=0.5),
    "schedules": trained(schedule={"grid": ["constant", "step", "cosine"]}, floor=0.1, decay=0.5, decay_epochs=2),
    "checked curves": {"arms": [{"name": "curve", "weighting": {"name": "conditional", "verify": 3}}]},
}
PRESETS = {preset.name: preset.spec for preset in presets()}


def configurations(study: Study) -> list[PlannedTrial]:
    """One trial of each, whatever its seed."""
    trials = (_resolved(trial) for trial in expand(study) if trial.seed == study.seeds[0])
    return list({(trial.arm, repr(trial.config)): trial for trial in trials}.values())


def _resolved(trial: PlannedTrial | Slot) -> PlannedTrial:
    if isinstance(trial, PlannedTrial):
        return trial
    values: dict[str, object] = {}
    while missing := {key: axis for key, axis in searched(trial, values).items() if key not in values}:
        values |= {key: _first(axis) for key, axis in missing.items()}
    return resolve(trial, values)


def _first(axis: Searched) -> object:
    return axis.choice[0] if isinstance(axis, Choice) else axis.ends()[0]


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_study_of_any_trial_of_a_grid_alone_is_taken(spec: dict[str, Any]) -> None:
    accepted_alone(check_study({"name": "s", **spec}))


@pytest.mark.parametrize("spec", PRESETS.values(), ids=PRESETS)
def test_the_study_of_any_trial_of_a_preset_alone_is_taken(spec: dict[str, Any]) -> None:
    accepted_alone(check_study(spec))


def accepted_alone(study: Study) -> None:
    for trial in configurations(study):
        (again, *_) = expand(check_study(alone(study, trial)))
        assert isinstance(again, PlannedTrial)
        assert again.weighting.model_dump(exclude={"simplex"}) == trial.weighting.model_dump(exclude={"simplex"})
        assert (again.problem, again.model) == (trial.problem, trial.model)
        mode, every = _balance(trial)
        assert _balance(again) == (mode, every if mode in RECURRING else 1)


def _balance(trial: PlannedTrial) -> tuple[object, object]:
    balance = trial.training.balance
    return (None, 1) if balance is None else (balance.mode, balance.every)
