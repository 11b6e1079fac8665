"""Whose training changes when it gets more epochs, by what was planned and by what a search suggested."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.expansion import Config, PlannedTrial, Slot, expand
from service.contract.study.extension import depends_on_epochs
from service.contract.study.parsing import check_study

TASKS = {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}
SEARCH = {"name": "optuna", "trials": 1}
FORMS = {"choice": ["simplified", "two-stage"]}


def trial_of(weighting: dict[str, Any], **arm: Any) -> PlannedTrial | Slot:
    arms = [{"name": "a", "problem": TASKS, "weighting": weighting, **arm}]
    return expand(check_study({"name": "s", "seeds": [0], "arms": arms}))[0]


@pytest.mark.parametrize(("form", "depends"), [("simplified", False), ("two-stage", True)])
def test_the_form_that_a_search_suggested_decides(form: str, depends: bool) -> None:
    slot = trial_of({"name": "arml", "form": FORMS}, search=SEARCH)
    assert isinstance(slot, Slot)
    suggested: Config = {**slot.config, "weighting.form": form}
    assert depends_on_epochs(slot, suggested) is depends, "as the log has it"
    assert depends_on_epochs(slot._replace(config=suggested)) is depends, "as a view has it"


def test_a_slot_to_which_nothing_was_suggested_has_no_training_that_could_change() -> None:
    slot = trial_of({"name": "arml", "form": FORMS}, search=SEARCH)
    assert not depends_on_epochs(slot) and not depends_on_epochs(slot, {})


@pytest.mark.parametrize(("form", "depends"), [("simplified", False), ("two-stage", True)])
def test_where_something_else_is_searched_the_form_of_the_arm_decides(form: str, depends: bool) -> None:
    rates = {"learning_rate": {"range": {"from": 0.001, "to": 0.1}}}
    slot = trial_of({"name": "arml", "form": form}, training=rates, search=SEARCH)
    assert isinstance(slot, Slot)
    assert depends_on_epochs(slot) is depends_on_epochs(slot, {"training.learning_rate": 0.01}) is depends


@pytest.mark.parametrize(("form", "depends"), [("simplified", False), ("two-stage", True)])
def test_a_planned_trial_has_its_form_with_or_without_what_the_log_has_of_it(form: str, depends: bool) -> None:
    for given in (form, {"grid": [form]}):
        trial = trial_of({"name": "arml", "form": given})
        assert isinstance(trial, PlannedTrial)
        assert depends_on_epochs(trial) is depends_on_epochs(trial, trial.config) is depends


@pytest.mark.parametrize(("schedule", "depends"), [("cosine", True), ("step", False), ("exponential", False)])
def test_a_cosine_depends_on_the_number_of_epochs(schedule: str, depends: bool) -> None:
    trial = trial_of({"name": "uniform"}, training={"schedule": schedule})
    assert depends_on_epochs(trial) is depends
    searched = trial_of({"name": "uniform"}, training={"schedule": {"choice": ["cosine", "step"]}}, search=SEARCH)
    assert not depends_on_epochs(searched)
    assert depends_on_epochs(searched, {"training.schedule": schedule}) is depends


@pytest.mark.parametrize(("mode", "depends"), [("after", True), ("repeated", False), ("both", False)])
def test_a_balance_after_training_depends_on_the_number_of_epochs(mode: str, depends: bool) -> None:
    assert depends_on_epochs(trial_of({"name": "uniform"}, training={"balance": {"mode": mode}})) is depends
    searched = trial_of(
        {"name": "uniform"}, training={"balance": {"mode": {"choice": ["after", "both"]}}}, search=SEARCH
    )
    assert not depends_on_epochs(searched)
    assert depends_on_epochs(searched, {"training.balance.mode": mode}) is depends


def test_no_other_weighting_depends_on_the_number_of_epochs() -> None:
    assert not depends_on_epochs(trial_of({"name": "uniform"}), {"weighting.form": "two-stage"})
