"""The networks of a view that verify an arm's curve, each beside the curve of its own seed and settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from service.analysis.candidates import BETA
from service.analysis.fronts import Axis, Trial
from service.analysis.verified import Checked, Gaps, gaps_of
from service.analysis.verified_words import verified_words
from service.contract.wire.events import TrialState
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
    gaps = gaps_of(list(_pairs(view, arm)), sorted({_beta(trial) for trial in networks}), axes)
    counts, seconds = counted(networks), sum(trial.training_seconds or 0.0 for trial in networks)
    words = verified_words(arm, gaps, axes, (counts.finished + counts.failed, counts.planned), seconds)
    return Verified(gaps, counts, seconds, words)


def _beta(trial: TrialView) -> float:
    return float(trial.planned.config[BETA])


def _apart_from_weighting(trial: TrialView) -> tuple[int, str]:
    """What a curve and its networks share: the seed and every setting but the weighting's."""
    config = {key: value for key, value in trial.planned.config.items() if not key.startswith("weighting.")}
    return trial.planned.seed, repr(sorted(config.items(), key=lambda item: item[0]))


def _pairs(view: View, arm: str) -> Iterator[Checked]:
    networks: dict[tuple[int, str], dict[float, Trial]] = {}
    finished = [
        (own, trial)
        for own, trial in view.all_trials.items()
        if trial.planned.arm == arm and trial.state is TrialState.FINISHED
    ]
    for own, trial in finished:
        if trial.planned.verifies:
            network = Trial(own, arm, trial.planned.seed, trial.metrics)
            networks.setdefault(_apart_from_weighting(trial), {})[_beta(trial)] = network
    for own, trial in finished:
        known = networks.get(_apart_from_weighting(trial))
        if known and trial.points:
            seed = trial.planned.seed
            yield Checked(seed, [Trial(own, arm, seed, m, where) for where, m in trial.measured()], known)
