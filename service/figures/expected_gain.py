"""Expected gain: each arm's hypervolume batch by batch, and what another batch would add to it."""

from __future__ import annotations

from typing import NamedTuple

import moocore
import numpy as np

from service.analysis import Interval, mean_interval
from service.analysis.candidates import chooser
from service.contract.study.batches import batches_of
from service.contract.study.expected_gain import Curve, Gain, Values, expected_gain, volume_curves
from service.contract.study.outcomes import objective_values
from service.contract.study.study import Study
from service.contract.wire.events import TrialState
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.chosen_split import Chooser, on_split
from service.contract.wording.numbers import setting
from service.contract.wording.palette import arm_style
from service.figures.drawing.bands import drawn_of_seeds, ribbon
from service.figures.drawing.hover import hover
from service.figures.drawing.style import TRUTH_COLOUR, layout, short
from service.figures.figure import Asked, Figure
from service.views.trial import TrialView
from service.views.view import View

VOLUME = (0.0, float("inf"))


class ArmGain(NamedTuple):
    """After each batch that is over in every seed: hypervolume over seeds; then what the next is expected to gain."""

    name: str
    volumes: list[Interval]
    expected: Gain | None
    last: bool  # no batch is left


class GainData(NamedTuple):
    arms: list[ArmGain]
    threshold: float | None
    seeds: int
    chooser: Chooser | None  # the split that the driver decides by, which is shown here


def _volume(points: list[list[float]], corner: list[float]) -> float:
    return float(moocore.hypervolume(np.array(points), ref=corner))


def gain_data(view: View) -> GainData:
    """By what the driver knew when it decided: finished trials, by what chooses."""
    study = view.study
    values = {
        (trial.planned.arm, trial.planned.id): _reached(study, trial)
        for trial in view.trials.values()
        if trial.state.is_over()
    }
    arms: list[ArmGain] = []
    for arm, by_seed in batches_of(study, [trial.planned for trial in view.trials.values()]).items():
        seeds = [[[(arm, trial.id) for trial in batch] for batch in batches] for batches in by_seed.values() if batches]
        most = max(map(len, seeds), default=0)
        over = 0
        while over < most and all(key in values for own in seeds for batch in own[over : over + 1] for key in batch):
            over += 1
        known = [[[each for key in batch for each in values[key]] for batch in own[:over]] for own in seeds]
        curves = volume_curves(known, study.objectives, _volume) if over else list[Curve]()
        volumes = [mean_interval([curve[k] for curve in curves]) for k in range(over)]
        arms.append(ArmGain(arm, volumes, expected_gain(curves), over == most))
    return GainData(arms, study.limits.gain, len(study.seeds), chooser(view))


def _reached(study: Study, trial: TrialView) -> list[Values]:
    """At each of its points; nothing where it did not finish."""
    if trial.state is not TrialState.FINISHED:
        return []
    return [objective_values(own.metrics, study.choosing) for own in trial.measured() if trial.counts_at(own.metrics)]


def gain_words(arm: ArmGain) -> str:
    """`tuned: another batch would gain 0.2 % of hypervolume, at most 0.31 %`."""
    if arm.expected is None:
        return ""
    mean, upper = (setting(100 * share, 2) for share in arm.expected)
    return f"{arm.name}: another batch would gain {mean} % of hypervolume, at most {upper} %"


def _arm_traces(arm: ArmGain, index: int) -> list[Trace]:
    colour, symbol = arm_style(index)
    batches = [float(k) for k in range(1, len(arm.volumes) + 1)]
    common: Trace = {"type": "scatter", "name": arm.name, "legendgroup": arm.name}
    means = [interval.mean or 0.0 for interval in arm.volumes]
    line: Trace = {
        "mode": "lines+markers",
        "x": batches,
        "y": [short(mean) for mean in means],
        "line": {"color": colour, "width": 1.5},
        "marker": {"color": colour, "symbol": symbol, "size": 6},
        **hover(f"after batch {k}: {setting(mean)}" for k, mean in enumerate(means, 1)),
    }
    traces = [{**common, **ribbon(batches, arm.volumes, VOLUME, colour), "showlegend": False}, {**common, **line}]
    if arm.expected is not None:
        traces.append({**common, **_next(arm, means[-1], colour), "showlegend": False})
    return traces


def _next(arm: ArmGain, volume: float, colour: str) -> Trace:
    """Dotted to the batch that is not there yet, with the upper end as a bar."""
    expected = arm.expected or Gain(0.0, 0.0)
    here = float(len(arm.volumes))
    return {
        "mode": "lines+markers",
        "x": [here, here + 1],
        "y": [short(volume), short(volume * (1 + expected.mean))],
        "line": {"color": colour, "width": 1.5, "dash": "dot"},
        "marker": {"color": colour, "size": [0, 6], "symbol": "circle-open"},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [0.0, short(volume * (expected.upper - expected.mean))],
            "arrayminus": [0.0, 0.0],
            "color": colour,
            "thickness": 1.5,
            "width": 3,
        },
        **hover(["", gain_words(arm)]),
    }


def _thresholds(data: GainData) -> list[Trace]:
    """Above this line at its end another batch would be worth it."""
    asked = [
        (float(len(arm.volumes)), (arm.volumes[-1].mean or 0.0) * (1 + (data.threshold or 0.0)))
        for arm in data.arms
        if arm.expected is not None
    ]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"{setting(100 * (data.threshold or 0.0))} % more",
            "legendgroup": "threshold",
            "showlegend": i == 0,
            "x": [x, x + 1],
            "y": [short(y)] * 2,
            "line": {"color": TRUTH_COLOUR, "width": 1.5, "dash": "dash"},
            "hoverinfo": "skip",
        }
        for i, (x, y) in enumerate(asked)
    ]


def draw_gain(data: GainData, revision: str) -> PlotlyFigure:
    traces = [trace for i, arm in enumerate(data.arms) if arm.volumes for trace in _arm_traces(arm, i)]
    x = {"title": {"text": "batches of all seeds"}, "zeroline": False, "automargin": True}
    y = {"title": {"text": "hypervolume, by what chooses"}, "zeroline": False, "automargin": True}
    by = f"hypervolume{on_split(data.chooser)}, by which is chosen" if data.chooser else ""
    parts = [drawn_of_seeds(data.seeds), by, "dotted: the next batch, to the upper end of its 95 % interval"]
    summary = "; ".join(filter(None, map(gain_words, data.arms)))
    empty = "A curve begins with the first batch that has ended in every seed."
    drawing = layout(x, y, " · ".join(filter(None, parts)), revision, summary=summary, empty=empty)
    return {"data": [*traces, *_thresholds(data)], "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    return draw_gain(gain_data(asked.view), asked.revision)


def applies(study: Study) -> bool:
    return study.limits.gain is not None


FIGURE = Figure(
    "expected-gain",
    "Expected gain",
    "hypervolume after each batch of an arm, what another batch is expected to gain, and the limit asked for",
    "cost",
    (),
    figure,
    applies=applies,
)
