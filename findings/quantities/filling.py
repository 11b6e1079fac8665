"""The gaps that an arm leaves on its front: of its means over seeds, which a search fills, and seed by seed."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.metrics import BySeed, times
from findings.quantities.quantity import Quantity
from findings.wording import Said
from service.contract.study.gaps import gaps
from service.contract.study.outcomes import objective_values
from service.contract.wording.numbers import NONE, number
from service.figures.filling import filling_data
from service.views.view import View


def largest_gap(view: View, arm: str) -> float:
    """Of the means over seeds by what chooses, in the unit square, as the figure shows it."""
    (own,) = (each for each in filling_data(view).arms if each.name == arm)
    if own.largest is None:
        raise ValueError(f"{arm} has no gap: its front has fewer than two values")
    return own.largest.size


def largest_gaps(question: Question, arm: str, shown: bool = False) -> BySeed:
    """Of each seed alone, by what chooses, or by what is shown of it: a front of its own on the test split."""
    study, view = question.view.study, question.view
    metrics = [objective.metric for objective in study.objectives] if shown else study.choosing
    signs = [1.0 if objective.goal == "minimize" else -1.0 for objective in study.objectives]
    points: dict[int, list[tuple[float, float]]] = {}
    for trial_id in question.trials(arm):
        trial = view.trials[trial_id]
        if values := objective_values(trial.metrics, metrics):
            points.setdefault(trial.planned.seed, []).append((signs[0] * values[0], signs[1] * values[1]))
    return {seed: max(gap.size for gap in gaps(own)) for seed, own in points.items()}


def gap_share(question: Question) -> Said:
    one, other = question.given.arms
    if one == other:  # in a row of its own table
        return Said(NONE)
    return Said(number(largest_gap(question.view, one) / largest_gap(question.view, other)))


def gap_share_of_seeds(question: Question, shown: bool = False) -> Said:
    one, other = question.given.arms
    if one == other:
        return Said(NONE)
    return times(largest_gaps(question, one, shown), largest_gaps(question, other, shown), question.seeds)


def gap_share_by_seed(question: Question) -> Said:
    one, other = (largest_gaps(question, arm) for arm in question.given.arms)
    return Said(", ".join(number(one[seed] / other[seed]) for seed in one))


QUANTITIES = [
    Quantity(
        "largest gap(ARM)",
        "of the front of means over seeds, in units of its ranges",
        lambda q: Said(number(largest_gap(q.view, q.arm))),
    ),
    Quantity("gap share(ARM; ARM)", "the largest gap of the first arm over that of the second", gap_share),
    Quantity(
        "gap share of seeds(ARM; ARM)",
        "the same in each seed alone, geometric mean over seeds and 95 % interval",
        gap_share_of_seeds,
    ),
    Quantity(
        "shown gap share of seeds(ARM; ARM)",
        "the same by the values on the test split, which no search saw",
        lambda q: gap_share_of_seeds(q, shown=True),
    ),
    Quantity("gap share by seed(ARM; ARM)", "the same, one value per seed", gap_share_by_seed),
]
