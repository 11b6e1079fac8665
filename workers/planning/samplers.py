"""Optuna's samplers and suggestions, from the contract's names."""

from __future__ import annotations

import warnings

import numpy as np
from optuna import samplers
from optuna.exceptions import ExperimentalWarning
from optuna.trial import Trial

from service.contract.methods.searches import OptunaSearch
from service.contract.study.axes import Choice, Searched

STARTUP = 6  # random trials before TPE has densities; fewer misled short searches, more were wasted


def build(search: OptunaSearch, trials: int, seed: int, number: int) -> samplers.BaseSampler:
    """The sampler for one trial, by its number, in a search of so many.

    Each trial has its own generator, so that suggestions follow from the results so far alone, not from how often
    the driver was started. Only the Sobol sequence is one for the whole search.
    """
    own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
    if search.sampler == "random":
        return samplers.RandomSampler(seed=own)
    if search.sampler == "nsga2":
        return samplers.NSGAIISampler(population_size=search.population_of(trials), seed=own)
    if search.sampler == "tpe":
        startup = max(STARTUP, search.batch_of(trials))
        return samplers.TPESampler(n_startup_trials=startup, multivariate=True, constant_liar=True, seed=own)
    with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
        return samplers.QMCSampler(scramble=True, seed=seed, warn_independent_sampling=False)


def draw(trial: Trial, key: str, axis: Searched) -> None:
    """Have the trial's value of this key suggested."""
    if isinstance(axis, Choice):
        trial.suggest_categorical(key, axis.choice)
        return
    low, high = axis.ends()
    log = axis.range.scale == "log"
    if axis.range.integer:
        trial.suggest_int(key, int(low), int(high), log=log)
    else:
        trial.suggest_float(key, low, high, log=log)
