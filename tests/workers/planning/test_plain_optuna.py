"""Our searches against loops written with nothing but Optuna: the same seeds and order give the same trials."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import optuna
import pytest
from optuna.exceptions import ExperimentalWarning

from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from workers.planning.past import past_of
from workers.planning.supply import Search, searches_of

POPULATION = 4
SEEDS = (0, 1, 2, 7, 2026)

Sampler = Callable[[int, int], optuna.samplers.BaseSampler]

# By the search's seed and a trial's own: a generator for each trial, but for the Sobol sequence, which is one for all.
PLAIN: dict[str, Sampler] = {
    "tpe": lambda _, own: optuna.samplers.TPESampler(
        n_startup_trials=6, multivariate=True, constant_liar=True, seed=own
    ),
    "gp": lambda _, own: optuna.samplers.GPSampler(n_startup_trials=6, seed=own),
    "nsga2": lambda _, own: optuna.samplers.NSGAIISampler(population_size=POPULATION, seed=own),
    "nsga3": lambda _, own: optuna.samplers.NSGAIIISampler(population_size=POPULATION, seed=own),
    "qmc": lambda seed, _: optuna.samplers.QMCSampler(scramble=True, seed=seed, warn_independent_sampling=False),
    "random": lambda _, own: optuna.samplers.RandomSampler(seed=own),
}


class Size(NamedTuple):
    trials: int
    batch: int


def size_of(sampler: str) -> Size:
    """Six at random come first; what gp suggests after them takes a while each time, so of that there is one batch."""
    return Size(8, 2) if sampler == "gp" else Size(12, 3)


def study(sampler: str, seed: int) -> Study:
    tuned = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-5, "to": 10.0, "scale": "log"}}},
        "model": {"latent": {"range": {"from": 2, "to": 256, "scale": "log"}}},
        "problem": {"name": "bottleneck", "rate": {"choice": ["vib", "nib"]}},
        "search": {"name": "optuna", "sampler": sampler, **size_of(sampler)._asdict()},
    }
    return check_study({"name": "s", "seeds": [seed], "arms": [tuned]})


def reached(beta: float, latent: int, rate: str) -> list[float]:
    bits = 32 / (1 + beta) + math.log2(latent)
    return [bits + (rate == "nib"), 3.3 * (1 - math.exp(-bits / 6)) - 0.1 * abs(math.log2(latent) - 4)]


def config_of(values: Any) -> tuple[float, int, str]:
    return values["weighting.beta"], values["model.latent"], values["problem.rate"]


def plain(sampler: str, seed: int) -> list[tuple[float, int, str]]:
    """Batches asked together and told together; the sampler of trial `number` is seeded by (seed, number)."""
    search = optuna.create_study(directions=["minimize", "maximize"])
    asked = []
    size = size_of(sampler)
    for start in range(0, size.trials, size.batch):
        batch = []
        for number in range(start, start + size.batch):
            with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
                search.sampler = PLAIN[sampler](seed, int(np.random.SeedSequence([seed, number]).generate_state(1)[0]))
            trial = search.ask()
            trial.suggest_categorical("problem.rate", ["vib", "nib"])
            trial.suggest_float("weighting.beta", 1e-5, 10.0, log=True)
            trial.suggest_int("model.latent", 2, 256, log=True)
            batch.append(trial)
        for trial in batch:
            search.tell(trial, reached(*config_of(trial.params)))
        asked += [config_of(trial.params) for trial in batch]
    return asked


def ours(search: Search) -> list[PlannedTrial]:
    asked: list[PlannedTrial] = []
    while batch := search.ask():
        asked += batch
        for trial in batch:
            search.tell(trial.id, reached(*config_of(trial.config)))
    return asked


def configs(trials: Sequence[PlannedTrial]) -> list[tuple[float, int, str]]:
    return [config_of(trial.config) for trial in trials]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sampler", PLAIN)
def test_a_search_suggests_what_plain_optuna_does_and_a_restart_changes_nothing(sampler: str, seed: int) -> None:
    checked = study(sampler, seed)
    whole = ours(searches_of(checked, {})[0])
    assert configs(whole) == plain(sampler, seed)
    batch = size_of(sampler).batch
    restarts = (4, 9) if sampler != "gp" else (5,) if seed == SEEDS[0] else ()
    for ended in restarts:  # in the middle of a batch, and after one
        log = [_logged(checked, trial, over=i < ended) for i, trial in enumerate(whole[: -(-ended // batch) * batch])]
        again = ours(searches_of(checked, past_of(checked, log))[0])
        assert configs(again) == configs(whole[ended:]), f"after {ended} trials"
    assert [trial.id for trial in whole] == [slot.id for slot in expand(checked)]


def _logged(checked: Study, trial: PlannedTrial, over: bool) -> KnownTrial:
    """As the service tells it to a driver that was started again."""
    metrics = dict(zip(checked.choosing, reached(*config_of(trial.config)), strict=True)) if over else {}
    state = "finished" if over else "running"
    body = {"id": trial.id, "arm": trial.arm, "state": state, "config": trial.config, "metrics": metrics}
    return KnownTrial.model_validate(body)


@pytest.mark.parametrize("sampler", PLAIN)
def test_a_space_of_choices_alone_is_searched_too(sampler: str) -> None:
    arm = {
        "name": "choices",
        "weighting": {"name": "mib", "smoothing": {"choice": [True, False]}},
        "problem": {"name": "bottleneck", "rate": {"choice": ["vib", "nib"]}},
        "search": {"name": "optuna", "sampler": sampler, "trials": 8, "batch": 2},
    }
    search = searches_of(check_study({"name": "s", "arms": [arm]}), {})[0]
    asked = []
    while batch := search.ask():
        asked += batch
        for trial in batch:
            search.tell(trial.id, [float(trial.config["weighting.smoothing"]), float(len(asked))])
    assert len(asked) == 8
