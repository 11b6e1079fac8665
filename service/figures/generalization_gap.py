"""Generalisation gap: train minus test accuracy against I(X;Z); in rows where no code has a finite rate."""

from __future__ import annotations

from typing import NamedTuple

from service.analysis import LEAST_SEEDS, Interval, mean_interval
from service.analysis.candidates import chooser
from service.analysis.intervals import interval_words
from service.contract.metrics import ACCURACY, GAP, I_XZ
from service.contract.study.outcomes import COLLAPSED_BELOW_BITS
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.chosen_split import Chooser, on_split
from service.contract.wording.numbers import number
from service.contract.wording.palette import arm_style
from service.figures.drawing import rows
from service.figures.drawing.bands import across, bars, bounds_of, drawn_of_seeds, legend_rank
from service.figures.drawing.configurations import (
    AtPlace,
    Best,
    at_places,
    best_note,
    best_of,
    final_value,
    finite,
)
from service.figures.drawing.hover import hover
from service.figures.drawing.style import TRUTH_COLOUR, axis_layout, layout, short, title_of
from service.figures.drawing.trial_labels import config_label, point_label
from service.figures.figure import Asked, Figure
from service.views.selectors import configurations, counts, varied_keys
from service.views.view import View

X, Y = I_XZ, GAP
MOST_DOTS = 2_000
MOST_BARS = 40  # per arm; more would be a thicket
SMALLEST_BITS = 1e-2  # a log axis has no place for a code that carries nothing


class Dot(NamedTuple):
    trial: str
    seed: int
    rate: float
    gap: float


class Configuration(NamedTuple):
    """Trials that differ in nothing but their seed."""

    label: str
    rate: Interval
    gap: Interval
    dots: list[Dot]


class Fallback(NamedTuple):
    """An arm without a rate: the gap of its configuration of best accuracy."""

    best: Best
    gaps: dict[str, float]  # by trial
    gap: Interval


class ArmGap(NamedTuple):
    name: str
    configurations: list[Configuration]
    fallback: Fallback | None


class GapData(NamedTuple):
    arms: list[ArmGap]
    seeds: dict[str, int]
    failed: int
    chooser: Chooser | None  # the split that chose among configurations

    @property
    def has_rates(self) -> bool:
        return any(arm.configurations for arm in self.arms)


def _configuration(view: View, place: AtPlace, varied: set[str]) -> Configuration | None:
    dots = []
    for trial_id, metrics in place.metrics.items():
        rate, gap = metrics.get(X), metrics.get(Y)
        if finite(rate) and finite(gap):
            dots.append(Dot(trial_id, view.trials[trial_id].planned.seed, max(rate, SMALLEST_BITS), gap))
    if not dots:
        return None
    label = point_label(place.where, config_label(view.trials[dots[0].trial].planned.config, varied))
    rate_mean, gap_mean = mean_interval([dot.rate for dot in dots]), mean_interval([dot.gap for dot in dots])
    return Configuration(label, rate_mean, gap_mean, dots)


def _fallback(view: View, arm: str) -> Fallback:
    best = best_of(view, arm, ACCURACY)
    last = {trial: final_value(view.trials[trial], Y, best.where) for trial in best.trials}
    gaps = {trial: gap for trial, gap in last.items() if finite(gap)}
    return Fallback(best, gaps, mean_interval(list(gaps.values())))


def gap_data(view: View) -> GapData:
    arms = []
    for arm in view.study.arms:
        varied = varied_keys(view, arm.name)
        places = [place for trials in configurations(view, arm.name) for place in at_places(view, trials)]
        measured = [_configuration(view, place, varied) for place in places]
        own = [configuration for configuration in measured if configuration is not None]
        arms.append(ArmGap(arm.name, own, None if own else _fallback(view, arm.name)))
    seeds = {trial_id: trial.planned.seed for trial_id, trial in view.trials.items()}
    return GapData(arms, seeds, counts(view).failed, chooser(view))


def _words(rate: float | None, gap: float | None) -> str:
    return f"<br>I(X;Z) {number(rate)} bits, gap {number(gap)}"


