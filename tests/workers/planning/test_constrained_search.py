"""Searches that know constraints: what they are told, that they keep them, and that a restart tells them the same."""

from __future__ import annotations

import math
from typing import Any

import optuna
import pytest

from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from workers.planning.past import past_of, reached_by
from workers.planning.suggest import Suggester
from workers.planning.supply import searches_of

LEAST = 0.9  # of the accuracy


def study(sampler: str, trials: int = 40, constrained: bool = True, **search: Any) -> Study:
    tuned = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-4, "to": 1.0, "scale": "log"}}},
        "model": {"latent": {"range": {"from": 2, "to": 64}}},  # what evolution may keep while β changes
        "search": {"name": "optuna", "sampler": sampler, "trials": trials, **search},
    }
    bounds = [{"metric": "accuracy", "at_least": LEAST}] if constrained else []
    return check_study({"name": "s", "arms": [tuned], "constraints": bounds})


def measured(trial: PlannedTrial) -> dict[str, float]:
    """Rate and relevance fall with β, and so does the accuracy: below 0.9 for β above 0.01, most of the range."""
    place = math.log10(trial.config["weighting.beta"])  # from -4 to 0
    return {
        "validation_i_xz_bits": 2 - 4 * place,
        "validation_i_zy_bits": 1 - 0.5 * place,
        "validation_accuracy": 0.9 - 0.1 * (place + 3),
    }


def run(checked: Study, past: Any = None, most: int = 10**6) -> list[PlannedTrial]:
    search = searches_of(checked, past or {})[0]
    asked: list[PlannedTrial] = []
    while len(asked) < most and (batch := search.ask()):
        asked += batch
        for trial in batch:
            search.tell(trial.id, *reached_by(checked, measured(trial)))
    return asked


def kept(trials: list[PlannedTrial]) -> float:
    return sum(measured(trial)["validation_accuracy"] >= LEAST for trial in trials) / len(trials)


@pytest.mark.parametrize(("sampler", "trials"), [("tpe", 40), ("nsga2", 80), ("nsga3", 80), ("gp", 9)])
def test_a_search_that_knows_the_constraint_keeps_it_more_often(sampler: str, trials: int) -> None:
    with_it, without = (kept(run(study(sampler, trials, known))[-(trials // 3) :]) for known in (True, False))
    assert with_it > max(without, 0.5)


@pytest.mark.parametrize("sampler", ["tpe", "gp", "nsga2", "nsga3", "qmc", "random"])
def test_a_restart_tells_a_search_the_same_constraints(sampler: str) -> None:
    checked = study(sampler, 12, batch=3)
    whole = run(checked)
    log = [
        {"id": t.id, "arm": t.arm, "state": "finished", "config": t.config, "metrics": measured(t)} for t in whole[:9]
    ]
    again = run(checked, past_of(checked, [KnownTrial.model_validate(each) for each in log]))
    assert [trial.config for trial in again] == [trial.config for trial in whole[9:]]


def test_optuna_has_the_excess_of_each_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = optuna.create_study(directions=["minimize", "maximize"])
    monkeypatch.setattr(optuna, "create_study", lambda **given: ours)
    asked = run(study("random", 6))
    told = [trial.constraints for trial in ours.trials]
    assert told == [{"0": pytest.approx(LEAST - measured(trial)["validation_accuracy"])} for trial in asked]


def test_a_trial_that_lacks_what_a_constraint_asks_for_is_told_as_failed() -> None:
    checked = study("random")
    reached = {"validation_i_xz_bits": 9.0, "validation_i_zy_bits": 3.0}
    assert reached_by(checked, reached).objectives is None
    objectives, broken = reached_by(checked, {**reached, "validation_accuracy": 0.8})
    assert objectives == [9.0, 3.0] and list(broken) == [pytest.approx(0.1)]
    assert reached_by(study("random", constrained=False), reached) == ([9.0, 3.0], ())
    assert reached_by(checked, None) == (None, ())


def test_a_search_of_its_own_takes_what_it_is_told_once() -> None:
    (search,) = searches_of(study("tpe"), {})
    assert isinstance(search, Suggester)
    first, *_ = search.ask()
    search.tell(first.id, [1.0, 1.0], [0.5])
    search.tell(first.id, [2.0, 2.0], [-0.5])
