"""Fronts, hypervolumes, intervals and the comparison of arms: mathematics on plain values (moocore, numpy).

`candidates`, `compared`, `lights`, `single_tasks`, `trial_table`, `watched` and `weighting_gains` take from a view
what it needs.
"""

from __future__ import annotations

from service.analysis.comparison import ArmResult, Pair, baseline_of, compare, cost_curves, pairs_of
from service.analysis.fronts import Axis, Point, Trial, axis_for, hypervolume, nondominated, points_of
from service.analysis.intervals import LEAST_SEEDS, Interval, mean_interval, metric_intervals, wilson

__all__ = [
    "LEAST_SEEDS",
    "ArmResult",
    "Axis",
    "Interval",
    "Pair",
    "Point",
    "Trial",
    "axis_for",
    "baseline_of",
    "compare",
    "cost_curves",
    "hypervolume",
    "mean_interval",
    "metric_intervals",
    "nondominated",
    "pairs_of",
    "points_of",
    "wilson",
]
