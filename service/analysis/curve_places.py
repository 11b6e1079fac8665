"""Places of a curve, over the seeds of its configuration, each beside the nearest setting of constant weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from service.analysis.candidates import BETA
from service.analysis.fronts import Key, key_of
from service.analysis.intervals import Interval, mean_interval
from service.contract.methods.weightings import CONSTANT, REFERENCES
from service.contract.metrics import Kind, metric
from service.contract.study.outcomes import collapsed
from service.contract.study.study import Arm
from service.contract.wire.errors import NotFound
from service.contract.wire.events import Metrics, TrialState, Where
from service.contract.wording.keys import WEIGHTS
from service.views.selectors import configurations, varied_by_arm
from service.views.trial import TrialView
from service.views.view import View

ALONG = "beta"  # what the curve of a bottleneck goes along; others go along the shares of their terms
BESIDE = (Kind.EPOCH, Kind.COUNT, Kind.ERROR, Kind.CALIBRATION)  # they tell of other metrics


class Drawn(NamedTuple):
    """A curve that can be looked at: that of a configuration, in all its seeds."""

    trial: str  # the first of the configuration, by which it is asked for
    arm: str
    config: dict[str, object]  # what tells it from the arm's others
    seeds: int  # that have brought a curve


class Place(NamedTuple):
    """What the seeds measured last at one place of their curves."""

    where: Where
    metrics: dict[str, Interval]
    collapsed: int  # seeds whose code carries nothing there
    nearest: int | None  # among the settings beside it


class Constant(NamedTuple):
    """A setting of an arm of constant weights, where it would lie on a curve, and what its seeds measured last."""

    where: Where
    config: dict[str, object]  # what tells it from the arm's others
    metrics: dict[str, Interval]


class Beside(NamedTuple):
    """The arm that a curve is seen beside, by its settings."""

    arm: str
    verifies: bool  # these are the networks that were trained to check the curve, of its own arm
    settings: list[Constant]


class CurvePlaces(NamedTuple):
    """The curves of a study, one of them place by place."""

    curves: list[Drawn]
    shown: str | None  # by its trial; none before a curve was brought
    places: list[Place]  # along the curve
    beside: Beside | None


def curve_places(view: View, trial: str | None) -> CurvePlaces:
    """The curve of this trial's configuration; without one, the first of the study."""
    if trial is not None and trial not in view.trials:
        raise NotFound(f"there is no trial {trial!r} in study {view.id}")
    groups = {ids[0]: ids for arm in view.study.arms for ids in configurations(view, arm.name)}
    curves = [drawn for own in groups.values() if (drawn := _drawn(view, own)).seeds]
    asked = next((first for first, own in groups.items() if trial in own), None)
    shown = asked or (curves[0].trial if curves else None)
    places = _places(_counted(view, groups[shown])) if shown else []
    if not shown or not places:
        return CurvePlaces(curves, shown, [], None)
    beside = _beside(view, view.trials[shown], set(places[0].where))
    if beside is not None:
        places = [place._replace(nearest=_nearest(place.where, beside.settings)) for place in places]
    return CurvePlaces(curves, shown, places, beside)


def _counted(view: View, trials: Sequence[str]) -> list[TrialView]:
    """A failed trial has no values, whatever it reported before."""
    return [own for own in map(view.all_trials.__getitem__, trials) if own.state is not TrialState.FAILED]


def _drawn(view: View, trials: Sequence[str]) -> Drawn:
    planned = view.trials[trials[0]].planned
    seeds = sum(len(own.points) > 1 for own in _counted(view, trials))
    return Drawn(trials[0], planned.arm, _told_apart(view, planned.arm, planned.config), seeds)


def _told_apart(view: View, arm: str, config: Mapping[str, object]) -> dict[str, object]:
    varied = varied_by_arm(view)[arm]
    return {key: value for key, value in config.items() if key in varied}


def _places(trials: Iterable[TrialView]) -> list[Place]:
    """Along the curve; a place that only some seeds have measured so far has fewer. What lies along something else than
    the first place lies nowhere on it."""
    along: Where | None = None
    wheres: dict[Key, Where] = {}
    measured: dict[Key, list[Metrics]] = {}
    for trial in trials:
        for where, metrics in trial.measured() if len(trial.points) > 1 else ():
            along = along or where
            if where and along and where.keys() == along.keys():
                key = key_of("", where)
                wheres.setdefault(key, where)
                measured.setdefault(key, []).append(metrics)
    return [
        Place(wheres[key], over_seeds(own), sum(map(collapsed, own)), nearest=None) for key, own in measured.items()
    ]


