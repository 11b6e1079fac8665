"""What the API says about a study: from a view to the shapes of the contract."""

from __future__ import annotations

from typing import Any

from service.analysis import Axis, Point, Trial, axis_for, hypervolume, nondominated, points_of
from service.contract.errors import Detail, InvalidInput
from service.contract.metrics import described
from service.contract.palette import arm_style
from service.store.views import StudyView

SPARK_STEPS = 23


def candidates(view: StudyView) -> list[Trial]:
    """Trials a front is made of: with reports, neither failed nor collapsed."""
    return [
        (trial_id, trial.planned.arm, trial.planned.seed, trial.metrics)
        for trial_id, trial in view.trials.items()
        if trial.counts_for_front
    ]


def objectives(view: StudyView) -> list[Axis]:
    return [axis_for(view.study, objective.metric) for objective in view.study.objectives]


def front_ids(view: StudyView) -> set[str]:
    def found() -> set[str]:
        axes = objectives(view)
        return {point.trial for point in nondominated(points_of(candidates(view), axes), axes)}

    return view.memo("front", found)


def spark(view: StudyView) -> list[float]:
    """Hypervolume of all arms after more and more trials have finished, a few steps of it."""
    axes = objectives(view)
    by_trial = {point.trial: point for point in points_of(candidates(view), axes)}
    points = [by_trial[trial] for trial in view.ended if trial in by_trial]
    steps = sorted({round(len(points) * i / SPARK_STEPS) for i in range(SPARK_STEPS + 1)})
    volumes = [hypervolume(points[:step], axes) for step in steps]
    return [float(f"{volume:.4g}") for volume in volumes if volume is not None] if points else []


def look(index: int) -> dict[str, str]:
    """Colour and marker of an arm, so that tables show what the figures draw."""
    colour, symbol = arm_style(index)
    return {"colour": colour, "symbol": symbol}


def _arms(view: StudyView) -> list[dict[str, Any]]:
    axes = objectives(view)
    points = points_of(candidates(view), axes)
    return [
        {
            "name": arm.name,
            **look(i),
            "counts": view.counts(arm.name),
            "progress": view.progress_of(arm.name),
            "hypervolume": hypervolume([p for p in points if p.arm == arm.name], axes),
        }
        for i, arm in enumerate(view.study.arms)
    ]


def study_answer(view: StudyView, with_spec: bool = True) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "id": view.id,
        "name": view.study.name,
        "state": view.state.value,
        "created_at": view.created_at,
        "started_at": view.started_at,
        "ended_at": view.ended_at,
        "reason": view.reason,
        "counts": view.counts(),
        "progress": view.progress,
        "eta_seconds": view.eta_seconds(),
        "arms": view.memo("arms", lambda: _arms(view)),
        "spark": view.memo("spark", lambda: spark(view)),
        "last_seq": view.seq,
    }
    if with_spec:
        answer["spec"] = view.spec
        answer["metrics"] = [{"name": n, **described(n)._asdict()} for n in view.study.metrics]
    return answer


def metric_axis(view: StudyView, name: str, query: str) -> Axis:
    known = view.study.metrics
    if name not in known:
        message = f"{name!r} is not a metric of this study; known: {', '.join(known)}"
        raise InvalidInput(message, [Detail(path=query, message=message)])
    return axis_for(view.study, name)


def chosen_axes(view: StudyView, x: str | None, y: str | None) -> tuple[Axis, Axis]:
    """The two axes of a front: asked for, or the study's first two objectives."""
    first, second = view.study.objectives[0].metric, view.study.objectives[1].metric
    return metric_axis(view, x or first, "x"), metric_axis(view, y or second, "y")


def _point(view: StudyView, point: Point) -> dict[str, Any]:
    state = view.trials[point.trial].state.value
    return {
        "trial": point.trial,
        "arm": point.arm,
        "x": point.values[0],
        "y": point.values[1],
        "state": state,
    }


def front_answer(view: StudyView, x: str | None, y: str | None) -> dict[str, Any]:
    axes = chosen_axes(view, x, y)
    points = points_of(candidates(view), axes)

    def part(chosen: list[Point]) -> dict[str, Any]:
        front = [_point(view, point) for point in nondominated(chosen, axes)]
        return {"hypervolume": hypervolume(chosen, axes), "points": front}

    return {
        "x": axes[0].metric,
        "y": axes[1].metric,
        "goals": [axis.goal for axis in axes],
        "reference_point": [axis.reference for axis in axes],
        **part(points),
        "arms": [{"name": arm.name, **part([p for p in points if p.arm == arm.name])} for arm in view.study.arms],
    }
