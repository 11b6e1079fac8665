"""Lightness along a grid: an arm that varies a number is one line, light where the number is small."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from service.analysis.fronts import Key, key_of
from service.contract.wire.plotly import Trace
from service.contract.wording.keys import key_label
from service.figures.drawing.varied_parameters import BETA, is_number
from service.views.selectors import varied_by_arm
from service.views.view import View

PALEST = 0.7  # of white in the lightest
K = TypeVar("K")


class Shading(NamedTuple):
    """Which number of an arm is shown as lightness; 0 for its smallest value to 1 for its largest, by point."""

    label: str
    shares: dict[Key, float]


def log_shares(values: dict[K, float]) -> dict[K, float]:
    """Where each value lies between the smallest and the largest on a log scale; what has no logarithm lies at 0."""
    logs = {name: math.log(value) for name, value in values.items() if value > 0 and math.isfinite(value)}
    low, high = min(logs.values(), default=0.0), max(logs.values(), default=0.0)
    width = (high - low) or 1.0
    return {name: round((logs[name] - low) / width, 2) if name in logs else 0.0 for name in values}


def shading_of(view: View, arm: str) -> Shading | None:
    """By β where the arm varies it or has points at several, else by its first number that varies; none without one."""
    varied = varied_by_arm(view)[arm]
    own = {trial: t for trial, t in view.trials.items() if t.planned.arm == arm}
    along = {key_of(trial, w): w["beta"] for trial, t in own.items() for p in t.points if "beta" in (w := p["where"])}
    if len(set(along.values())) > 1:
        return Shading(key_label(BETA), log_shares(along))
    configs = {trial: t.planned.config for trial, t in own.items()}
    numbers = [key for key in dict.fromkeys(k for c in configs.values() for k in c) if key in varied]
    numbers = [key for key in numbers if all(is_number(config[key]) for config in configs.values() if key in config)]
    if not numbers:
        return None
    key = BETA if BETA in numbers else numbers[0]
    numbered = {key_of(t, None): float(v) for t, c in configs.items() if is_number(v := c.get(key))}
    return Shading(key_label(key), log_shares(numbered))


def pale(colour: str, white: float) -> str:
    """`#0072b2` with a share of white in it."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)


def marker_colours(shading: Shading | None, points: Sequence[Key], colour: str) -> Trace:
    """Plotly's colours of these points' markers; the outline has the arm's own, so that pale ones are seen too."""
    if shading is None:
        return {"color": colour}
    return {
        "color": [shading.shares.get(point, 1.0) for point in points],
        "colorscale": [[0, pale(colour, PALEST)], [1, colour]],
        "cmin": 0,
        "cmax": 1,
        "line": {"color": colour, "width": 1},
    }


def in_legend(arm: str, colour: str, symbol: str, mode: str = "markers") -> Trace:
    """A trace only for the legend, in the arm's own colour: Plotly would take the first marker's."""
    return {
        "type": "scatter",
        "mode": mode,
        "name": arm,
        "legendgroup": arm,
        "x": [None],
        "y": [None],
        "marker": {"color": colour, "symbol": symbol, "size": 8},
        "line": {"color": colour, "width": 1.5},
        "hoverinfo": "skip",
    }


def shading_words(shadings: Iterable[Shading | None]) -> str:
    labels = dict.fromkeys(shading.label for shading in shadings if shading)
    return f"paler: smaller {' or '.join(labels)}" if labels else ""
