"""Parallel coordinates: a line per trial through what varies and what came of it; of many points a line for each."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from service.contract.metrics import ACCURACY
from service.contract.wire.events import Metrics, TrialState, Where
from service.contract.wire.plotly import Layout, PlotlyFigure
from service.contract.wording.numbers import plural
from service.contract.wording.palette import arm_style
from service.figures.drawing.configurations import finite
from service.figures.drawing.coordinates import Coordinate, coordinate
from service.figures.drawing.style import layout, title_of
from service.figures.drawing.trial_labels import key_labels
from service.figures.drawing.varied_parameters import BETA, covers_betas, finds_beta, found_words, value_of, varies
from service.figures.figure import Asked, Figure
from service.views.selectors import varied_by_arm
from service.views.trial import TrialView
from service.views.view import View

MOST_AXES = 12
MOST_LINES = 2_000
NAME_WIDTH = 18
FEW_AXES, LABEL_ANGLE = 4, -25  # names of more axes would cover each other


class Line(NamedTuple):
    """A trial, or one of its many points."""

    id: str
    trial: TrialView
    where: Where | None
    metrics: Metrics


class CoordinatesData(NamedTuple):
    trials: list[str]  # of each line
    arms: list[int]  # of each line
    names: list[str]  # of the arms
    axes: list[Coordinate]
    more_axes: int  # parameters that have no axis
    without: int  # trials that lack a value
    hidden: int  # lines that are not shown because there are too many
    own_betas: list[str]  # arms whose β is where their weights ended
    curves: int = 0  # trials that have many lines


def _metrics(view: View) -> list[str]:
    """The objectives, and accuracy where there is one."""
    wanted = [objective.metric for objective in view.study.objectives]
    return list(dict.fromkeys([*wanted, *([ACCURACY] if ACCURACY in view.metrics else [])]))


def _keys(view: View) -> list[str]:
    """What varies within some arm, in the order of the trials' configurations."""
    varied = set().union(*varied_by_arm(view).values())
    if BETA not in varied and any(map(covers_betas, view.study.arms)):
        return [BETA, *_varied(view, varied)]
    return _varied(view, varied)


def _varied(view: View, varied: set[str]) -> list[str]:
    return list(dict.fromkeys(k for t in view.trials.values() for k in t.planned.config if k in varied))


def _lines(trial_id: str, trial: TrialView, metrics: list[str]) -> list[Line]:
    """A line for each place that has all of the metrics."""
    measured = trial.measured() if not trial.cut_short else []
    return [Line(trial_id, trial, *own) for own in measured if all(finite(own.metrics.get(m)) for m in metrics)]


def coordinates_data(view: View) -> CoordinatesData:
    """A parameter that an arm does not have lies at `none`, a β that it found where its weights ended; a trial without
    a result has no line.
    """
    metrics, keys = _metrics(view), _keys(view)
    names = [arm.name for arm in view.study.arms]
    many_arms = len(names) > 1
    room = MOST_AXES - len(metrics) - many_arms
    begun = [trial for trial, t in view.trials.items() if t.reports or t.state is TrialState.FAILED]
    by_trial = [_lines(trial, view.trials[trial], metrics) for trial in begun]
    complete = [line for own in by_trial for line in own]
    # Ids are hashes: the smallest are an even sample that stays as trials come.
    order = sorted(range(len(complete)), key=lambda i: complete[i].id.rpartition("/")[2])
    lines = [complete[i] for i in sorted(order[:MOST_LINES])]
    axes = []
    if many_arms:
        axes.append(coordinate("arm", [line.trial.planned.arm for line in lines]))
    labels = key_labels(keys)
    by_name = {arm.name: arm for arm in view.study.arms}
    owners = [by_name[line.trial.planned.arm] for line in lines]
    values = {
        key: [value_of(arm, line.trial, key, line.where) for arm, line in zip(owners, lines, strict=True)]
        for key in keys[:room]
    }
    axes += [coordinate(labels[key], column) for key, column in values.items()]
    own_betas = [arm.name for arm, beta in zip(owners, values.get(BETA, []), strict=False) if finds_beta(arm) and beta]
    axes += [coordinate(title_of(metric), [line.metrics[metric] for line in lines]) for metric in metrics]
    places = {name: i for i, name in enumerate(names)}
    return CoordinatesData(
        [line.id for line in lines],
        [places[line.trial.planned.arm] for line in lines],
        names,
        axes if lines else [],
        max(0, len(keys) - room),
        sum(not own for own in by_trial),
        len(complete) - len(lines),
        list(dict.fromkeys(own_betas)),
        sum(len(own) > 1 for own in by_trial),
    )


def colours_of(arms: int) -> list[tuple[float, str]]:
    """A colour scale of steps, one per arm."""
    return [(end, arm_style(i)[0]) for i in range(arms) for end in (i / arms, (i + 1) / arms)]


def _dimension(axis: Coordinate) -> Layout:
    return {
        "label": axis.label,
        "values": axis.places,
        "range": list(axis.range),
        "tickvals": [place for place, _ in axis.ticks],
        "ticktext": [textwrap.shorten(word, NAME_WIDTH, placeholder=" …") for _, word in axis.ticks],
    }


def _subtitle(data: CoordinatesData) -> str:
    parts = [
        f"a line per {'point' if data.curves else 'trial'}, coloured by arm" if data.trials else "",
        plural(len(set(data.trials)), "trial") if data.trials else "",
        found_words(data.own_betas),
        f"{data.without:,} without a value on every axis left out" if data.without else "",
        f"{data.hidden:,} more not shown" if data.hidden else "",
        f"{data.more_axes} more parameters vary" if data.more_axes else "",
        "drag along an axis to choose" if data.trials else "",
    ]
    return " · ".join(filter(None, parts))


def draw_coordinates(data: CoordinatesData, revision: str) -> PlotlyFigure:
    summary = (
        f"{plural(len(set(data.trials)), 'trial')} over {', '.join(axis.label for axis in data.axes)}."
        if data.axes
        else ""
    )
    flat = layout({}, {}, _subtitle(data), revision, summary=summary)
    drawing = {key: value for key, value in flat.items() if key not in ("xaxis", "yaxis")}
    drawing["margin"] = {"l": 72, "r": 48, "t": 56, "b": 24}
    drawing["meta"]["trials"] = data.trials
    lines = {
        "type": "parcoords",
        "line": {
            "color": data.arms,
            "colorscale": [list(step) for step in colours_of(len(data.names))],
            "cmin": -0.5,
            "cmax": len(data.names) - 0.5,
            "showscale": False,
        },
        "dimensions": [_dimension(axis) for axis in data.axes],
        "labelside": "top",
        "labelangle": LABEL_ANGLE if len(data.axes) > FEW_AXES else 0,
    }
    return {"data": [lines], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_coordinates(coordinates_data(asked.view), asked.revision)


FIGURE = Figure(
    "parallel-coordinates",
    "Parallel coordinates",
    "a line per trial through the parameters that vary, the objectives and accuracy",
    "sensitivity",
    (),
    figure,
    applies=varies,
)
