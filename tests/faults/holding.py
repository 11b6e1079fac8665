"""What must hold of a disturbed study, by its log and its files beside those of the same study undisturbed."""

from __future__ import annotations

import math
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from frontends.client import Study
from tests.faults.disturbed import PAIRS

Tensor = NDArray[np.floating[Any]]
TIMES = ("seconds",)  # of training: no two runs have the same


class Told(NamedTuple):
    """A study as its log has it."""

    state: Mapping[str, Any]
    events: list[dict[str, Any]]
    trials: Mapping[str, Mapping[str, Any]]
    weights: Mapping[str, bytes]

    @classmethod
    def of(cls, study: Study) -> Told:
        trials = {trial["id"]: trial for trial in study.trials()}
        kept = {name for name in trials if "checkpoint" in study.trial(name)["artifacts"]}
        return cls(study.read(), list(study.events()), trials, {name: study.checkpoint(name) for name in kept})

    def by_trial(self, kind: str) -> dict[str, list[dict[str, Any]]]:
        own: dict[str, list[dict[str, Any]]] = {trial: [] for trial in self.trials}
        for event in self.events:
            if event["kind"] == kind:
                own[event["trial"]].append(event)
        return own


class Held(NamedTuple):
    what: str
    holds: bool
    figure: str


def held(told: Told, undisturbed: Told, epochs: int, save_seconds: float) -> Iterator[Held]:
    finished = Counter(event["trial"] for event in told.events if event["kind"] == "trial_finished")
    failed = [event for event in told.events if event["kind"] == "trial_failed"]
    once = sum(finished[trial] == 1 for trial in told.trials)
    ended = told.state["state"] == "finished" and not told.state["reason"] and not failed
    yield Held("the study finished, nothing missing", ended, f"{told.state['state']}, {told.state['reason']}")
    yield Held("every planned trial finished once", once == len(undisturbed.trials), f"{once} of {len(told.trials)}")
    reports = told.by_trial("report")
    whole = sum([r["metrics"]["epoch"] for r in own] == list(range(1, epochs + 1)) for own in reports.values())
    count = sum(map(len, reports.values()))
    yield Held("every epoch once, in order", whole == len(told.trials), f"{count} of {epochs * len(told.trials)}")
    numbers = [event["seq"] for event in told.events]
    yield Held("the log has no hole", numbers == list(range(1, len(numbers) + 1)), f"{len(numbers)} events")
    yield _same_weights(told, undisturbed)
    yield _same_metrics(reports, undisturbed.by_trial("report"))
    yield _same_suggestions(told, undisturbed)
    yield _repeated(told, save_seconds)


def ended_only_when_killed(ends: Sequence[int], kills: int) -> Held:
    """Of `up`: how it ended when nobody had asked it to, and how often it was killed."""
    held = all(code == -signal.SIGKILL for code in ends) and len(ends) <= kills
    return Held("`up` ended only when it was killed", held, f"{list(ends)}, {kills} kills")


def _same_weights(told: Told, undisturbed: Told) -> Held:
    there = sum(trial in told.weights for trial in told.trials)
    largest = 0.0
    for trial in told.weights.keys() & undisturbed.weights.keys():
        ours, theirs = load(told.weights[trial]), load(undisturbed.weights[trial])
        if ours.keys() != theirs.keys():
            largest = math.inf
            break
        largest = max(largest, *(_apart(ours[name], theirs[name]) for name in ours))
    good = there == len(told.trials) and largest == 0
    return Held("weights complete and equal", good, f"{there} of {len(told.trials)}, largest difference {largest:.1g}")


def _apart(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference; a weight that is no number equals none."""
    if ours.shape != theirs.shape or not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        return math.inf
    return float(abs(ours - theirs).max(initial=0.0))


def _same_metrics(ours: Mapping[str, list[dict[str, Any]]], theirs: Mapping[str, list[dict[str, Any]]]) -> Held:
    """Of every report, and of every point of a curve in it."""
    compared, largest = 0, 0.0
    for trial, reports in theirs.items():
        by_epoch = {report["metrics"]["epoch"]: report for report in ours.get(trial, [])}
        for report in reports:
            own = by_epoch.get(report["metrics"]["epoch"], {"metrics": {}})
            pairs = [(own["metrics"], report["metrics"])]
            points = report.get("points") or []
            own_points = own.get("points") or [{"metrics": {}} for _ in points]
            pairs += [(mine["metrics"], other["metrics"]) for mine, other in zip(own_points, points, strict=True)]
            for mine, other in pairs:
                for name in mine.keys() | other.keys() - set(TIMES):
                    compared += 1
                    largest = max(largest, _difference(mine.get(name), other.get(name)) if name not in TIMES else 0)
    return Held("metrics equal the undisturbed run's", largest == 0, f"{compared}, largest difference {largest:.1g}")


def _difference(mine: float | None, other: float | None) -> float:
    if mine is None or other is None:
        return 0.0 if mine is other else math.inf
    return abs(mine - other)


def _same_suggestions(told: Told, undisturbed: Told) -> Held:
    ours, theirs = (
        {trial["id"]: trial["config"] for trial in each.trials.values() if trial["arm"] == "tuned β"}
        for each in (told, undisturbed)
    )
    same = sum(ours.get(trial) == config for trial, config in theirs.items())
    return Held("Optuna suggested the same", same == len(theirs), f"{same} of {len(theirs)}")


class Again(NamedTuple):
    """A start of a trial that had reported: what is done once more, and what a save interval allows."""

    epochs: int
    seconds: float  # from the save to the last report, whatever else the machine did
    trained: float  # of them in training, by the cohort's own clock
    allowed: float  # of training


def _repeated(told: Told, save_seconds: float) -> Held:
    again = [start for trial in told.trials for start in starts_again(told.events, trial, save_seconds)]
    over = [start for start in again if start.trained > start.allowed]
    most = max(again, key=lambda start: start.trained - start.allowed, default=Again(0, 0.0, 0.0, save_seconds))
    figure = (
        f"{len(again)} starts again; most: {most.epochs} epochs, {most.trained:.1f} s of training where "
        f"{most.allowed:.1f} s are allowed, {most.seconds:.1f} s since the save; {len(over)} over"
    )
    return Held(f"at most one save interval ({save_seconds:g} s) repeated", not over, figure)


def starts_again(events: list[dict[str, Any]], trial: str, save_seconds: float) -> Iterator[Again]:
    """From the last save, or the start before, to the last report, in seconds of training: a save comes with the end of
    an epoch, so it may be late by the longest of those in between."""
    at, clock = {0: 0.0}, {0: 0.0}
    begun, starting = 0.0, None
    for event in (event for event in events if event.get("trial") == trial):
        now = datetime.fromisoformat(event["at"]).timestamp()
        last = max(at)
        if event["kind"] == "trial_started":
            at[0] = at[0] or now
            starting = (event.get("epoch") or 0, now)
        elif event["kind"] == "report":
            if starting is not None:
                epoch, when = starting
                news = [e for e in sorted(at) if e > epoch and at[e] > begun]
                if news:
                    since = max(at.get(epoch, 0.0), begun)
                    took = [PAIRS * (clock[e] - clock[e - 1]) for e in news]
                    yield Again(last - epoch, at[last] - since, sum(took), save_seconds + max(took))
                begun, starting = when, None
            at[event["metrics"]["epoch"]], clock[event["metrics"]["epoch"]] = now, event["metrics"]["seconds"]
