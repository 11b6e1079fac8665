"""Configurations of an arm: trials that differ in nothing but their seed, and the best of them by a metric."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import NamedTuple, TypeGuard

from service.analysis import Interval, mean_interval
from service.analysis.candidates import metric_axis
from service.contract.metrics import ACCURACY, Goal, accuracies
from service.contract.wire.errors import Detail, InvalidInput
from service.contract.wire.events import TrialState
from service.figures.drawing.style import title_of
from service.figures.drawing.trial_labels import config_label
from service.figures.figure import Control
from service.views.selectors import varied_keys
from service.views.trial import TrialView
from service.views.view import View


class Best(NamedTuple):
    """An arm's best configuration: the best mean over seeds, among those with the most seeds."""

    arm: str
    label: str  # what tells it from the arm's others, empty when there are none
    of: int  # configurations to choose from
    trials: list[str]  # all of this configuration, with and without a value; of the arm while none has one
    values: dict[str, float]  # the last finite value of each that did not fail
    mean: Interval


def finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def configurations(view: View, arm: str) -> list[list[str]]:
    """Trial ids by configuration, in the order of the plan."""
    groups: dict[str, list[str]] = {}
    for trial_id, trial in view.trials.items():
        if trial.planned.arm == arm:
            key = json.dumps(trial.planned.config, sort_keys=True, default=str)
            groups.setdefault(key, []).append(trial_id)
    return list(groups.values())


def final_value(trial: TrialView, metric: str) -> float | None:
    """The last that it reported; a failed trial has none."""
    return None if trial.state is TrialState.FAILED else trial.metrics.get(metric)


def best_of(view: View, arm: str, metric: str, goal: Goal = "maximize") -> Best:
    """The best configuration of an arm so far; ties go to the one that was planned first.

    Chosen by the split that the study chooses by; the values are the metric's own.
    """
    best = best_by(view, arm, lambda trial: choosing_value(view, trial, metric), goal)
    own = {trial: value for trial in best.values if finite(value := final_value(view.trials[trial], metric))}
    return best._replace(values=own, mean=mean_interval(list(own.values())))


def choosing_value(view: View, trial: TrialView, metric: str) -> float | None:
    """What a trial is chosen by where this metric is shown."""
    name = view.study.chosen_by(metric)
    return final_value(trial, name if name in trial.metrics else metric)


def best_by(view: View, arm: str, score: Callable[[TrialView], float | None], goal: Goal = "maximize") -> Best:
    """The best by a score of each trial; those without a finite one do not count."""
    measured: list[tuple[list[str], dict[str, float]]] = []
    for trials in configurations(view, arm):
        scores = {trial: score(view.trials[trial]) for trial in trials}
        values = {trial: value for trial, value in scores.items() if finite(value)}
        if values:
            measured.append((trials, values))
    if not measured:
        return Best(arm, "", 0, [i for i, t in view.trials.items() if t.planned.arm == arm], {}, mean_interval([]))
    # One lucky seed must not beat a mean over many, so fewer seeds never win against more.
    sign = 1 if goal == "maximize" else -1
    trials, values = max(measured, key=lambda m: (len(m[1]), sign * sum(m[1].values()) / len(m[1])))
    label = config_label(view.trials[trials[0]].planned.config, varied_keys(view, arm)) if len(measured) > 1 else ""
    return Best(arm, label, len(measured), trials, values, mean_interval(list(values.values())))


def best_of_arms(view: View, metric: str | None) -> list[Best]:
    none = mean_interval([])
    return [
        best_of(view, arm.name, metric) if metric else Best(arm.name, "", 0, [], {}, none) for arm in view.study.arms
    ]


def chosen_accuracy(view: View, y: str | None) -> str | None:
    """The accuracy asked for, else the study's first; none when the study has no accuracy."""
    known = accuracies(view.metrics)
    if y is None:
        return ACCURACY if ACCURACY in known else next(iter(known), None)
    name = metric_axis(view, y, "y").metric
    if name not in known:
        message = f"y must be an accuracy, got {y!r}; known: {', '.join(known) or 'none'}"
        raise InvalidInput(message, [Detail(path="y", message=message)])
    return name


def accuracy_control(view: View) -> list[Control]:
    """Which accuracy; nothing to choose where there is only one."""
    known = [(name, title_of(name)) for name in accuracies(view.metrics)]
    return [Control("y", "of", "metric", known, chosen_accuracy(view, None) or "")] if len(known) > 1 else []


def best_note(arm: Best) -> str:
    return f"best of {arm.of}" if arm.of > 1 else ""
