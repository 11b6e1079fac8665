"""What the log already has of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from service.contract.study.expansion import searched_keys
from service.contract.study.outcomes import excesses, objective_values
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from service.contract.wire.events import Setting, TrialState


class Reached(NamedTuple):
    """What a search is told of a trial that has ended."""

    objectives: list[float] | None
    excesses: Sequence[float] = ()


def reached_by(study: Study, metrics: Mapping[str, float | None] | None) -> Reached:
    """By what chooses. No objectives when it failed or collapsed, or lacks one or what a constraint asks for."""
    if metrics is None:
        return Reached(None)
    objectives, broken = objective_values(metrics, study.choosing), excesses(metrics, study.bounds)
    return Reached(None) if objectives is None or broken is None else Reached(objectives, tuple(broken))


class Past(NamedTuple):
    """A slot's suggested values; whether it is over, and what it reached (none: it failed or collapsed)."""

    values: dict[str, Setting]
    over: bool
    objectives: list[float] | None
    excesses: Sequence[float] = ()  # by how much it breaks each constraint, 0 or less where it keeps it


def past_of(study: Study, trials: Iterable[KnownTrial]) -> dict[str, Past]:
    """By id, from the service's trials: those of search arms that have their values or are over.

    Where the study may have enough, also those of grids.
    """
    keys = searched_keys(study)
    asked = {arm.name for arm in study.arms} if study.limits.gain is not None else set(keys)
    past: dict[str, Past] = {}
    for trial in trials:
        shown = ((key, trial.config.get(key)) for key in keys.get(trial.arm, ()))
        values = {key: value for key, value in shown if isinstance(value, (bool, int, float, str))}
        if trial.arm in asked and (values or trial.state.is_over()):
            finished = trial.state is TrialState.FINISHED
            reached = reached_by(study, trial.metrics if finished else None)
            past[trial.id] = Past(values, trial.state.is_over(), *reached)
    return past
