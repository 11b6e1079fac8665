"""One point of a study, picked by a rule, as the API answers it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import yaml

from service.analysis import Point, nondominated
from service.analysis.candidates import candidates, chooser, metric_axis, objectives, points_on
from service.analysis.fronts import Axis, points_of
from service.analysis.picking import Bound, best, gap, knee, weighted, within
from service.contract.metrics import ACCURACY
from service.contract.study.alone import alone, with_values
from service.contract.wire.answers.picking import PickAnswer, PickedBy
from service.contract.wire.errors import Conflict, Detail, InvalidInput
from service.contract.wire.events import TrialState
from service.contract.wording.chosen_split import selection_words
from service.contract.wording.lists import listed
from service.contract.wording.numbers import plural, setting
from service.views.view import View


class Wish(NamedTuple):
    """What somebody asks for: a rule, and the texts that it needs."""

    by: PickedBy
    weights: str | None = None
    at_least: str | None = None
    at_most: str | None = None
    then: str | None = None
    arm: str | None = None


class Picked(NamedTuple):
    point: Point
    why: str
    among: int


def _refused(path: str, message: str) -> InvalidInput:
    return InvalidInput(message, [Detail(path=path, message=message)])


def _named(text: str, path: str) -> dict[str, float]:
    """`metric:number,metric:number` as numbers by metric."""
    numbers: dict[str, float] = {}
    for part in text.split(","):
        name, separator, amount = part.strip().rpartition(":")
        try:
            value = float(amount)
        except ValueError:
            value = math.nan
        if not separator or not math.isfinite(value):
            raise _refused(path, f"{path} takes metric:number, several with commas between, got {part.strip()!r}")
        if name in numbers:
            raise _refused(path, f"{path} takes each metric once, got {name!r} twice")
        numbers[name] = value
    return numbers


def _weights(text: str | None, axes: Sequence[Axis]) -> list[float]:
    """Of each objective, as shares of 1; an objective that is not named has none."""
    known = listed([axis.metric for axis in axes])
    if text is None:
        raise _refused("weights", f"weights of the objectives are missing, as {axes[0].metric}:1,{axes[1].metric}:2")
    named = _named(text, "weights")
    for name, value in named.items():
        if all(axis.metric != name for axis in axes):
            raise _refused("weights", f"{name!r} is no objective of this study, which has {known}")
        if value < 0:
            raise _refused("weights", f"a weight is at least 0, got {setting(value)} for {name}")
    total = sum(named.values())
    if total <= 0:
        raise _refused("weights", "one of the weights must be above 0, got none")
    return [named.get(axis.metric, 0.0) / total for axis in axes]


def _may_be_picked(view: View, arm: str | None, point: Point) -> bool:
    """Of the arm that is asked for, and with the values that a study of it alone is made of."""
    told = view.memo("trials with values", lambda: set(with_values(own.planned for own in view.trials.values())))
    return arm in (None, point.arm) and point.trial in told


def _front(view: View, arm: str | None) -> list[Point]:
    axes = objectives(view)
    points = [point for point in points_on(view, axes) if _may_be_picked(view, arm, point)]
    return nondominated(points, axes)


def _on_front(view: View, wish: Wish) -> Picked:
    axes, front = objectives(view), _front(view, wish.arm)
    weights = _weights(wish.weights, axes) if wish.by == "weights" else []
    if not front:
        raise Conflict("no trial has a point yet: there is nothing to pick from")
    among = f"of {plural(len(front), 'point')} on the front"
    if wish.by == "knee":
        return Picked(knee(front, axes), f"{among} it bulges furthest from the line between the ends", len(front))
    if wish.by == "weights":
        words = listed([f"{setting(w)} for {axis.metric}" for w, axis in zip(weights, axes, strict=True)])
        why = f"{among} it is nearest to the best of each objective, weighted {words}"
        return Picked(weighted(front, axes, weights), why, len(front))
    chosen = gap(front, axes)
    if chosen is None:
        raise Conflict(f"a gap needs a point between two others, and the front has {plural(len(front), 'point')}")
    return Picked(chosen, f"{among} its neighbours lie furthest apart: train more here", len(front))


def _within_bounds(view: View, wish: Wish) -> Picked:
    given = [("at_least", wish.at_least), ("at_most", wish.at_most)]
    asked = [
        (name, limit, path) for path, text in given if text for name, limit in _named(text, path).items()
    ]  # a metric may have both
    if not asked:
        raise _refused("at_least", f"a constraint needs at_least or at_most, as {ACCURACY}:0.95")
    bounded = [name for name, _, _ in asked]
    others = [axis.metric for axis in objectives(view) if axis.metric not in bounded]
    then = metric_axis(view, wish.then or (others or bounded)[0], "then")
    axes = [then, *(metric_axis(view, name, path) for name, _, path in asked)]
    points = [point for point in points_of(candidates(view), axes) if _may_be_picked(view, wish.arm, point)]
    bounds = [Bound(i, path == "at_least", limit) for i, (_, limit, path) in enumerate(asked, 1)]
    kept = within(points, bounds)
    words = listed([f"{name} {path.replace('_', ' ')} {setting(limit)}" for name, limit, path in asked])
    if not kept:
        raise Conflict(f"none of {plural(len(points), 'point')} has {words}")
    least = "least" if then.goal == "minimize" else "most"
    why = f"of {plural(len(kept), 'point')} with {words}, {len(points)} in all, it has the {least} {then.metric}"
    return Picked(best(kept, 0, then.goal), why, len(kept))


def pick_answer(view: View, wish: Wish) -> PickAnswer:
    """By the split that chooses; what is shown was measured on the test split."""
    if wish.arm is not None and all(arm.name != wish.arm for arm in view.study.arms):
        names = listed([arm.name for arm in view.study.arms])
        raise _refused("arm", f"{wish.arm!r} is no arm of this study, which has {names}")
    picked = _within_bounds(view, wish) if wish.by == "constraint" else _on_front(view, wish)
    point = picked.point
    trial = view.trials[point.trial]
    try:
        spec = alone(view.study, trial.planned)
    except ValueError as error:  # whoever trains it elsewhere may have told any
        rule = "has values that a study cannot have, as its trial_started told them: no study of it alone can be made"
        raise Conflict(f"the point that is picked, trial {point.trial}, {rule}") from error
    kept = view.study.evaluation.checkpoints and trial.state is TrialState.FINISHED
    chosen_on = chooser(view)
    return PickAnswer(
        by=wish.by,
        why="; ".join(filter(None, [picked.why, selection_words(chosen_on)])),
        trial=point.trial,
        arm=point.arm,
        seed=point.seed,
        where=point.where,
        state=trial.state,
        config=trial.planned.config,
        metrics=trial.at(point.where),
        selection=chosen_on,
        candidates=picked.among,
        checkpoint=f"/api/studies/{view.id}/trials/{point.trial}/checkpoint" if kept else None,
        spec=spec,
        yaml=yaml.safe_dump(spec, sort_keys=False, allow_unicode=True, width=100),
    )
