"""The networks of a view that verify an arm's curve, each beside the curve of its own seed and settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from service.analysis.curve_places import ALONG, place_of_weights
from service.analysis.fronts import Axis, Trial, key_of
from service.analysis.verified import Checked, Gaps, gaps_of
from service.analysis.verified_words import verified_words
from service.contract.methods.problems import Bottleneck
from service.contract.wire.events import TrialState, Where
from service.views.selectors import Counts, counted
from service.views.trial import TrialView
from service.views.view import View


class Verified(NamedTuple):
    """What separately trained networks say of an arm's curve, and what they cost."""

    gaps: Gaps
    counts: Counts
    training_seconds: float
    words: str


def verified(view: View, arm: str, axes: Sequence[Axis]) -> Verified | None:
    """None where the arm's curve is not verified. Only what has finished is compared."""
    networks = [t for t in view.all_trials.values() if t.planned.verifies and t.planned.arm == arm]
    if not networks:
        return None
    places = {key_of("", where): where for where in map(_where, networks)}
    gaps = gaps_of(list(_pairs(view, arm)), [places[key] for key in sorted(places)], axes)
    counts, seconds = counted(networks), sum(trial.training_seconds or 0.0 for trial in networks)
    words = verified_words(arm, gaps, axes, (counts.finished + counts.failed, counts.planned), seconds)
    return Verified(gaps, counts, seconds, words)


def _where(trial: TrialView) -> Where:
    """The place of the curve that a network was trained for: its β, or the preference that its weights are."""
    problem = trial.planned.problem
    along = {ALONG} if isinstance(problem, Bottleneck) else set(problem.terms)
    where = place_of_weights(trial.planned.config, problem.terms, along)
    assert where is not None, "what verifies a curve has constant weights"
    return where


def _apart_from_weighting(trial: TrialView) -> tuple[int, str]:
    """What a curve and its networks share: the seed and every setting but the weighting's."""
    config = {key: value for key, value in trial.planned.config.items() if not key.startswith("weighting.")}
    return trial.planned.seed, repr(sorted(config.items(), key=lambda item: item[0]))


def _pairs(view: View, arm: str) -> Iterator[Checked]:
    networks: dict[tuple[int, str], list[tuple[Where, Trial]]] = {}
    finished = [
        (own, trial)
        for own, trial in view.all_trials.items()
        if trial.planned.arm == arm and trial.state is TrialState.FINISHED
    ]
    for own, trial in finished:
        if trial.planned.verifies:
            network = Trial(own, arm, trial.planned.seed, trial.metrics)
            networks.setdefault(_apart_from_weighting(trial), []).append((_where(trial), network))
    for own, trial in finished:
        known = networks.get(_apart_from_weighting(trial))
        if known and trial.points:
            seed = trial.planned.seed
            yield Checked(seed, [Trial(own, arm, seed, m, where) for where, m in trial.measured()], known)
