"""Optuna's samplers and suggestions, from the contract's names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from optuna import samplers
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.trial import FrozenTrial, Trial, create_trial

from service.contract.methods.searches import OptunaSearch, ToldTrial
from service.contract.parameters.axes import Choice, Searched

STARTUP = 6  # random trials before TPE has densities, or GP a surface; fewer misled short searches, more were wasted


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
    startup = max(STARTUP, search.batch_of(trials))
    if search.sampler == "gp":
        return samplers.GPSampler(n_startup_trials=startup, seed=own, warn_independent_sampling=False)
    if search.sampler == "tpe":
        return samplers.TPESampler(n_startup_trials=startup, multivariate=True, constant_liar=True, seed=own)
    with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
        if search.sampler == "nsga3":
            return samplers.NSGAIIISampler(population_size=search.population_of(trials), seed=own)
        # Before any result it draws by itself; with one generator for all such trials they would have one value.
        first = samplers.RandomSampler(seed=own if number else seed)
        return samplers.QMCSampler(scramble=True, seed=seed, independent_sampler=first, warn_independent_sampling=False)


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


def distribution_of(axis: Searched) -> BaseDistribution:
    """Where `draw` draws from."""
    if isinstance(axis, Choice):
        return CategoricalDistribution(axis.choice)
    low, high = axis.ends()
    log = axis.range.scale == "log"
    return (
        IntDistribution(int(low), int(high), log=log) if axis.range.integer else FloatDistribution(low, high, log=log)
    )


class Parameter(NamedTuple):
    """One of Optuna's, by the key that a trial's configuration has for it."""

    key: str
    axis: Searched


def told_trial(told: ToldTrial, space: Mapping[str, Parameter]) -> FrozenTrial:
    """A trial of an earlier study as Optuna keeps one. To evolution it is one of the first generation."""
    generations = {f"{kind.__name__}:generation": 0 for kind in (samplers.NSGAIISampler, samplers.NSGAIIISampler)}
    return create_trial(
        params={name: told.values[own.key] for name, own in space.items()},
        distributions={name: distribution_of(own.axis) for name, own in space.items()},
        values=told.objectives,
        system_attrs={**generations, **{f"constraints:{i}": excess for i, excess in enumerate(told.excesses)}},
    )
