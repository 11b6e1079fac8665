"""Searches over a choice of weightings: Optuna's conditional spaces, after a restart and told of what came before."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
import pytest

from service.contract.methods.searches import BRANCHING
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from workers.planning.past import past_of
from workers.planning.supply import Search, searches_of

TRIALS, BATCH = 12, 3


def between(low: float, high: float) -> dict[str, Any]:
    return {"range": {"from": low, "to": high, "scale": "log"}}


def study(sampler: str = "tpe", seed: int = 0, **search: Any) -> Study:
    """Two of its weightings have a `beta`, from different ranges; the learning rate is every trial's."""
    branches = [
        {"name": "fixed", "beta": between(0.01, 1.0)},
        {"name": "target-rate", "rate_bits": between(1.0, 9.0), "beta": between(10.0, 50.0)},
        {"name": "mib"},
    ]
    arm = {
        "name": "any",
        "weighting": {"choice": branches},
        "training": {"learning_rate": between(1e-4, 1e-1)},
        "search": {"name": "optuna", "sampler": sampler, "trials": TRIALS, "batch": BATCH, **search},
    }
    return check_study({"name": "s", "seeds": [seed], "arms": [arm]})


def values(config: Any) -> dict[str, Any]:
    """What was searched; β and the rate only where they were."""
    own = {"fixed": ["beta"], "target-rate": ["rate_bits", "beta"], "mib": []}[config["weighting.name"]]
    keys = ("training.learning_rate", "weighting.name", *(f"weighting.{field}" for field in own))
    return {key: config[key] for key in keys}


def reached(config: Any) -> list[float]:
    """A constant weight near 0.3 is best by far."""
    far = abs(np.log10(config["weighting.beta"] / 0.3)) if config["weighting.name"] == "fixed" else 5.0
    return [1.0 + far, 3.0 - far]


def ours(search: Search) -> list[PlannedTrial]:
    asked: list[PlannedTrial] = []
    while batch := search.ask():
        asked += batch
        for trial in batch:
            search.tell(trial.id, reached(trial.config))
    return asked


def plain(sampler: str, seed: int) -> list[dict[str, Any]]:
    """Optuna alone: names differ between branches, since one name cannot have two ranges."""
    search = optuna.create_study(directions=["minimize", "maximize"])
    asked = []
    for start in range(0, TRIALS, BATCH):
        batch = []
        for number in range(start, start + BATCH):
            own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
            tpe = optuna.samplers.TPESampler(n_startup_trials=6, multivariate=True, constant_liar=True, seed=own)
            search.sampler = tpe if sampler == "tpe" else optuna.samplers.RandomSampler(seed=own)
            trial = search.ask()
            name = trial.suggest_categorical("weighting.name", ["fixed", "target-rate", "mib"])
            config: dict[str, Any] = {"weighting.name": name}
            config["training.learning_rate"] = trial.suggest_float("training.learning_rate", 1e-4, 1e-1, log=True)
            if name == "fixed":
                config["weighting.beta"] = trial.suggest_float("weighting.fixed.beta", 0.01, 1.0, log=True)
            if name == "target-rate":
                config["weighting.rate_bits"] = trial.suggest_float(
                    "weighting.target-rate.rate_bits", 1.0, 9.0, log=True
                )
                config["weighting.beta"] = trial.suggest_float("weighting.target-rate.beta", 10.0, 50.0, log=True)
            batch.append((trial, config))
        for trial, config in batch:
            search.tell(trial, reached(config))
        asked += [config for _, config in batch]
    return asked


def logged(checked: Study, trial: PlannedTrial, over: bool) -> KnownTrial:
    metrics = dict(zip(checked.choosing, reached(trial.config), strict=True)) if over else {}
    state = "finished" if over else "running"
    body = {"id": trial.id, "arm": trial.arm, "state": state, "config": trial.config, "metrics": metrics}
    return KnownTrial.model_validate(body)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sampler", BRANCHING)
def test_a_search_suggests_what_plain_optuna_does_and_a_restart_changes_nothing(sampler: str, seed: int) -> None:
    checked = study(sampler, seed)
    whole = ours(searches_of(checked, {})[0])
    assert [values(trial.config) for trial in whole] == [values(config) for config in plain(sampler, seed)]
    assert all(trial.config["weighting.name"] == trial.weighting.name for trial in whole)
    for ended in (4, 9):
        log = [logged(checked, trial, over=i < ended) for i, trial in enumerate(whole[: -(-ended // BATCH) * BATCH])]
        again = ours(searches_of(checked, past_of(checked, log))[0])
        assert [trial.config for trial in again] == [trial.config for trial in whole[ended:]], f"after {ended} trials"


def test_every_value_lies_in_the_range_of_its_own_weighting() -> None:
    betas: dict[str, list[float]] = {"fixed": [], "target-rate": []}
    for seed in range(5):
        for trial in ours(searches_of(study("random", seed), {})[0]):
            if trial.config["weighting.name"] != "mib":
                betas[trial.config["weighting.name"]].append(trial.config["weighting.beta"])
    assert all(0.01 <= beta <= 1 for beta in betas["fixed"]) and all(10 <= beta <= 50 for beta in betas["target-rate"])
    assert all(len(own) > 5 for own in betas.values())


def test_it_learns_which_weighting_is_best() -> None:
    """By the later half of 24 trials, over five seeds, against a third by chance."""
    later = [
        trial.config["weighting.name"]
        for seed in range(5)
        for trial in ours(searches_of(study("tpe", seed, trials=24), {})[0])[12:]
    ]
    assert later.count("fixed") / len(later) > 0.6


def test_what_it_was_told_of_earlier_studies_counts_for_the_weighting_it_is_of() -> None:
    """Told that a constant weight near 0.3 is best, it begins there; told nothing, it begins at random."""
    rates = np.geomspace(1e-4, 1e-1, 12).tolist()
    told: list[dict[str, Any]] = []
    for i, beta in enumerate(np.geomspace(0.01, 1.0, 12).tolist()):
        shared = {"training.learning_rate": rates[i]}
        rate = {"weighting.name": "target-rate", "weighting.rate_bits": 2.0, "weighting.beta": 20.0}
        for own in ({"weighting.name": "fixed", "weighting.beta": beta}, rate, {"weighting.name": "mib"}):
            config = {**shared, **own}
            told.append({"seed": 0, "values": config, "objectives": reached(config)})
    warm = ours(searches_of(study("tpe", 0, **{"from": ["s1"], "told": told}), {})[0])[:6]
    assert [trial.config["weighting.name"] for trial in warm].count("fixed") >= 4
    cold = ours(searches_of(study("tpe", 0), {})[0])[:6]
    assert [trial.config for trial in warm] != [trial.config for trial in cold]
