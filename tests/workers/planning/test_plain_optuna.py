"""Our searches against loops written with nothing but Optuna: the same seeds and order give the same trials."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

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


TRIALS, BATCH = 12, 3  # of which six are at random, before tpe has densities and gp a surface
RESTARTS = (4, 9)  # after so many trials: in the middle of a batch, and after one


def study(sampler: str, seed: int) -> Study:
    tuned = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-5, "to": 10.0, "scale": "log"}}},
        "model": {"latent": {"range": {"from": 2, "to": 256, "scale": "log"}}},
        "problem": {"name": "bottleneck", "rate": {"choice": ["vib", "nib"]}},
        "search": {"name": "optuna", "sampler": sampler, "trials": TRIALS, "batch": BATCH},
    }
    return check_study({"name": "s", "seeds": [seed], "arms": [tuned]})


def reached(beta: float, latent: int, rate: str) -> list[float]:
    bits = 32 / (1 + beta) + math.log2(latent)
    return [bits + (rate == "nib"), 3.3 * (1 - math.exp(-bits / 6)) - 0.1 * abs(math.log2(latent) - 4)]


def config_of(values: Any) -> tuple[float, int, str]:
    return values["weighting.beta"], values["model.latent"], values["problem.rate"]


def plain(sampler: str, seed: int, once: bool = False) -> list[tuple[float, int, str]]:
    """Batches asked together and told together; the sampler of trial `number` is seeded by (seed, number), or that of
    the first trial goes through all of them."""
    search = optuna.create_study(directions=["minimize", "maximize"])
    asked = []
    for start in range(0, TRIALS, BATCH):
        batch = []
        for number in range(start, start + BATCH):
            if not once or number == 0:
                own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
                with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
                    search.sampler = PLAIN[sampler](seed, own)
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
    for ended in RESTARTS if sampler != "gp" or seed in SEEDS[:2] else ():  # gp takes a while each time
        log = [_logged(checked, trial, over=i < ended) for i, trial in enumerate(whole[: -(-ended // BATCH) * BATCH])]
        again = ours(searches_of(checked, past_of(checked, log))[0])
        assert configs(again) == configs(whole[ended:]), f"after {ended} trials"
    assert [trial.id for trial in whole] == [slot.id for slot in expand(checked)]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_sampler_for_all_trials_draws_our_sobol_points_and_other_random_ones(seed: int) -> None:
    """What a plain seeded sampler gives that goes from trial to trial, as it does in most people's loops."""
    points, numbers = (configs(ours(searches_of(study(sampler, seed), {})[0])) for sampler in ("qmc", "random"))
    assert plain("qmc", seed, once=True) == points
    through = plain("random", seed, once=True)
    assert through[0] == numbers[0] and set(through[1:]).isdisjoint(numbers)


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
