"""What several readers select from a view: counts, progress, what was lost, what it cost, what varies."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from math import ceil
from typing import NamedTuple

from service.contract.methods.stopping import Halving
from service.contract.study.halved import halved
from service.contract.wire.events import TrialState
from service.views.clock import Clock
from service.views.trial import TrialView
from service.views.view import View


class Counts(NamedTuple):
    """`planned` counts all trials; `collapsed` are those that finished, or ended with their arm, and whose code
    carries nothing, `infeasible` those of the others that break a constraint of the study."""

    planned: int
    running: int
    finished: int
    failed: int
    stopped: int
    collapsed: int
    infeasible: int = 0


def counts(view: View, arm: str | None = None) -> Counts:
    """Of all trials, or of one arm's; with those that verify curves."""
    return counted(trial for trial in view.all_trials.values() if arm is None or trial.planned.arm == arm)


def compared_counts(view: View, arm: str) -> Counts:
    """Of those of an arm's trials that are compared."""
    return counted(trial for trial in view.trials.values() if trial.planned.arm == arm)


def counted(trials: Iterable[TrialView]) -> Counts:
    chosen = list(trials)
    states = [trial.state for trial in chosen]
    return Counts(
        planned=len(chosen),
        running=states.count(TrialState.RUNNING),
        finished=states.count(TrialState.FINISHED),
        failed=states.count(TrialState.FAILED),
        stopped=states.count(TrialState.STOPPED),
        collapsed=sum(trial.collapsed for trial in chosen),
        infeasible=sum(trial.infeasible for trial in chosen),
    )


def progress(view: View, arm: str | None = None) -> float:
    """Share of the work that is done, 0 to 1."""
    trials = [trial for trial in view.all_trials.values() if arm is None or trial.planned.arm == arm]
    if view.study.stopping is not None:
        return _share_of_epochs(view.study.stopping, {own.name for own in halved(view.study)}, trials)
    return sum(trial.done for trial in trials) / len(trials) if trials else 1.0


def _share_of_epochs(halving: Halving, cut: Collection[str], trials: Sequence[TrialView]) -> float:
    """Of the epochs that will have been trained: those that trials of the arms `cut` stop before are no work."""
    trained = sum(trial.epoch for trial in trials)
    left = 0
    for arm in {trial.planned.arm for trial in trials}:
        own = [trial for trial in trials if trial.planned.arm == arm and not trial.is_over]
        seeds = len({trial.planned.seed for trial in own})
        if arm not in cut:
            left += sum(max(0, trial.planned.training.epochs - trial.epoch) for trial in own)
        elif own:
            epochs, first = own[0].planned.training.epochs, min(trial.epoch for trial in own)
            rung = next((rung for rung in halving.rungs(epochs) if rung > first), epochs)
            left += sum(max(0, rung - trial.epoch) for trial in own)
            left += seeds * halving.epochs_from(halving.going_on(ceil(len(own) / seeds)), rung, epochs)
    return trained / (trained + left) if trained + left else 1.0


def eta_seconds(view: View) -> float | None:
    if view.interrupted:  # nothing goes on as it did
        return None
    return time_left(view.clock, progress(view), datetime.now(UTC))


def time_left(clock: Clock, done: float, now: datetime) -> float | None:
    """Seconds, if it goes on as it did; none while it does not run, and before anything was reported."""
    return None if clock.since is None or done <= 0 else clock.ran_until(now) * (1 - done) / done


def whole_arms(view: View) -> list[str]:
    """Those of which nothing more is to come."""
    under_way = {trial.planned.arm for trial in view.trials.values() if not trial.is_over}
    return [arm.name for arm in view.study.arms if arm.name not in under_way]


def counting(view: View) -> dict[str, TrialView]:
    """Trials that count for a front. What is told of one front asks for them several times."""
    return view.memo("counting", lambda: {own: trial for own, trial in view.trials.items() if trial.counts_for_front})


def lost_seeds(view: View) -> set[tuple[str, int]]:
    """(arm, seed) whose trials are all over and none of which counts: failed, collapsed or infeasible."""
    counts = counting(view)
    alive = {(t.planned.arm, t.planned.seed) for own, t in view.trials.items() if own in counts or not t.is_over}
    return {(t.planned.arm, t.planned.seed) for t in view.trials.values()} - alive


def training_seconds(view: View) -> dict[str, float]:
    """Of each arm, all its trials together, but for those that verify its curve."""
    seconds = {arm.name: 0.0 for arm in view.study.arms}
    for trial in view.trials.values():
        seconds[trial.planned.arm] += trial.training_seconds or 0.0
    return seconds


def training_epochs(view: View) -> dict[str, float]:
    """Of each arm, per seed of its own, likewise: studies laid over each other may have different ones."""
    epochs = {arm.name: 0 for arm in view.study.arms}
    seeds: dict[str, set[int]] = {}
    for trial in view.trials.values():
        epochs[trial.planned.arm] += trial.epoch
        seeds.setdefault(trial.planned.arm, set()).add(trial.planned.seed)
    return {arm: own / len(seeds.get(arm, [0])) for arm, own in epochs.items()}


def has_curves(view: View) -> bool:
    """Some trials have brought many points."""
    return any(len(trial.points) > 1 for trial in view.trials.values())


def configurations(view: View, arm: str) -> list[list[str]]:
    """Trial ids by configuration, in the order of the plan."""
    groups: dict[str, list[str]] = {}
    for trial_id, trial in view.trials.items():
        if trial.planned.arm == arm:
            key = json.dumps(trial.planned.config, sort_keys=True, default=str)
            groups.setdefault(key, []).append(trial_id)
    return list(groups.values())


def varied_by_arm(view: View) -> dict[str, set[str]]:
    """The configuration keys that differ between the trials of each arm."""
    return view.memo("varied keys", lambda: _varied_by_arm(view))


def _varied_by_arm(view: View) -> dict[str, set[str]]:
    first: dict[str, dict[str, object]] = {}
    varied: dict[str, set[str]] = {arm.name: set() for arm in view.study.arms}
    for trial in view.trials.values():
        arm, config = trial.planned.arm, trial.planned.config
        seen, differ = first.setdefault(arm, dict(config)), varied[arm]
        for key, value in config.items():
            if key not in differ and seen.setdefault(key, value) != value:
                differ.add(key)
    return varied


def varied_keys(view: View, arm: str) -> set[str]:
    return varied_by_arm(view)[arm]
