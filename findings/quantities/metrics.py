"""Of metrics that trials report: means over seeds, the best, differences between arms, how many fulfil something."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from findings.expression import Question
from findings.quantities.marks import marked
from findings.quantities.quantity import Quantity
from findings.wording import Said, counted, mean, signed
from service.analysis import Interval, mean_interval
from service.analysis.candidates import candidates
from service.analysis.fronts import Point, axis_for, points_of
from service.analysis.paired import paired
from service.contract.metrics import Goal, described
from service.contract.wording.numbers import NONE, number, p_value, percent
from service.figures.drawing.configurations import best_of

BySeed = Mapping[int, float]


def values(question: Question, trials: Sequence[str]) -> dict[int, list[float]]:
    """Last values of the metric by seed."""
    groups: dict[int, list[float]] = {}
    for trial_id in trials:
        trial = question.view.trials[trial_id]
        value = trial.metrics.get(question.metric)
        if value is not None and math.isfinite(value):
            groups.setdefault(trial.planned.seed, []).append(value)
    if not groups:
        raise ValueError(f"none of these {len(trials)} trials reported {question.metric}")
    return groups


def means(question: Question, *arms: str) -> BySeed:
    """The mean over the trials of each seed."""
    return {seed: float(np.mean(own)) for seed, own in values(question, question.alike(*arms)).items()}


def best_points(question: Question, *arms: str) -> dict[int, Point]:
    """In each seed the trial that is best by what the study chooses by: validation where it has it."""
    axis = axis_for(question.view.study, question.metric)
    chosen = set(question.trials(*arms))
    points = points_of([trial for trial in candidates(question.view) if trial.id in chosen], [axis])
    sign = 1 if axis.goal == "maximize" else -1
    seeds = dict.fromkeys(point.seed for point in points)
    groups = {seed: [point for point in points if point.seed == seed] for seed in seeds}
    return {seed: max(own, key=lambda point: sign * (point.judged or point.values)[0]) for seed, own in groups.items()}


def bests(question: Question, *arms: str) -> BySeed:
    """What is claimed of these."""
    return {seed: point.values[0] for seed, point in best_points(question, *arms).items()}


def over_seeds(by_seed: BySeed) -> Interval:
    return mean_interval(list(by_seed.values()))


def differing(of: Callable[..., BySeed]) -> Callable[[Question], Said]:
    def say(question: Question) -> Said:
        arm, against = question.given.arms
        if arm == against:  # in a row of its own table
            return Said(NONE)
        one, other = of(question, arm), of(question, against)
        return signed(paired(one, other).difference, question.seeds)

    return say


def p_of(of: Callable[..., BySeed]) -> Callable[[Question], Said]:
    def say(question: Question) -> Said:
        one, other = (of(question, arm) for arm in question.given.arms)
        return Said(p_value(paired(one, other).p_value))

    return say


def times(one: BySeed, other: BySeed, seeds: int) -> Said:
    """exp of the mean log ratio over the seeds that both have, with its interval: `2.1 (1.8 to 2.6)`."""
    logs = [math.log(one[seed] / other[seed]) for seed in one if seed in other and one[seed] > 0 and other[seed] > 0]
    middle, half, count, *_ = mean_interval(logs)
    if middle is None:
        raise ValueError("no seed has a ratio: both values must be above 0")
    ends = "" if half is None else f" ({number(math.exp(middle - half))} to {number(math.exp(middle + half))})"
    return Said(number(math.exp(middle)) + ends, count, seeds)


def ratio(question: Question) -> Said:
    one, other = (means(question, arm) for arm in question.given.arms)
    return times(one, other, question.seeds)


def mean_of(question: Question) -> Said:
    arms = question.given.arms
    return marked(mean(over_seeds(means(question, *arms)), question.seeds), question, question.trials(*arms))


def by_seed(question: Question) -> Said:
    arms = question.given.arms
    words = ", ".join(number(value) for value in means(question, *arms).values())
    return marked(Said(words), question, question.trials(*arms))


def extreme(of: Callable[[Sequence[float]], float]) -> Callable[[Question], Said]:
    def say(question: Question) -> Said:
        trials = question.trials(*question.given.arms)
        groups = values(question, trials)
        end = of([of(own) for own in groups.values()])
        there = [trial for trial in trials if question.view.trials[trial].metrics.get(question.metric) == end]
        return marked(Said(number(end), len(groups), question.seeds), question, there)

    return say


def widest_gap(question: Question) -> Said:
    """Values that leave no gap cover the range evenly; its ends count, so what no trial reaches is a gap too."""
    low, high = question.given.numbers
    trials = question.trials(question.arm)
    gaps = {
        seed: max(np.diff(sorted([low, *(value for value in own if low < value < high), high])))
        for seed, own in values(question, trials).items()
    }
    said = mean(over_seeds({seed: float(gap) for seed, gap in gaps.items()}), question.seeds)
    inside = [
        trial for trial in trials if low < (question.view.trials[trial].metrics.get(question.metric) or low) < high
    ]
    return marked(said, question, inside)


class Fulfilled(NamedTuple):
    yes: int
    of: int
    by_seed: list[float]  # shares


def fulfilling(question: Question) -> Fulfilled:
    """How many trials fulfil the conditions, of those planned with the settings asked for, however they ended."""
    view = question.view
    settings = {"seed", *(key for trial in view.trials.values() for key in trial.planned.config)}
    kept = tuple(condition for condition in question.given.conditions if condition.key in settings)
    everyone = question._replace(given=question.given._replace(conditions=kept))
    yes, of = (
        Counter(view.trials[trial].planned.seed for trial in each.planned(*question.given.arms))
        for each in (question, everyone)
    )
    return Fulfilled(yes.total(), of.total(), [yes[seed] / of[seed] for seed in of])


def count(question: Question) -> Said:
    return Said(counted(*fulfilling(question)), question.seeds)


def share(question: Question) -> Said:
    own = fulfilling(question)
    return Said(percent(own.yes / own.of), question.seeds)


def _goal(question: Question) -> Goal:
    return axis_for(question.view.study, question.metric).goal


def title(question: Question) -> str:
    return described(question.metric).title


def _against(question: Question) -> str:
    return f"{title(question)}, difference to {question.given.arms[-1]}"


QUANTITIES = [
    Quantity(
        "mean(METRIC; [ARM]; [CONDITION…]; [all])",
        "last value, mean over the trials of each seed, then over seeds",
        mean_of,
        title,
    ),
    Quantity(
        "best(METRIC; ARM; [CONDITION…])",
        "in each seed the trial that the study's split chooses, mean over seeds",
        lambda q: mean(over_seeds(bests(q, q.arm)), q.seeds),
        lambda q: f"best {title(q)}",
    ),
    Quantity(
        "chosen(METRIC; ARM)",
        "the one configuration that the study's split chooses by its mean over seeds; its mean over seeds",
        lambda q: mean(best_of(q.view, q.arm, q.metric, _goal(q)).mean, q.seeds),
        lambda q: f"{title(q)} of the chosen configuration",
    ),
    Quantity(
        "chosen setting(METRIC; ARM)",
        "that configuration in words, as: β 0.01",
        lambda q: Said(best_of(q.view, q.arm, q.metric, _goal(q)).label or NONE),
        lambda q: f"chosen by {title(q)}",
    ),
    Quantity("least(METRIC; [ARM…]; [CONDITION…])", "of all trials", extreme(min), lambda q: f"least {title(q)}"),
    Quantity("largest(METRIC; [ARM…]; [CONDITION…])", "of all trials", extreme(max), lambda q: f"largest {title(q)}"),
    Quantity(
        "by seed(METRIC; [ARM]; [CONDITION…]; [all])", "one value per seed", by_seed, lambda q: f"{title(q)}, by seed"
    ),
    Quantity(
        "difference(METRIC; ARM; ARM; [CONDITION…]; [all])",
        "of means, first arm minus second, paired over seeds",
        differing(means),
        _against,
    ),
    Quantity(
        "best difference(METRIC; ARM; ARM; [CONDITION…])",
        "of what is chosen in each seed, paired over seeds",
        differing(bests),
        lambda q: f"best {_against(q)}",
    ),
    Quantity(
        "difference p(METRIC; ARM; ARM; [CONDITION…]; [all])",
        "paired t-test of that difference, not adjusted",
        p_of(means),
    ),
    Quantity("best difference p(METRIC; ARM; ARM; [CONDITION…])", "the same of what is chosen", p_of(bests)),
    Quantity(
        "ratio(METRIC; ARM; ARM; [CONDITION…]; [all])",
        "first arm over second, geometric mean over seeds and 95 % interval",
        ratio,
        lambda q: f"{title(q)} over that of {q.given.arms[-1]}",
    ),
    Quantity(
        "widest gap(METRIC; NUMBER; NUMBER; ARM; [CONDITION…])",
        "between neighbouring trials of a seed from the first number to the second, both ends counted; mean over seeds",
        widest_gap,
        lambda q: f"widest gap of {title(q)}",
    ),
    Quantity(
        "count([ARM]; CONDITION; [CONDITION…])",
        "trials that fulfil it, with Wilson's interval over seeds, as: 18 of 30 (31 to 83 %)",
        count,
    ),
    Quantity("share([ARM]; CONDITION; [CONDITION…])", "of the trials, in percent", share),
]
