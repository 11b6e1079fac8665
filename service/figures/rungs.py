"""Rungs: how many trials of each arm trained to which epoch, and who stopped where they were compared."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from service.contract.metrics import EPOCH, described
from service.contract.study.study import Study
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.numbers import percent, plural
from service.contract.wording.palette import arm_style
from service.figures.drawing.hover import hover
from service.figures.drawing.style import layout
from service.figures.drawing.trial_labels import labels_of
from service.figures.figure import Asked, Figure
from service.views.trial import TrialView
from service.views.view import View


class Step(NamedTuple):
    """So many trials had not ended before the epoch, and so many of them stopped there."""

    epoch: int
    trials: int
    stopped: int


class Left(NamedTuple):
    """A trial that stopped at a rung; `remaining` had not left before it, the last in the order first."""

    trial: str
    label: str
    epoch: int
    remaining: int
    reason: str


class ArmRungs(NamedTuple):
    name: str
    steps: list[Step]  # from the first epoch on: rungs that were reached, and the furthest that any trial is
    left: list[Left]


class RungsData(NamedTuple):
    arms: list[ArmRungs]
    trained: int  # epochs, of all trials together
    planned: int  # what they would be had none stopped


def rungs_data(view: View) -> RungsData:
    trials, arms = list(view.trials.values()), []
    for arm in view.study.arms:
        steps = _steps([trial for trial in trials if trial.planned.arm == arm.name])
        arms.append(ArmRungs(arm.name, steps, _left(view, arm.name, steps)))
    return RungsData(arms, sum(trial.epoch for trial in trials), sum(trial.planned.training.epochs for trial in trials))


def _steps(trials: Sequence[TrialView]) -> list[Step]:
    epochs = [trial.epoch for trial in trials]
    cuts = [trial.stopped_after for trial in trials]
    places = sorted({epoch for epoch in (*cuts, max(epochs, default=0)) if epoch})
    # A trial that is behind the furthest of its arm has not left: it is in a cohort that trains later.
    left = [trial.epoch if trial.is_over else inf for trial in trials]
    steps = [Step(place, sum(epoch >= place for epoch in left), cuts.count(place)) for place in places]
    return [Step(0, len(trials), 0), *steps] if steps else []


def _left(view: View, arm: str, steps: Sequence[Step]) -> list[Left]:
    """Those that were ahead are told of first, so they are the last to go."""
    stopped = [own for own in view.ended if view.trials[own].planned.arm == arm and view.trials[own].stopped_after]
    labels, left = labels_of(view, stopped), []
    for step in steps:
        there = [trial for trial in stopped if view.trials[trial].stopped_after == step.epoch]
        for i, trial in enumerate(reversed(there)):
            reason = view.trials[trial].reason or "stopped"
            left.append(Left(trial, labels[trial], step.epoch, step.trials - i, reason))
    return left


def draw_rungs(data: RungsData, revision: str) -> PlotlyFigure:
    x = {"title": {"text": described(EPOCH).label}, "rangemode": "tozero", "zeroline": False}
    y = {"title": {"text": "trials in training"}, "rangemode": "tozero", "zeroline": False}
    stopped = sum(step.stopped for arm in data.arms for step in arm.steps)
    shown = any(arm.steps for arm in data.arms)
    said = f"{plural(stopped, 'trial')} stopped; {percent(data.trained / data.planned)} of all epochs trained"
    empty = "Steps appear with the first report."
    drawing = layout(x, y, said if shown else "", revision, summary=said if shown else "no trial yet", empty=empty)
    traces = [trace for i, arm in enumerate(data.arms) for trace in (_counts(arm, i), _stopped(arm, i))]
    return {"data": traces, "layout": drawing}


def _counts(arm: ArmRungs, index: int) -> Trace:
    """Down at each rung: two points there, before and after."""
    colour, symbol = arm_style(index)
    places: list[tuple[int, int, str]] = []
    for step in arm.steps:
        words = f"{arm.name}, epoch {step.epoch}: {plural(step.trials, 'trial')}"
        places.append((step.epoch, step.trials, words))
        if step.stopped:
            after = step.trials - step.stopped
            places.append((step.epoch, after, f"{words}, of which {step.stopped} stopped and {after} went on"))
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": arm.name,
        "legendgroup": arm.name,
        "x": [epoch for epoch, _, _ in places],
        "y": [count for _, count, _ in places],
        **hover(words for _, _, words in places),
        "line": {"color": colour},
        "marker": {"color": colour, "symbol": symbol},
    }


def _stopped(arm: ArmRungs, index: int) -> Trace:
    """A hollow mark of the arm for each trial that left, one below the other."""
    colour, symbol = arm_style(index)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": arm.name,
        "legendgroup": arm.name,
        "showlegend": False,
        "x": [own.epoch for own in arm.left],
        "y": [own.remaining for own in arm.left],
        **hover(f"{own.label}<br>{own.reason}" for own in arm.left),
        "customdata": [own.trial for own in arm.left],
        "marker": {"color": colour, "symbol": f"{symbol}-open", "size": 9},
    }


def figure(asked: Asked) -> PlotlyFigure:
    return draw_rungs(rungs_data(asked.view), asked.revision)


def _stops(study: Study) -> bool:
    return study.stopping is not None


FIGURE = Figure(
    "rungs",
    "Trials that stopped early",
    "how many trials of each arm trained to which epoch, and which of them stopped at each rung (hollow)",
    "runs",
    (),
    figure,
    applies=_stops,
)
