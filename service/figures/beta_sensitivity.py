"""β sensitivity: a metric against a parameter; arms that find their β where they ended, arms without as a band."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from service.analysis import Axis, Interval, mean_interval
from service.analysis.candidates import chooser, metric_axis
from service.analysis.intervals import interval_words
from service.contract.methods.searches import OptunaSearch
from service.contract.study.study import Study
from service.contract.wire.events import TrialState
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.chosen_split import Chooser, on_split
from service.contract.wording.keys import key_label
from service.contract.wording.numbers import number, setting
from service.contract.wording.palette import arm_style
from service.figures.drawing.bands import (
    across,
    bars,
    bounds_of,
    drawn_of_seeds,
    ends,
    legend_rank,
    ribbon,
)
from service.figures.drawing.choices import chosen_metric, judged, metric_control, one_of
from service.figures.drawing.configurations import Best, best_of, finite
from service.figures.drawing.hover import hover
from service.figures.drawing.style import LOG_WHEN_RATIO, axis_layout, layout, short, title_of
from service.figures.drawing.varied_parameters import (
    BETA,
    covers_betas,
    finds_beta,
    found_words,
    is_number,
    numeric_keys,
    value_of,
)
from service.figures.figure import Asked, Control, Figure
from service.views.selectors import configurations, counts, varied_keys
from service.views.trial import Measured
from service.views.view import View

MOST_BARS = 40  # per arm; more are an area
MOST_DOTS = 2_000  # single trials below their means


class Dot(NamedTuple):
    trial: str
    seed: int
    value: float  # of the parameter
    metric: float


class Level(NamedTuple):
    """One value of the parameter: the metric there, mean over seeds."""

    value: float
    metric: Interval


class ArmLevels(NamedTuple):
    name: str
    searched: bool  # values of a search are all different: each trial is a point of its own
    levels: list[Level]
    dots: list[Dot]
    best: Best | None  # of an arm that does not have the parameter
    own_beta: bool = False  # its β is where its weights ended, and a level is a configuration at the mean of its βs
    zero: Interval | None = None  # of an arm that has it at 0 alone, where the axis is logarithmic


class SensitivityData(NamedTuple):
    key: str | None
    axis: Axis
    arms: list[ArmLevels]
    others: bool  # other parameters vary too: means go over them
    training: int
    failed: int
    chooser: Chooser | None  # the split that chose among configurations


def _levels(dots: list[Dot]) -> list[Level]:
    """Per value the mean over seeds of what each seed has there on average."""
    by_value: dict[float, dict[int, list[float]]] = {}
    for dot in dots:
        by_value.setdefault(dot.value, {}).setdefault(dot.seed, []).append(dot.metric)
    return [
        Level(value, mean_interval([sum(own) / len(own) for own in by_value[value].values()]))
        for value in sorted(by_value)
    ]


def _found_levels(view: View, arm: str, dots: list[Dot]) -> list[Level]:
    """Per configuration the mean over seeds, at the geometric mean of the βs that they ended at."""
    by_trial = {dot.trial: dot for dot in dots}
    levels = []
    for trials in configurations(view, arm):
        own = [by_trial[trial] for trial in trials if trial in by_trial]
        if own:
            levels.append(Level(_middle([dot.value for dot in own]), mean_interval([dot.metric for dot in own])))
    return sorted(levels, key=lambda level: level.value)


def _middle(values: list[float]) -> float:
    return short(statistics.geometric_mean(values)) if min(values) > 0 else statistics.fmean(values)


def sensitivity_data(view: View, x: str | None, y: str | None) -> SensitivityData:
    """Failed and stopped trials have no value; collapsed ones do: that a large β collapses is what the figure is for.

    An arm that finds its β is drawn where its weights ended, not where they started; one of curves at all its βs.
    """
    keys = numeric_keys(view.study)
    options = [(key, key_label(key)) for key in keys]
    key = one_of(x, options, "x", BETA if BETA in keys else next(iter(keys), "")) or None
    axis = metric_axis(view, chosen_metric(view, y), "y")
    arms, others = [], False
    for arm in view.study.arms:
        dots = []
        along = key == BETA and covers_betas(arm)
        for trial_id, trial in view.trials.items():
            if trial.planned.arm != arm.name or trial.cut_short:
                continue
            for where, metrics in trial.measured() if along else [Measured(None, trial.metrics)]:
                value, metric = value_of(arm, trial, key or "", where), metrics.get(axis.metric)
                if is_number(value) and finite(metric):
                    dots.append(Dot(trial_id, trial.planned.seed, float(value), metric))
        searched = isinstance(arm.search, OptunaSearch)
        best = None if dots or not key else best_of(view, arm.name, axis.metric, axis.goal)
        own_beta = bool(dots) and key == BETA and finds_beta(arm)
        others = others or bool(dots and not searched and not own_beta and varied_keys(view, arm.name) - {key})
        levels = [] if searched else _found_levels(view, arm.name, dots) if own_beta else _levels(dots)
        arms.append(ArmLevels(arm.name, searched, levels, dots, best, own_beta))
    training = sum(t.state is TrialState.RUNNING and bool(t.metrics) for t in view.trials.values())
    return SensitivityData(key, axis, arms, others, training, counts(view).failed, chooser(view))


def _on_log_axis(arm: ArmLevels) -> ArmLevels:
    """Only what is above 0; an arm that has 0 alone is its mean there."""
    levels = [level for level in arm.levels if level.value > 0]
    zero = arm.levels[0].metric if len(arm.levels) == 1 and not levels else None
    return arm._replace(dots=[dot for dot in arm.dots if dot.value > 0], levels=levels, zero=zero)


def _own_traces(arm: ArmLevels, index: int, metric: str, label: str, few: bool) -> list[Trace]:
    """Single trials muted, means with their intervals on top; a search has only single trials."""
    colour, symbol = arm_style(index)
    marker = {"color": colour, "symbol": symbol}
    common = {"type": "scatter", "name": arm.name, "legendgroup": arm.name, "legendrank": legend_rank(index)}
    alone = arm.searched or all(level.metric.seeds == 1 for level in arm.levels)
    dots = arm.dots if few or alone else []
    single: Trace = {
        "mode": "markers",
        "x": [short(dot.value) for dot in dots],
        "y": [short(dot.metric) for dot in dots],
        **hover(f"{label} {setting(dot.value)}: {number(dot.metric)}, seed {dot.seed}" for dot in dots),
        "customdata": [dot.trial for dot in dots],
        "showlegend": alone,
        "marker": {**marker, "size": 7 if alone else 4, "opacity": 0.8 if alone else 0.4},
    }
    if arm.searched or (arm.own_beta and alone):
        return [{**common, **single}]
    means = {
        "mode": "lines" if alone else "markers" if arm.own_beta else "lines+markers",  # nobody walked along found βs
        "x": [short(level.value) for level in arm.levels],
        "y": [short(level.metric.mean or 0.0) for level in arm.levels],
        **hover(f"{label} {setting(level.value)}: {interval_words(level.metric)}" for level in arm.levels),
        "showlegend": not alone,
        "line": {"color": colour, "width": 1.5},
        "marker": {**marker, "size": 8},
        "error_y": bars([level.metric for level in arm.levels], bounds_of(metric), colour),
    }
    if len(arm.levels) > MOST_BARS and not alone:
        intervals = [level.metric for level in arm.levels]
        area = ribbon([level.value for level in arm.levels], intervals, bounds_of(metric), colour)
        means |= {"marker": {**marker, "size": 3}, "error_y": {"visible": False}}
        single["marker"] = {**marker, "size": 3, "opacity": 0.25}
        return [{**common, **area}, {**common, **single}, {**common, **means}]
    return [{**common, **means}, {**common, **single}] if alone else [{**common, **single}, {**common, **means}]


def _summary(data: SensitivityData, label: str) -> str:
    """`accuracy at best: manual β 0.96 at β 0.01; MIB 0.93.`"""
    pick = min if data.axis.goal == "minimize" else max
    words = []
    for arm in data.arms:
        if arm.best is not None and arm.best.mean.mean is not None:
            words.append(f"{arm.name} {number(arm.best.mean.mean)}")
        elif arm.dots:
            places = [(dot.metric, dot.value) for dot in arm.dots]
            if arm.levels:
                places = [(level.metric.mean or 0.0, level.value) for level in arm.levels]
            metric, value = pick(places)
            alone = "" if arm.levels else f", best of {len(places)} single trials"
            words.append(f"{arm.name} {number(metric)} at {label} {setting(value)}{alone}")
    return f"{title_of(data.axis.metric)} at best: {'; '.join(words)}." if words else ""


def _subtitle(data: SensitivityData, few: bool, hidden: int, label: str) -> str:
    seeds = [level.metric.seeds for arm in data.arms for level in arm.levels]
    seeds += [arm.best.mean.seeds for arm in data.arms if arm.best is not None]
    chosen = any(arm.best is not None and arm.best.of > 1 for arm in data.arms)
    parts = [
        drawn_of_seeds(max(seeds, default=0)),
        "" if few else "single trials not drawn",
        found_words([arm.name for arm in data.arms if arm.own_beta]),
        "search: each trial" if any(arm.searched and arm.dots for arm in data.arms) else "",
        "mean over the other parameters" if data.others else "",
        f"dashed: best configuration of arms without it, chosen{on_split(data.chooser)}" if chosen else "",
        f"{hidden} trial{'s' if hidden > 1 else ''} at {label} 0 not on the log axis" if hidden else "",
        f"{data.training} still training" if data.training else "",
        f"{data.failed} failed, left out" if data.failed else "",
    ]
    return " · ".join(filter(None, parts))


def draw_sensitivity(data: SensitivityData, revision: str) -> PlotlyFigure:
    label, metric = key_label(data.key or ""), data.axis.metric
    few = sum(len(arm.dots) for arm in data.arms) <= MOST_DOTS
    positive = [dot.value for arm in data.arms for dot in arm.dots if dot.value > 0]
    log = bool(positive) and max(positive) / min(positive) > LOG_WHEN_RATIO
    shown = [_on_log_axis(arm) for arm in data.arms] if log else data.arms
    hidden = sum(len(d.dots) - len(s.dots) for d, s in zip(data.arms, shown, strict=True) if s.zero is None)
    values = [dot.value for arm in shown for dot in arm.dots]
    span = (short(min(values)), short(max(values))) if values else (0.0, 1.0)
    if span[0] == span[1]:
        span = (0.5 * span[0], 1.5 * span[1]) if span[0] > 0 else (span[0] - 0.5, span[1] + 0.5)
    bands, curves = [], []  # bands first: nothing may lie under them
    for i, arm in enumerate(shown):
        if arm.best is not None:
            words = interval_words(arm.best.mean) + (f"<br>{arm.best.label}" if arm.best.label else "")
            bands += across(arm.name, i, arm.best.mean, span, bounds_of(metric), words)
        elif arm.zero is not None:
            bands += across(arm.name, i, arm.zero, span, bounds_of(metric), f"{label} 0: {interval_words(arm.zero)}")
        elif arm.dots:
            curves += _own_traces(arm, i, metric, label, few)
    x = {"title": {"text": label}, "zeroline": False, "automargin": True}
    if log:
        x |= {"type": "log", "exponentformat": "power", "dtick": 1, "tickfont": {"size": 10}}
        if span[1] / span[0] < 300:
            x |= {"dtick": "D2"}
    heights = [dot.metric for arm in shown for dot in arm.dots]
    means = [arm.best.mean if arm.best is not None else arm.zero for arm in shown]
    intervals = [ends(mean, bounds_of(metric)) for mean in means if mean is not None]
    heights += [end for pair in intervals if pair is not None for end in pair]
    drawing = layout(
        x,
        axis_layout(metric, heights),
        _subtitle(data, few, hidden, label),
        revision,
        summary=_summary(data, label),
        empty="" if data.key else "No number takes several values within an arm of this study.",
    )
    return {"data": [*bands, *curves], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_sensitivity(sensitivity_data(asked.view, asked.x, asked.y), asked.revision)


def controls(view: View) -> list[Control]:
    keys = numeric_keys(view.study)
    against = Control("x", "against", "choice", [(key, key_label(key)) for key in keys], BETA)
    if BETA not in keys:
        against = against._replace(default=next(iter(keys), ""))
    return [metric_control(view, judged(view)), *([against] if len(keys) > 1 else [])]


def has_numbers(study: Study) -> bool:
    return bool(numeric_keys(study))


FIGURE = Figure(
    "beta-sensitivity",
    "β sensitivity",
    "a metric (y) against β or another number that varies (x), mean and 95 % over seeds; other arms as bands",
    "sensitivity",
    (),
    figure,
    controls,
    has_numbers,
)
