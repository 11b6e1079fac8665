"""Parameter importance: the share of a metric's variance that each parameter explains by itself."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from service.analysis.collinear import joint, varying_together
from service.analysis.variance import ARM, LEAST_TRIALS, Explained, explained
from service.contract.wire.plotly import PlotlyFigure
from service.contract.wording.numbers import percent, plural
from service.contract.wording.palette import arm_style
from service.figures.drawing.choices import chosen_metric, judged, metric_control, one_of
from service.figures.drawing.configurations import final_value, finite
from service.figures.drawing.hover import hover
from service.figures.drawing.style import TRUTH_COLOUR, layout, short, title_of
from service.figures.drawing.trial_labels import AT_THE_MIDDLE, joint_labels
from service.figures.drawing.varied_parameters import simplex_keys, varies
from service.figures.figure import Asked, Control, Figure
from service.views.selectors import varied_by_arm
from service.views.view import View

ALL = "*"
REST = "seed and interactions"
TICK_WIDTH = 18


class ImportanceData(NamedTuple):
    metric: str
    arm: int | None  # its place in the study; none: all arms
    name: str  # of the arm
    trials: int  # with a value
    explained: Explained | None
    constant: bool  # the metric does not vary
    curves: bool = False  # some trials have many points, of which the middle stands for all


def _options(view: View) -> list[tuple[str, str]]:
    """All arms, and each in which something varies."""
    names = [arm.name for arm in view.study.arms]
    varied = varied_by_arm(view)
    return ([(ALL, "all arms")] if len(names) > 1 else []) + [(n, n) for n in names if varied[n] or len(names) == 1]


def importance_data(view: View, y: str | None, arm: str | None) -> ImportanceData:
    """Of the last values of trials that did not fail; a parameter that an arm does not have varies nothing there.

    Parameters that vary together are one: apart, each would explain nothing, and what they do would go to the rest.
    """
    metric, options = chosen_metric(view, y), _options(view)
    chosen = one_of(arm, options, "arm", options[0][0])
    names = [a.name for a in view.study.arms]
    varied = varied_by_arm(view)
    keys = set().union(*varied.values()) if chosen == ALL else varied[chosen]
    finals = (
        (trial.planned, final_value(trial, metric))
        for trial in view.trials.values()
        if chosen in (ALL, trial.planned.arm)
    )
    rows = [(planned, value) for planned, value in finals if finite(value)]
    known = dict.fromkeys(key for planned, _ in rows for key in planned.config if key in keys)
    columns = {key: [planned.config.get(key) for planned, _ in rows] for key in known}
    arms, values = [planned.arm for planned, _ in rows], [value for _, value in rows]
    groups = varying_together(columns, arms, simplex_keys(view.study))
    parameters = {name: joint([columns[key] for key in group]) for name, group in joint_labels(groups).items()}
    shares = explained(values, parameters, arms)
    place = None if chosen == ALL else names.index(chosen)
    curves = any(trial.points for trial in view.trials.values() if chosen in (ALL, trial.planned.arm))
    return ImportanceData(metric, place, chosen, len(rows), shares, len(set(values)) == 1, curves)


def _words(data: ImportanceData, shares: Explained) -> list[str]:
    words = [
        f"{effect.name}: {percent(effect.share)} ({percent(effect.low)} … {percent(effect.high)})<br>{effect.levels} "
        + ("bins of equal counts" if effect.binned else "arms" if effect.name == ARM else "values")
        for effect in shares.effects
    ]
    return [*words, f"{percent(shares.rest)} by no single parameter"]


def _subtitle(data: ImportanceData, shares: Explained | None) -> str:
    if shares is None:
        return plural(data.trials, "trial")
    binned = [effect.name for effect in shares.effects if effect.binned]
    parts = [
        "main effects (ε² of an analysis of variance)" + (", parameters within arms" if data.arm is None else ""),
        plural(shares.trials, "trial"),
        "bars: 95 %, bootstrap over trials, always the same draws",
        f"{', '.join(binned)} in bins of equal counts" if binned else "",
        AT_THE_MIDDLE if data.curves else "",
    ]
    return " · ".join(filter(None, parts))


def _empty(data: ImportanceData) -> str:
    """Why nothing is explained."""
    if data.trials < LEAST_TRIALS:
        return f"Too few trials: {data.trials} of the {LEAST_TRIALS} that are needed." if data.trials else ""
    if data.constant:
        return f"{title_of(data.metric)} is the same in all {data.trials} trials."
    return "Too few trials for this many values: each value must be tried more than once."


def _summary(data: ImportanceData, shares: Explained) -> str:
    """`91 % of the variance of accuracy is explained by β (86 % to 95 %), 7 % by no single parameter.`"""
    if not shares.effects:
        return ""
    most = max(shares.effects, key=lambda effect: short(effect.share))  # the first of equal ones
    return (
        f"{percent(most.share)} of the variance of {title_of(data.metric)} is explained by {most.name} "
        f"({percent(most.low)} to {percent(most.high)}), {percent(shares.rest)} by no single parameter."
    )


def wrapped(name: str) -> str:
    """A row's name in lines that leave room for its bar."""
    return "<br>".join(textwrap.wrap(name, TICK_WIDTH, max_lines=3, placeholder=" …"))


def draw_importance(data: ImportanceData, revision: str) -> PlotlyFigure:
    shares = data.explained
    effects = shares.effects if shares else []
    rest = shares.rest if shares else 0.0
    names = [effect.name for effect in effects] + ([REST] if shares else [])
    colour = TRUTH_COLOUR if data.arm is None else arm_style(data.arm)[0]
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": "all arms" if data.arm is None else data.name,
        "showlegend": False,
        "x": [short(effect.share) for effect in effects] + ([short(rest)] if shares else []),
        "y": list(range(len(names))),
        "width": 0.5,
        **hover(_words(data, shares) if shares else [], beside=""),
        "textposition": "none",
        "marker": {"color": colour, "opacity": [0.45] * len(effects) + [0.2] * bool(shares)},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [short(max(0.0, effect.high - effect.share)) for effect in effects],
            "arrayminus": [short(max(0.0, effect.share - effect.low)) for effect in effects],
            "thickness": 1.5,
            "width": 4,
            "color": colour,
        },
    }
    x = {
        "title": {"text": f"share of the variance of {title_of(data.metric)}"},
        "range": [0, 1.05],
        "tickvals": [0, 0.25, 0.5, 0.75, 1],
        "ticktext": ["0", "25 %", "50 %", "75 %", "100 %"],
        "zeroline": False,
    }
    y = {
        "title": {"text": ""},
        "tickvals": list(range(len(names))),
        "ticktext": [wrapped(name) for name in names],
        "range": [max(len(names), 1) - 0.4, -0.6],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }
    summary = _summary(data, shares) if shares else ""
    drawing = layout(x, y, _subtitle(data, shares), revision, summary=summary, empty="" if shares else _empty(data))
    return {"data": [bars], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_importance(importance_data(asked.view, asked.y, asked.arms[0] if asked.arms else None), asked.revision)


def controls(view: View) -> list[Control]:
    options = _options(view)
    arms = [Control("arm", "in", "choice", options, options[0][0])] if len(options) > 1 else []
    return [metric_control(view, judged(view)), *arms]


FIGURE = Figure(
    "importance",
    "Parameter importance",
    "the share of a metric's variance (y) that each parameter explains by itself, those that vary together as one row",
    "sensitivity",
    (),
    figure,
    controls,
    varies,
)
