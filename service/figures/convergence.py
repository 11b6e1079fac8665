"""Convergence: per arm the epochs until a given accuracy is reached; who never reaches it is counted."""

from __future__ import annotations

import math
from typing import NamedTuple

from service.analysis import LEAST_SEEDS, Interval, mean_interval
from service.analysis.candidates import chooser
from service.contract.metrics import ACCURACY, EPOCH, Kind, described
from service.contract.wire.errors import Detail, InvalidInput
from service.contract.wire.plotly import PlotlyFigure
from service.contract.wording.chosen_split import Chooser, on_split
from service.contract.wording.numbers import setting, spread
from service.figures.drawing.bands import drawn_of_seeds
from service.figures.drawing.configurations import (
    Best,
    accuracy_control,
    best_note,
    best_of_arms,
    chosen_accuracy,
    finite,
)
from service.figures.drawing.rows import Dot, Row, draw_rows
from service.figures.drawing.style import title_of
from service.figures.drawing.trial_labels import AT_THE_MIDDLE
from service.figures.figure import Asked, Control, Figure
from service.views.selectors import has_curves
from service.views.trial import TrialView
from service.views.view import View

SHARE_OF_BEST = 0.95


class ArmEpochs(NamedTuple):
    best: Best
    reached: dict[str, int]  # first epoch at or above the threshold, by trial
    never: int  # ended below it
    pending: int  # below it so far

    @property
    def trials(self) -> int:
        return len(self.reached) + self.never + self.pending

    @property
    def mean(self) -> Interval:
        """Over all trials or not at all: without those that never reach it, the mean would flatter."""
        return mean_interval(list(self.reached.values()) if self.trials == len(self.reached) else [])


class ConvergenceData(NamedTuple):
    metric: str | None
    threshold: float | None
    given: bool
    arms: list[ArmEpochs]
    seeds: dict[str, int]
    every: int
    chooser: Chooser | None  # the split that chose among configurations
    curves: bool = False  # some trials have many points, of which the middle stands for all


def given_threshold(x: str | None) -> float | None:
    """The query's x as an accuracy."""
    if x is None:
        return None
    try:
        threshold = float(x)
    except ValueError:
        threshold = math.nan
    if not 0 < threshold <= 1:
        message = f"x must be an accuracy above 0 and at most 1, got {x!r}"
        raise InvalidInput(message, [Detail(path="x", message=message)])
    return threshold


def epochs_to_reach(trial: TrialView, metric: str, threshold: float) -> int | None:
    steps = ((report.get(EPOCH), report.get(metric)) for report in trial.reports)
    return min(
        (int(epoch) for epoch, value in steps if finite(epoch) and finite(value) and value >= threshold), default=None
    )


def arm_epochs(view: View, best: Best, metric: str, threshold: float) -> ArmEpochs:
    """The trials of an arm's best configuration, failed ones too; one that has not begun says nothing yet."""
    reached: dict[str, int] = {}
    never = pending = 0
    for trial_id in best.trials:
        trial = view.trials[trial_id]
        epochs = epochs_to_reach(trial, metric, threshold)
        if epochs is not None:
            reached[trial_id] = epochs
        elif trial.is_over:
            never += 1
        elif trial.reports:
            pending += 1
    return ArmEpochs(best, reached, never, pending)


def convergence_data(view: View, x: str | None, y: str | None) -> ConvergenceData:
    """Without a threshold: 95 % of the best arm's final mean."""
    metric, threshold = chosen_accuracy(view, y), given_threshold(x)
    bests = best_of_arms(view, metric, along=False)
    means = [best.mean.mean for best in bests if best.mean.mean is not None]
    if threshold is None and means:
        threshold = SHARE_OF_BEST * max(means)
    arms = [
        arm_epochs(view, best, metric, threshold)
        if metric is not None and threshold is not None
        else ArmEpochs(best, {}, 0, 0)
        for best in bests
    ]
    seeds = {trial: view.trials[trial].planned.seed for arm in arms for trial in arm.reached}
    every = view.study.evaluation.every
    return ConvergenceData(metric, threshold, x is not None, arms, seeds, every, chooser(view), has_curves(view))


def remark(arm: ArmEpochs) -> str:
    """`never: 2 of 5`."""
    counts = (("never", arm.never), ("not yet", arm.pending))
    return ", ".join(f"{word}: {count} of {arm.trials}" for word, count in counts if count)


def _accuracy(chooser: Chooser | None) -> str:
    return f"final accuracy{on_split(chooser)}"


def _hover(arm: ArmEpochs, chooser: Chooser | None) -> str:
    mean, half, seeds, low, high = arm.mean
    if mean is None:
        return ""
    words = f"{spread(mean, half, low, high)} epochs" + {1: "", 2: ", two seeds"}.get(seeds, f" over {seeds} seeds")
    return words + (f"<br>best of {arm.best.of} by {_accuracy(chooser)}<br>{arm.best.label}" if arm.best.of > 1 else "")


def draw_convergence(data: ConvergenceData, revision: str) -> PlotlyFigure:
    title = title_of(data.metric) if data.metric else described(ACCURACY).label
    threshold = "" if data.threshold is None else setting(data.threshold)
    rows = [
        Row(
            arm.best.arm,
            best_note(arm.best),
            remark(arm),
            _hover(arm, data.chooser),
            arm.mean,
            [Dot(trial, f"seed {data.seeds[trial]}: {epochs}", epochs) for trial, epochs in arm.reached.items()],
        )
        for arm in data.arms
    ]
    most = max((arm.trials for arm in data.arms), default=0)
    spread = drawn_of_seeds(most) if most < LEAST_SEEDS else "mean, 95 % interval where all seeds reach it"
    parts = [
        f"{threshold} is 95 % of the best arm's mean" if threshold and not data.given else "",
        spread if most else "",
        f"best of several by {_accuracy(data.chooser)}" if any(arm.best.of > 1 for arm in data.arms) else "",
        f"measured every {data.every} epochs" if data.every > 1 else "",
        AT_THE_MIDDLE if data.curves else "",
    ]
    x = {"title": {"text": f"epochs to {title} {threshold}".strip()}, "rangemode": "tozero", "zeroline": False}
    if data.metric is None:
        empty = "No trial of this study reports an accuracy."
    else:
        empty = f"No trial has reached {title} {threshold}." if any(arm.trials for arm in data.arms) else ""
    return draw_rows(rows, x, (0.0, math.inf), " · ".join(filter(None, parts)), empty, revision)


def figure(asked: Asked) -> PlotlyFigure:
    return draw_convergence(convergence_data(asked.view, asked.x, asked.y), asked.revision)


def controls(view: View) -> list[Control]:
    return [Control("x", "at least", "number", [], ""), *accuracy_control(view)]


FIGURE = Figure(
    "convergence",
    "Convergence",
    "epochs until each arm reaches an accuracy (y) of at least x; none given: 95 % of the best arm's",
    "curves",
    (Kind.ACCURACY,),
    figure,
    controls,
)
