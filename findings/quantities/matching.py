"""One arm beside another at the same value of a metric that neither was told to reach."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.wording import Said, signed
from service.analysis import mean_interval
from service.contract.metrics import described

Place = tuple[float, float]  # (what is matched, what is compared) of a trial


def places(question: Question, arm: str) -> dict[int, list[Place]]:
    """Of every trial of the arm that has both, by seed, in the order of what is matched."""
    compared, matched = question.given.metrics
    by_seed: dict[int, list[Place]] = {}
    for trial_id in question.trials(arm):
        trial = question.view.trials[trial_id]
        at, value = trial.metrics.get(matched), trial.metrics.get(compared)
        if at is not None and value is not None:
            by_seed.setdefault(trial.planned.seed, []).append((at, value))
    return {seed: sorted(own) for seed, own in by_seed.items()}


def between(places: list[Place], at: float) -> float | None:
    """On the straight line between the two neighbours of `at`; none outside them, which nobody has measured."""
    for (low, first), (high, second) in pairwise(places):
        if low <= at <= high:
            return first if low == high else first + (second - first) * (at - low) / (high - low)
    return None


def gaps(one: Mapping[int, list[Place]], other: Mapping[int, list[Place]]) -> dict[int, float]:
    """Of each seed: the one arm's value minus the other's at the same place, mean over the one's trials."""
    by_seed: dict[int, float] = {}
    for seed, own in one.items():
        beside = [(value, between(other.get(seed, []), at)) for at, value in own]
        known = [value - against for value, against in beside if against is not None]
        if known and len(known) == len(own):
            by_seed[seed] = sum(known) / len(known)
    return by_seed


def gap_at_equal(question: Question) -> Said:
    one, other = (places(question, arm) for arm in question.given.arms)
    by_seed = gaps(one, other)
    if not by_seed:
        raise ValueError(f"in no seed does {question.given.arms[1]} enclose the values of {question.given.arms[0]}")
    return signed(mean_interval(list(by_seed.values())), question.seeds)


def _heading(question: Question) -> str:
    compared, matched = (described(name).label for name in question.given.metrics)
    return f"{compared} against {question.given.arms[-1]} at the same {matched}"


QUANTITIES = [
    Quantity(
        "gap at equal(METRIC; METRIC; ARM; ARM; [CONDITION…])",
        "first arm minus second in the first metric at the same value of the second metric, there interpolated "
        "between the second arm's neighbouring trials of the same seed; paired over the seeds that enclose it",
        gap_at_equal,
        _heading,
    ),
]
