"""What analysis is made of: the trials of a view that count for a front, its axes, the front itself, what was spent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from service.analysis.amounts import Settings
from service.analysis.cost import Spent
from service.analysis.fronts import (
    Axis,
    Key,
    Point,
    Trial,
    axis_for,
    hypervolume_by_seed,
    nondominated,
    points_of,
)
from service.analysis.place import Placed
from service.contract.metrics import Kind, Named, described
from service.contract.study.outcomes import collapsed, feasible
from service.contract.wire.errors import Detail, InvalidInput
from service.contract.wire.events import TrialState
from service.contract.wording.chosen_split import Chooser
from service.views.selectors import counting, lost_seeds, varied_by_arm
from service.views.trial import TrialView
from service.views.view import View

MARGIN = 0.1  # of the range of a metric, from its worst value to where its hypervolume is measured from
BETA = "weighting.beta"  # where the βs of a curve are told too


def candidates(view: View) -> list[Trial]:
    """What a front is made of: trials with reports, neither failed, collapsed nor infeasible, place by place."""
    return view.memo("candidates", lambda: list(_places(counting(view).items())))


def of_trials(trials: Iterable[tuple[str, TrialView]]) -> Iterator[Trial]:
    """Those of them that count for a front, place by place."""
    return _places((trial_id, trial) for trial_id, trial in trials if trial.counts_for_front)


def _places(trials: Iterable[tuple[str, TrialView]]) -> Iterator[Trial]:
    """Of trials that count; of a curve the places at which the code carries something and the study's constraints are
    kept."""
    for trial_id, trial in trials:
        for where, metrics in trial.measured():
            if where is None or (trial.counts_at(metrics) and not collapsed(metrics)):
                yield Trial(trial_id, trial.planned.arm, trial.planned.seed, metrics, where)


def infeasible_on(view: View, axes: Sequence[Axis]) -> list[Point]:
    """What would have a place on these axes, and breaks a constraint of its study."""

    def broken() -> Iterator[Trial]:
        for trial_id, trial in view.trials.items():
            if trial.bounds and trial.state is not TrialState.FAILED and not trial.collapsed:
                for where, metrics in trial.measured():
                    if feasible(metrics, trial.bounds) is False and not collapsed(metrics):
                        yield Trial(trial_id, trial.planned.arm, trial.planned.seed, metrics, where)

    return points_of(list(broken()), axes)


def settings_of(view: View, point: Point) -> Settings:
    """The trial's, and β where the point has one of its own."""
    config = view.trials[point.trial].planned.config
    return {**config, BETA: point.where["beta"]} if point.where and "beta" in point.where else config


def arms_of_curves(view: View) -> set[str]:
    """Arms that draw a front with every trial."""
    return {trial.planned.arm for trial in view.trials.values() if len(trial.points) > 1}


def settings_along(view: View, arm: str) -> list[str]:
    """What varies along an arm's front."""
    along = {BETA} if arm in arms_of_curves(view) else set()  # of curves of several tasks nothing is said
    return sorted(varied_by_arm(view)[arm] | along)


def objectives(view: View) -> list[Axis]:
    return view.memo("objectives", lambda: [_axis(view, own.metric) for own in view.study.objectives])


def _axis(view: View, metric: str) -> Axis:
    """Of a metric of the study's own code, which may have no reference point, measured from beyond its worst value."""
    axis = axis_for(view.study, metric)
    if axis.reference is not None or not isinstance(metric, Named):
        return axis
    values = [value for trial in candidates(view) if (value := trial.metrics.get(metric)) is not None]
    if not values:
        return axis
    low, high = min(values), max(values)
    beyond = MARGIN * (high - low)
    return axis._replace(reference=high + beyond if axis.goal == "minimize" else low - beyond)


def points_on(view: View, axes: Sequence[Axis]) -> list[Point]:
    """The candidates that have a place on these axes. Those of the objectives are kept: most readers ask for them."""
    if list(axes) != objectives(view):
        return points_of(candidates(view), axes)
    return view.memo("points", lambda: points_of(candidates(view), axes))


def choosing_axes(view: View) -> list[Axis]:
    """The objectives as what chooses sees them: on the validation split where that chooses."""
    axes = objectives(view)
    if chooser(view) != "validation":
        return axes
    return [axis._replace(metric=axis.chosen_by or axis.metric, chosen_by=None) for axis in axes]


def chooser(view: View) -> Chooser | None:
    """The split that chooses among this study's trials; none where its objectives are not measured on one.

    A log from before a split was held out has nothing of it; of one without a result the study says what will choose.
    """
    axes, known = objectives(view), candidates(view)
    held = [axis.chosen_by for axis in axes if axis.chosen_by]
    if held and (not known or any(name in trial.metrics for trial in known for name in held)):
        return "validation"
    rows = [described(axis.metric) for axis in axes]
    if any(row.measured for row in rows):
        return "test"
    return "shown" if any(row.kind is Kind.OWN for row in rows) else None


def front_keys(view: View) -> set[Key]:
    """Points that no other point dominates in the study's objectives."""

    def computed() -> set[Key]:
        axes = objectives(view)
        return {point.key for point in nondominated(points_on(view, axes), axes)}

    return view.memo("front", computed)


def front_ids(view: View) -> set[str]:
    """Trials with a point on it."""
    return view.memo("trials of the front", lambda: {trial for trial, _ in front_keys(view)})


def metric_axis(view: View, name: str, query: str) -> Axis:
    """The axis of a metric that a reader asked for in the parameter `query`."""
    known = view.metrics
    own = next((each for each in known if each == name), None)
    if own is None:
        message = f"{name!r} is not a metric of this study; known: {', '.join(known)}"
        raise InvalidInput(message, [Detail(path=query, message=message)])
    return _axis(view, own)


def chosen_axes(view: View, x: str | None, y: str | None) -> tuple[Axis, Axis]:
    """The two axes of a front: asked for, or the study's first two objectives."""
    first, second = view.study.objectives[0].metric, view.study.objectives[1].metric
    return metric_axis(view, x or first, "x"), metric_axis(view, y or second, "y")


def mean_hypervolumes(view: View, axes: Sequence[Axis]) -> dict[str, float | None]:
    """Of each arm, the mean over seeds, as in the comparison; none before a seed has one."""
    points, lost = points_on(view, axes), lost_seeds(view)
    means: dict[str, float | None] = {}
    for arm in view.study.arms:
        own = [point for point in points if point.arm == arm.name]
        volumes = hypervolume_by_seed(own, view.study.seeds, axes, [seed for name, seed in lost if name == arm.name])
        means[arm.name] = float(np.mean(list(volumes.values()))) if volumes else None
    return means


def placed(view: View, axes: Sequence[Axis]) -> list[Placed]:
    """Trials with what chooses them, what is claimed of them, and their settings."""
    return [Placed(point, point, settings_of(view, point)) for point in points_on(view, axes)]


def spent_by_arm(view: View, axes: Sequence[Axis]) -> dict[str, list[Spent]]:
    """What each arm's trials cost and brought, in the order in which they ended."""
    points: dict[str, list[Point]] = {}
    for point in points_on(view, axes):
        points.setdefault(point.trial, []).append(point)
    spent: dict[str, list[Spent]] = {arm.name: [] for arm in view.study.arms}
    for trial_id in view.ended:
        trial = view.trials[trial_id]
        seconds = trial.training_seconds or 0.0
        spent[trial.planned.arm].append(Spent(trial.planned.seed, seconds, points.get(trial_id, [])))
    return spent
