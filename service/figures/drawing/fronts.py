"""The front of each arm for two or three metrics, and what a figure says about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.analysis import Axis, Point, nondominated
from service.analysis.candidates import (
    chooser,
    chosen_axes,
    infeasible_on,
    mean_hypervolumes,
    metric_axis,
    points_on,
)
from service.analysis.lights import worst_light
from service.analysis.truth import Curve, curves
from service.contract.metrics import described
from service.contract.study.constraints import Constraint
from service.contract.wording.chosen_split import Chooser, selection_words
from service.contract.wording.lists import listed
from service.contract.wording.numbers import number, plural, setting
from service.figures.drawing.hover import value_lines
from service.figures.drawing.shades import Shading, shading_of, shading_words
from service.figures.drawing.style import title_of
from service.figures.drawing.trial_labels import labels_of, point_label
from service.views.view import View

MOST_DOMINATED = 2_000  # of an arm
MOST_OF_ALL = 6_000
NONE = "none"


class ArmFront(NamedTuple):
    name: str
    front: list[Point]  # as chosen; on the axes shown some of them may be dominated
    dominated: list[Point]  # those shown
    hidden: int  # dominated ones that are not
    curves: list[list[Point]]  # of trials with many points, in order along them
    hypervolume: float | None  # mean over seeds
    shading: Shading | None
    infeasible: Sequence[Point] = ()  # those shown that break a constraint


class FrontData(NamedTuple):
    axes: tuple[Axis, ...]  # two or three
    arms: list[ArmFront]
    labels: dict[str, str]
    seeds: int
    truth: list[Curve]
    chooser: Chooser | None  # the split that chose what lies on a front
    constraints: Sequence[Constraint] = ()  # of the study
    infeasible: int = 0  # points that break one, also where they are not shown
    lights: Sequence[str] = ()  # of axes that estimate I(X;Z), the worst in words


def frontier(points: Sequence[Point], axes: Sequence[Axis]) -> list[Point]:
    """Those of the chosen points that none of them dominates where they are shown: the line goes through these."""
    return nondominated([point._replace(judged=None) for point in points], axes)


def thinned(points: list[Point], most: int) -> list[Point]:
    """At most this many of them, in their old order; the same ones as more points come, but for those they displace.

    A trial's id is a hash, so the smallest ids are an even sample.
    """
    if len(points) <= most:
        return points
    order = sorted(range(len(points)), key=lambda i: points[i].trial.rpartition("/")[2])
    return [points[i] for i in sorted(order[:most])]


def curves_of(points: Sequence[Point]) -> list[list[Point]]:
    """Those of trials with many points, trial by trial, as they are reported: along the curve."""
    by_trial: dict[str, list[Point]] = {}
    for point in points:
        if point.where:
            by_trial.setdefault(point.trial, []).append(point)
    return [own for own in by_trial.values() if len(own) > 1]


def third_axis(view: View, axes: tuple[Axis, Axis], z: str | None) -> Axis | None:
    """As asked for, else the study's third objective; none where it is one of the other two."""
    if z == NONE:
        return None
    default = view.study.objectives[2].metric if len(view.study.objectives) > 2 else None
    name = z or default
    return metric_axis(view, name, "z") if name and name not in [axis.metric for axis in axes] else None


