"""What the log already has of a search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from service.contract.study.expansion import searched_keys
from service.contract.study.outcomes import objective_values
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from service.contract.wire.events import Setting, TrialState


class Past(NamedTuple):
    """A slot's suggested values; whether it is over, and what it reached (none: it failed or collapsed)."""

    values: dict[str, Setting]
    over: bool
    objectives: list[float] | None


def past_of(study: Study, trials: Iterable[KnownTrial]) -> dict[str, Past]:
    """By id, from the service's trials: those of search arms that have their values or are over."""
    keys = searched_keys(study)
    past: dict[str, Past] = {}
    for trial in trials:
        shown = ((key, trial.config.get(key)) for key in keys.get(trial.arm, ()))
        values = {key: value for key, value in shown if isinstance(value, (bool, int, float, str))}
        if trial.arm in keys and (values or trial.state.is_over()):
            finished = trial.state is TrialState.FINISHED
            reached = objective_values(trial.metrics, study.choosing) if finished else None
            past[trial.id] = Past(values, trial.state.is_over(), reached)
    return past
