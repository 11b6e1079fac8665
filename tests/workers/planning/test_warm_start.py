"""A search that was told trials of earlier studies: it goes on from them, the same after a restart."""

from __future__ import annotations

from typing import Any

import optuna
import pytest

from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from service.contract.wire.errors import InvalidInput
from service.contract.wire.events import TrialState
from workers.planning.past import past_of
from workers.planning.supply import searches_of

BEST = 0.37  # where both objectives are best


def reached(beta: float) -> list[float]:
    return [1.0 + (beta - BEST) ** 2, 3.0 - (beta - BEST) ** 2]


def told(seed: int = 0, count: int = 12) -> list[dict[str, Any]]:
    betas = [0.05 + 0.9 * i / count for i in range(count)]
    values = [{"weighting.beta": beta, "training.learning_rate": 0.01} for beta in betas]
    return [{"seed": seed, "values": own, "objectives": reached(own["weighting.beta"])} for own in values]


def study(sampler: str = "tpe", seeds: int = 1, **search: Any) -> Study:
    arm = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 0.01, "to": 1.0}}},
        "training": {"learning_rate": {"range": {"from": 0.001, "to": 0.1}}},
        "search": {"name": "optuna", "sampler": sampler, "trials": 6 * seeds, "batch": 2, **search},
    }
    return check_study({"name": "s", "seeds": list(range(seeds)), "arms": [arm]})


def warm(sampler: str = "tpe", seeds: int = 1, of: int = 0) -> Study:
    """With what a search of this seed was told."""
    given: dict[str, Any] = {"from": ["s1"], "told": told(seed=of)}
    return study(sampler, seeds, **given)


def run(checked: Study, past: Any = None, seed: int = 0) -> list[PlannedTrial]:
    search = searches_of(checked, past or {})[seed]
    asked: list[PlannedTrial] = []
    while batch := search.ask():
        asked += batch
        for trial in batch:
            search.tell(trial.id, reached(trial.config["weighting.beta"]))
    return asked


def betas(trials: list[PlannedTrial]) -> list[float]:
    return [trial.config["weighting.beta"] for trial in trials]


def test_a_search_suggests_what_plain_optuna_does_after_the_same_trials() -> None:
    plain = optuna.create_study(directions=["minimize", "maximize"], sampler=optuna.samplers.TPESampler(seed=0))
    space: dict[str, optuna.distributions.BaseDistribution] = {
        "weighting.beta": optuna.distributions.FloatDistribution(0.01, 1.0),
        "training.learning_rate": optuna.distributions.FloatDistribution(0.001, 0.1),
    }
    for each in told():
        plain.add_trial(optuna.create_trial(params=each["values"], distributions=space, values=each["objectives"]))
    ours = optuna.create_study(directions=["minimize", "maximize"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optuna, "create_study", lambda **given: ours)
        run(warm())
    first = [(trial.params, trial.values) for trial in ours.trials[:12]]
    assert first == [(trial.params, trial.values) for trial in plain.trials]
    assert len(ours.trials) == 12 + 6


@pytest.mark.parametrize("sampler", ["tpe", "gp", "nsga2", "nsga3"])
def test_what_was_told_changes_what_is_suggested_and_a_restart_changes_nothing(sampler: str) -> None:
    checked = warm(sampler)
    whole = run(checked)
    assert betas(whole) != betas(run(study(sampler)))
    log = [
        KnownTrial(
            id=trial.id,
            arm=trial.arm,
            state=TrialState.FINISHED,
            config=trial.config,
            metrics=dict(zip(checked.choosing, reached(trial.config["weighting.beta"]), strict=True)),
        )
        for trial in whole[:3]
    ]
    assert betas(run(checked, past_of(checked, log))) == betas(whole[3:])


def test_a_search_is_told_the_trials_of_its_own_seed() -> None:
    told_one, cold = warm(seeds=2, of=1), study(seeds=2)
    assert betas(run(told_one, seed=0)) == betas(run(cold, seed=0))
    assert betas(run(told_one, seed=1)) != betas(run(cold, seed=1))


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ({"told": told()}, "told is what the service finds"),
        (
            {"from": ["s1"], "sampler": "random"},
            "a sampler that learns, tpe, gp, nsga2, nsga3, got 'random'",
        ),
        ({"from": ["s1"], "sampler": "qmc"}, "got 'qmc'"),
        ({"from": ["s1"] * 17}, "at most 16"),
        ({"from": "s1"}, "list"),
        ({"form": ["s1"]}, "unknown key form; known keys: name, sampler, trials, batch, population, from"),
    ],
)
def test_a_bad_warm_start_is_refused(search: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        study(**search)
    assert any(words in each.message and each.path.startswith("arms[0].search") for each in caught.value.details)
