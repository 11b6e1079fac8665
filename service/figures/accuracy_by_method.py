"""Accuracy by method: per arm the mean over seeds of its best configuration, with a 95 % interval."""

from __future__ import annotations

from typing import NamedTuple

from service.analysis.candidates import chooser
from service.analysis.intervals import interval_words
from service.contract.metrics import ACCURACY, Kind, described
from service.contract.wire.events import TrialState
from service.contract.wire.plotly import PlotlyFigure
from service.contract.wording.chosen_split import Chooser, on_split
from service.contract.wording.numbers import number
from service.figures.drawing.bands import drawn_of_seeds
from service.figures.drawing.configurations import Best, accuracy_control, best_note, best_of_arms, chosen_accuracy
from service.figures.drawing.rows import Dot, Row, draw_rows
from service.figures.drawing.style import title_of
from service.figures.figure import Asked, Figure
from service.views.selectors import counts
from service.views.view import View


class AccuracyData(NamedTuple):
    metric: str | None
    arms: list[Best]
    seeds: dict[str, int]  # by trial
    training: int  # trials behind the figure that have not ended
    failed: int  # trials of the study that did not make it into the figure
    chooser: Chooser | None  # the split that chose among configurations


def accuracy_data(view: View, y: str | None) -> AccuracyData:
    metric = chosen_accuracy(view, y)
    arms = best_of_arms(view, metric)
    shown = [trial for arm in arms for trial in arm.values]
    return AccuracyData(
        metric,
        arms,
        {trial: view.trials[trial].planned.seed for trial in shown},
        sum(view.trials[trial].state in (TrialState.RUNNING, TrialState.PLANNED) for trial in shown),
        counts(view).failed,
        chooser(view),
    )


def mean_words(arm: Best, what: str, chooser: Chooser | None) -> str:
    """`accuracy 0.912 ± 0.011 over 3 seeds`, and how the configuration was chosen."""
    if arm.mean.mean is None:
        return ""
    return f"{what} {interval_words(arm.mean)}" + (
        f"<br>best of {arm.of}, chosen{on_split(chooser)}<br>{arm.label}" if arm.of > 1 else ""
    )


def seeds_words(arms: list[Best]) -> str:
    most = max((arm.mean.seeds for arm in arms), default=0)
    return drawn_of_seeds(most) + (", each seed below" if most > 1 else "")


def draw_accuracy(data: AccuracyData, revision: str) -> PlotlyFigure:
    title = title_of(data.metric) if data.metric else described(ACCURACY).label
    rows = [
        Row(
            arm.arm,
            best_note(arm),
            "",
            mean_words(arm, title, data.chooser),
            arm.mean,
            [Dot(trial, f"seed {data.seeds[trial]}: {number(value)}", value) for trial, value in arm.values.items()],
        )
        for arm in data.arms
    ]
    parts = [
        seeds_words(data.arms),
        f"best of several: chosen{on_split(data.chooser)}" if any(arm.of > 1 for arm in data.arms) else "",
        f"{data.training} still training" if data.training else "",
        f"{data.failed} failed, left out" if data.failed else "",
    ]
    x = {"title": {"text": f"{title}, test split"}, "zeroline": False, "automargin": True}
    empty = "" if data.metric else "No trial of this study reports an accuracy."
    return draw_rows(rows, x, (0.0, 1.0), " · ".join(filter(None, parts)), empty, revision)


def figure(asked: Asked) -> PlotlyFigure:
    return draw_accuracy(accuracy_data(asked.view, asked.y), asked.revision)


FIGURE = Figure(
    "accuracy-by-method",
    "Accuracy by method",
    "final accuracy (y) of each arm's best configuration, mean over seeds with its 95 % interval",
    "curves",
    (Kind.ACCURACY,),
    figure,
    accuracy_control,
)