def _traces(arm: ArmGap, index: int, few: bool) -> list[Trace]:
    """Trials muted, the mean of each configuration with bars in both directions; one seed: the trial is the mean."""
    colour, symbol = arm_style(index)
    alone = all(len(configuration.dots) == 1 for configuration in arm.configurations)
    pairs = [(dot, each.label) for each in arm.configurations for dot in each.dots] if few or alone else []
    common: Trace = {"type": "scatter", "mode": "markers", "name": arm.name, "legendgroup": arm.name}
    common |= {"legendrank": legend_rank(index)}
    single = {
        "x": [short(dot.rate) for dot, _ in pairs],
        "y": [short(dot.gap) for dot, _ in pairs],
        **hover(
            " · ".join(filter(None, [label, f"seed {dot.seed}"])) + _words(dot.rate, dot.gap) for dot, label in pairs
        ),
        "customdata": [dot.trial for dot, _ in pairs],
        "showlegend": alone,
        "marker": {"color": colour, "symbol": symbol, "size": 7 if alone else 4, "opacity": 0.9 if alone else 0.45},
    }
    if alone:
        return [{**common, **single}]
    rates, gaps = [each.rate for each in arm.configurations], [each.gap for each in arm.configurations]
    means: Trace = {
        "x": [short(rate.mean or 0.0) for rate in rates],
        "y": [short(gap.mean or 0.0) for gap in gaps],
        **hover(
            f"{each.label or 'mean'}{_words(each.rate.mean, each.gap.mean)}, mean over seeds"
            for each in arm.configurations
        ),
        "marker": {"color": colour, "symbol": symbol, "size": 8 if len(gaps) <= MOST_BARS else 5},
    }
    if len(gaps) <= MOST_BARS:
        means |= {"error_x": bars(rates, bounds_of(X), colour, 1), "error_y": bars(gaps, bounds_of(Y), colour, 1)}
    return [{**common, **single}, {**common, **means}]


def _spread(data: GapData) -> str:
    seeds = [len(each.dots) for arm in data.arms for each in arm.configurations]
    seeds += [len(arm.fallback.gaps) for arm in data.arms if arm.fallback is not None]
    most = max(seeds, default=0)
    if most < LEAST_SEEDS:
        return drawn_of_seeds(most)
    crowded = any(len(arm.configurations) > MOST_BARS for arm in data.arms)
    bars_words = f"95 % interval where an arm has at most {MOST_BARS}" if crowded else "95 % interval"
    return f"up to {most} seeds: mean per configuration, {bars_words}"


def _summary(data: GapData) -> str:
    words = []
    for arm in data.arms:
        gaps = [each.gap.mean for each in arm.configurations] or [arm.fallback.gap.mean if arm.fallback else None]
        known = sorted(gap for gap in gaps if gap is not None)
        if known:
            words.append(f"{arm.name} {number(known[0])}" + (f" to {number(known[-1])}" if len(known) > 1 else ""))
    return f"Train minus test accuracy: {', '.join(words)}." if words else ""


def draw_gap(data: GapData, revision: str) -> PlotlyFigure:
    chosen = any(arm.fallback is not None and arm.fallback.best.of > 1 for arm in data.arms)
    parts = [
        "train − test accuracy, 0 is no gap",
        _spread(data),
        f"without I(X;Z): configuration of best accuracy, chosen{on_split(data.chooser)}" if chosen else "",
        f"{data.failed} failed, left out" if data.failed else "",
    ]
    subtitle = " · ".join(filter(None, parts))
    drawn = _draw_plane(data, subtitle, revision) if data.has_rates else _draw_rows(data, subtitle, revision)
    drawn["layout"]["meta"]["summary"] = _summary(data)
    return drawn


def _draw_rows(data: GapData, subtitle: str, revision: str) -> PlotlyFigure:
    arm_rows = []
    for arm in data.arms:
        if arm.fallback is not None:
            gaps = arm.fallback.gaps.items()
            dots = [rows.Dot(trial, f"seed {data.seeds[trial]}: {number(gap)}", gap) for trial, gap in gaps]
            words = interval_words(arm.fallback.gap)
            arm_rows.append(rows.Row(arm.name, best_note(arm.fallback.best), "", words, arm.fallback.gap, dots))
    x = {"title": {"text": title_of(Y)}, "zeroline": True, "zerolinecolor": TRUTH_COLOUR, "automargin": True}
    return rows.draw_rows(arm_rows, x, bounds_of(Y), subtitle, "", revision)


def _draw_plane(data: GapData, subtitle: str, revision: str) -> PlotlyFigure:
    dots = [dot for arm in data.arms for each in arm.configurations for dot in each.dots]
    few = len(dots) <= MOST_DOTS
    # A collapsed code lies at zero on a linear axis; it is no reason for a log one.
    rates = [dot.rate for dot in dots if dot.rate >= COLLAPSED_BELOW_BITS]
    span = (short(min(dot.rate for dot in dots)), short(max(dot.rate for dot in dots)))
    bands, points = [], []
    for i, arm in enumerate(data.arms):
        if arm.fallback is not None:
            words = interval_words(arm.fallback.gap) + "<br>no finite I(X;Z)"
            bands += across(arm.name, i, arm.fallback.gap, span, bounds_of(Y), words)
        else:
            points += _traces(arm, i, few)
    y = {"title": {"text": title_of(Y)}, "zeroline": True, "zerolinecolor": TRUTH_COLOUR, "automargin": True}
    drawing = layout(axis_layout(X, rates), y, subtitle + ("" if few else " · single trials not drawn"), revision)
    return {"data": [*bands, *points], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_gap(gap_data(asked.view), asked.revision)


FIGURE = Figure(
    "generalization-gap",
    "Generalisation gap",
    "train minus test accuracy against I(X;Z), per trial and as mean of each configuration with its 95 % interval",
    "curves",
    (Y,),
    figure,
)
