"""Pareto front of two metrics: a stepped frontier per arm, dominated points muted."""

from __future__ import annotations

from typing import Any, NamedTuple

from service.analysis import Axis, Point, hypervolume, nondominated, points_of
from service.answers import candidates, chosen_axes
from service.contract.metrics import described
from service.contract.palette import arm_style
from service.figures.style import axis_layout, layout, title_of, truth_traces
from service.store.views import StudyView
from service.truth import Curve, curves


class ArmFront(NamedTuple):
    name: str
    front: list[Point]
    dominated: list[Point]
    hypervolume: float | None


class FrontData(NamedTuple):
    axes: tuple[Axis, Axis]
    arms: list[ArmFront]
    labels: dict[str, str]
    seeds: int
    truth: list[Curve]


def config_label(config: dict[str, Any], varied: set[str]) -> str:
    """`β 0.01`: what tells this configuration from the arm's others."""
    return " · ".join(
        f"{key.split('.')[-1].replace('beta', 'β')} {value:.4g}"
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        else f"{key.split('.')[-1]} {value}"
        for key, value in config.items()
        if key in varied
    )


def label_of(config: dict[str, Any], seed: int, varied: set[str]) -> str:
    """`β 0.01 · seed 2`: what tells this trial from its neighbours."""
    return " · ".join(filter(None, [config_label(config, varied), f"seed {seed}"]))


def varied_keys(view: StudyView, arm: str) -> set[str]:
    """The configuration keys that differ between the trials of an arm."""
    seen: dict[str, set[str]] = {}
    for trial in view.trials.values():
        if trial.planned.arm == arm:
            for key, value in trial.planned.config.items():
                seen.setdefault(key, set()).add(repr(value))
    return {key for key, values in seen.items() if len(values) > 1}


def labels_of(view: StudyView) -> dict[str, str]:
    varied = {arm.name: varied_keys(view, arm.name) for arm in view.study.arms}
    return {
        trial_id: label_of(trial.planned.config, trial.planned.seed, varied[trial.planned.arm])
        for trial_id, trial in view.trials.items()
    }


def front_data(view: StudyView, x: str | None, y: str | None) -> FrontData:
    axes = chosen_axes(view, x, y)
    points = points_of(candidates(view), axes)
    arms = []
    for arm in view.study.arms:
        own = [point for point in points if point.arm == arm.name]
        front = nondominated(own, axes)
        on_front = {point.trial for point in front}
        dominated = [point for point in own if point.trial not in on_front]
        arms.append(ArmFront(arm.name, front, dominated, hypervolume(own, axes)))
    most = max((point.values[0] for point in points), default=1.0)
    truth = curves(view.study, axes[0].metric, axes[1].metric, most)
    return FrontData(axes, arms, labels_of(view), len(view.study.seeds), truth)


def draw_front(data: FrontData, revision: str) -> dict[str, Any]:
    x, y = data.axes
    values = f"{title_of(x.metric)} %{{x:.3g}}<br>{title_of(y.metric)} %{{y:.3g}}"
    hover = f"%{{text}}<br>{values}<extra>%{{fullData.name}}</extra>"
    traces: list[dict[str, Any]] = []
    for i, arm in enumerate(data.arms):
        colour, symbol = arm_style(i)
        for points, strong in ((arm.dominated, False), (arm.front, True)):
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers" if strong and len(arm.front) > 1 else "markers",
                    "name": arm.name,
                    "legendgroup": arm.name,
                    "showlegend": strong,
                    "x": [point.values[0] for point in points],
                    "y": [point.values[1] for point in points],
                    "text": [data.labels[point.trial] for point in points],
                    "customdata": [point.trial for point in points],
                    "hovertemplate": hover,
                    # To the right of a point its y is reached: the step goes across first when x is minimised.
                    "line": {"shape": "hv" if x.goal == "minimize" else "vh", "width": 1.5, "color": colour},
                    "marker": {
                        "color": colour,
                        "symbol": symbol,
                        "size": 8 if strong else 5,
                        "opacity": 1.0 if strong else 0.3,
                    },
                }
            )
    drawn = [point.values for arm in data.arms for point in (*arm.front, *arm.dominated)]
    has_reference = x.reference is not None and y.reference is not None
    measured_from = f" · reference point ({x.reference:g}, {y.reference:g})" if has_reference else ""
    subtitle = (
        f"{'less' if x.goal == 'minimize' else 'more'} {described(x.metric).label} and "
        f"{'less' if y.goal == 'minimize' else 'more'} {described(y.metric).label} is better · {len(drawn)} trials"
        + measured_from
        + (" · one seed" if data.seeds == 1 else "")
    )
    return {
        "data": [*truth_traces(data.truth), *traces],
        "layout": layout(
            axis_layout(x.metric, [value[0] for value in drawn]),
            axis_layout(y.metric, [value[1] for value in drawn]),
            subtitle,
            revision,
        ),
    }


def figure(view: StudyView, x: str | None, y: str | None) -> dict[str, Any]:
    return draw_front(front_data(view, x, y), f"{view.id}:{x}:{y}")