def front_data(view: View, x: str | None, y: str | None, z: str | None = NONE) -> FrontData:
    flat = chosen_axes(view, x, y)
    third = third_axis(view, flat, z)
    axes = (*flat, third) if third else flat
    points = points_on(view, axes)
    by_arm: dict[str, list[Point]] = {arm.name: [] for arm in view.study.arms}
    for point in points:
        by_arm[point.arm].append(point)
    most = min(MOST_DOMINATED, MOST_OF_ALL // len(by_arm))
    arms, volumes = [], mean_hypervolumes(view, axes)
    infeasible = infeasible_on(view, axes)
    for name, own in by_arm.items():
        front = nondominated(own, axes)
        on_front = {point.key for point in front}
        dominated = [point for point in own if point.key not in on_front]
        shown = thinned(dominated, most)
        hidden = len(dominated) - len(shown)
        off = thinned([point for point in infeasible if point.arm == name], most)
        arms.append(ArmFront(name, front, shown, hidden, curves_of(own), volumes[name], shading_of(view, name), off))
    farthest = max((point.values[0] for point in points), default=1.0)
    truth = curves(view.study, axes[0].metric, axes[1].metric, farthest) if view.alike and not third else []
    labels = labels_of(view, [point.trial for arm in arms for point in (*arm.front, *arm.dominated, *arm.infeasible)])
    seeds = len({trial.planned.seed for trial in view.trials.values()})
    lit = [(axis, light) for axis in axes if (light := worst_light(view, axis.metric))]
    lights = [f"{described(axis.metric).label} (trust light {light.mark} at worst)" for axis, light in lit]
    return FrontData(axes, arms, labels, seeds, truth, chooser(view), view.study.constraints, len(infeasible), lights)


def words_at(data: FrontData, point: Point) -> str:
    """What is said of a point where a reader points at it."""
    titles = [title_of(axis.metric) for axis in data.axes]
    return f"{point_label(point.where, data.labels[point.trial])}<br>{value_lines(titles, point.values)}"


def _counted(data: FrontData, shown: int, hidden: int) -> list[str]:
    """How many trials, or points where trials have many; and how many of the dominated ones are drawn."""
    count = sum(len(arm.front) for arm in data.arms) + shown + hidden
    curves = [curve for arm in data.arms for curve in arm.curves]
    what, counted = "trial", plural(count, "trial")
    if curves:
        trials = count - sum(map(len, curves)) + len(curves)
        what, counted = "point", f"{plural(count, 'point')} of {plural(trials, 'trial')}"
    return [
        counted,
        "thin lines: each trial’s curve" if curves and len(data.axes) == 2 else "",
        f"{shown:,} of {shown + hidden:,} dominated {what}s shown" if hidden else "",
    ]


def _constrained(data: FrontData) -> str:
    """`hollow: 3 infeasible by accuracy ≥ 0.9`; in space they are not drawn."""
    if not data.infeasible:
        return ""
    rule = listed([each.words for each in data.constraints])
    words = f"{data.infeasible:,} infeasible{f' by {rule}' if rule else ''}"
    return f"hollow: {words}" if len(data.axes) == 2 else f"{words} left out"


def subtitle_of(data: FrontData) -> str:
    wishes = [f"{'less' if axis.goal == 'minimize' else 'more'} {described(axis.metric).label}" for axis in data.axes]
    shown = sum(len(arm.dominated) for arm in data.arms)
    hidden = sum(arm.hidden for arm in data.arms)
    reference = [axis.reference for axis in data.axes if axis.reference is not None]
    parts = [
        f"{', '.join(wishes[:-1])} and {wishes[-1]} is better",
        *data.lights,
        *_counted(data, shown, hidden),
        f"reference point ({', '.join(map(setting, reference))})" if len(reference) == len(data.axes) else "",
        shading_words(arm.shading for arm in data.arms),
        _constrained(data),
        "one seed" if data.seeds == 1 else "",
        selection_words(data.chooser),
    ]
    return " · ".join(filter(None, parts))


def summary_of(data: FrontData) -> str:
    """`Hypervolume, mean over seeds: manual β 95.3, MIB 91.2. Not dominated within the arm: manual β 12, MIB 3.`"""
    measured = [arm for arm in data.arms if arm.front]
    if not measured:
        return ""
    counts = ", ".join(f"{arm.name} {len(arm.front)}" for arm in measured)
    volumes = ", ".join(f"{arm.name} {number(arm.hypervolume)}" for arm in measured if arm.hypervolume is not None)
    over = "Hypervolume" if data.seeds == 1 else "Hypervolume, mean over seeds"
    return (f"{over}: {volumes}. " if volumes else "") + f"Not dominated within the arm: {counts}."