def over_seeds(measured: Sequence[Metrics]) -> dict[str, Interval]:
    """Of each metric, over those that have a finite value; without what only tells of other metrics."""
    names = dict.fromkeys(name for each in measured for name in each)
    own = {name: [v for each in measured if (v := each.get(name)) is not None and math.isfinite(v)] for name in names}
    return {name: mean_interval(values) for name, values in own.items() if values and not _is_beside(name)}


def _is_beside(name: str) -> bool:
    row = metric(name)
    return row is not None and row.kind in BESIDE


def _beside(view: View, curve: TrialView, along: set[str]) -> Beside | None:
    """The first arm of constant weights that has a place on such a curve, one of the same problem before others;
    without any, the networks that verify the curve.
    """
    own = curve.planned.arm
    problem = next(arm.problem for arm in view.study.arms if arm.name == own)
    for other in sorted(view.study.arms, key=lambda arm: arm.problem != problem):
        placed = [
            (where, ids)
            for ids in configurations(view, other.name)
            if (where := constant_place(other, view.trials[ids[0]].planned.config, along))
        ]
        if settings := _settings(view, other.name, placed):
            return Beside(other.name, False, settings)
    settings = _settings(view, own, _verifying(view, curve, along))
    return Beside(own, True, settings) if settings else None


def _settings(view: View, arm: str, placed: Iterable[tuple[Where, Sequence[str]]]) -> list[Constant]:
    """Those of which a trial has reported and not failed."""
    measured = [(where, ids, [own.metrics for own in _counted(view, ids) if own.metrics]) for where, ids in placed]
    return [
        Constant(where, _told_apart(view, arm, view.all_trials[ids[0]].planned.config), over_seeds(metrics))
        for where, ids, metrics in measured
        if metrics
    ]


def _verifying(view: View, curve: TrialView, along: set[str]) -> list[tuple[Where, list[str]]]:
    """The networks that share all but the weighting with a curve, by their place on it."""

    def others(trial: TrialView) -> dict[str, object]:
        return {key: value for key, value in trial.planned.config.items() if not key.startswith("weighting.")}

    by_place: dict[Key, tuple[Where, list[str]]] = {}
    terms = curve.planned.problem.terms
    for trial_id, trial in view.all_trials.items():
        planned = trial.planned
        if planned.verifies and planned.arm == curve.planned.arm and others(trial) == others(curve):
            where = place_of_weights(planned.config, terms, along)
            if where is not None:
                by_place.setdefault(key_of("", where), (where, []))[1].append(trial_id)
    return list(by_place.values())


def constant_place(arm: Arm, config: Mapping[str, object], along: set[str]) -> Where | None:
    """Where on such a curve constant weights lie: at their β, or at their shares; none where they move."""
    if arm.weighting.name not in CONSTANT or arm.weighting.name in REFERENCES:
        return None
    return place_of_weights(config, arm.problem.terms, along)


def place_of_weights(config: Mapping[str, object], terms: Sequence[str], along: set[str]) -> Where | None:
    """Where a trial lies by the constant weights that its configuration has."""
    given = [config.get(WEIGHTS + term, 1.0) for term in terms]
    if BETA in config:
        given = [1.0, config[BETA]]
    weights = [float(weight) for weight in given if isinstance(weight, (int, float))]
    if len(weights) != len(terms):
        return None
    if along == {ALONG}:
        return {ALONG: weights[1] / weights[0]} if len(weights) == 2 and weights[0] else None
    if along != set(terms) or not sum(weights):
        return None
    return {term: weight / sum(weights) for term, weight in zip(terms, weights, strict=True)}


def _nearest(where: Where, settings: Sequence[Constant]) -> int:
    return min(range(len(settings)), key=lambda i: apart(where, settings[i].where))


def apart(one: Where, other: Where) -> float:
    """How far two places are from each other: βs by their ratio r, as |r − 1|/(r + 1), which knows 0; shares by their
    Euclidean distance.
    """
    if ALONG in one:
        a, b = one[ALONG], other[ALONG]
        return abs(a - b) / (a + b) if a + b else 0.0
    return math.dist(list(one.values()), [other[term] for term in one])
