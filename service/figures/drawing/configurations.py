"""Configurations of an arm: trials that differ in nothing but their seed, and the best of them by a metric.

Of trials with many points each place of their curves is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeGuard

from service.analysis import Interval, mean_interval
from service.analysis.candidates import metric_axis
from service.analysis.fronts import Key, key_of
from service.contract.metrics import ACCURACY, Goal, accuracies
from service.contract.wire.errors import Detail, InvalidInput
from service.contract.wire.events import Metrics, Where
from service.figures.drawing.style import title_of
from service.figures.drawing.trial_labels import config_label, point_label
from service.figures.figure import Control
from service.views.selectors import configurations, varied_keys
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
    where: Where | None = None  # on the curve of each of them, where they have many points


class AtPlace(NamedTuple):
    """What the trials of a configuration, but for failed ones, measured last at one place of their curves."""

    where: Where | None
    metrics: dict[str, Metrics]  # by trial


def finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def at_places(view: View, trials: Sequence[str]) -> list[AtPlace]:
    """Of a configuration; trials that are single points have one place, which is none of a curve."""
    places: dict[Key, AtPlace] = {}
    for trial_id in trials:
        trial = view.trials[trial_id]
        for where, metrics in trial.measured() if not trial.cut_short else ():
            places.setdefault(key_of("", where), AtPlace(where, {})).metrics[trial_id] = metrics
    return list(places.values())


def _at_one(view: View, trials: Sequence[str]) -> AtPlace:
    """By what learning curves show: the middle of the range of a trial with many points."""
    known = {trial: view.trials[trial] for trial in trials}
    return AtPlace(None, {i: trial.metrics for i, trial in known.items() if not trial.cut_short})


def final_value(trial: TrialView, metric: str, where: Where | None = None) -> float | None:
    """The last that it reported, at this place of its curve; a failed or stopped trial has none."""
    return None if trial.cut_short else trial.at(where).get(metric)


def best_of(view: View, arm: str, metric: str, goal: Goal = "maximize", along: bool = True) -> Best:
    """The best configuration of an arm so far; ties go to the one that was planned first.

    Chosen by the split that the study chooses by; the values are the metric's own. `along` curves, or only by what each
    trial reports over epochs.
    """
    best = best_by(view, arm, lambda metrics: choosing_value(view, metrics, metric), goal, along)
    finals = {trial: final_value(view.trials[trial], metric, best.where) for trial in best.values}
    own = {trial: value for trial, value in finals.items() if finite(value)}
    return best._replace(values=own, mean=mean_interval(list(own.values())))


def choosing_value(view: View, metrics: Metrics, metric: str) -> float | None:
    """What a trial is chosen by where this metric is shown."""
    name = view.study.chosen_by(metric)
    return metrics.get(name if name in metrics else metric)


def best_by(
    view: View, arm: str, score: Callable[[Metrics], float | None], goal: Goal = "maximize", along: bool = True
) -> Best:
    """The best by a score of what each trial measured; those without a finite one do not count."""
    measured: list[tuple[list[str], dict[str, float], Where | None]] = []
    for trials in configurations(view, arm):
        for where, metrics in at_places(view, trials) if along else [_at_one(view, trials)]:
            values = {trial: value for trial, own in metrics.items() if finite(value := score(own))}
            if values:
                measured.append((trials, values, where))
    if not measured and along:  # what is not measured along a curve is reported of the training as a whole
        return best_by(view, arm, score, goal, along=False)
    if not measured:
        return Best(arm, "", 0, [i for i, t in view.trials.items() if t.planned.arm == arm], {}, mean_interval([]))
    # One lucky seed must not beat a mean over many, so fewer seeds never win against more.
    sign = 1 if goal == "maximize" else -1
    trials, values, where = max(measured, key=lambda m: (len(m[1]), sign * sum(m[1].values()) / len(m[1])))
    config = config_label(view.trials[trials[0]].planned.config, varied_keys(view, arm))
    label = point_label(where, config) if len(measured) > 1 else ""
    return Best(arm, label, len(measured), trials, values, mean_interval(list(values.values())), where)


def best_of_arms(view: View, metric: str | None, along: bool = True) -> list[Best]:
    if metric is None:
        return [Best(arm.name, "", 0, [], {}, mean_interval([])) for arm in view.study.arms]
    return [best_of(view, arm.name, metric, along=along) for arm in view.study.arms]


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
