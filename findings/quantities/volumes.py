"""Hypervolumes seed by seed: between two arms, against the exact front, against the same arm of another study."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from findings.expression import Question
from findings.folder import load
from findings.quantities.metrics import BySeed, over_seeds
from findings.quantities.quantity import Quantity
from findings.replay import view_of
from findings.wording import Said, mean, signed
from service.analysis.candidates import objectives, points_on
from service.analysis.fronts import hypervolume_by_seed
from service.analysis.paired import paired
from service.analysis.truth import exact_curve
from service.contract.wording.numbers import NONE, number, p_value
from service.views.selectors import lost_seeds
from service.views.view import View


def volumes(view: View, arm: str) -> BySeed:
    """Of each seed's front, as in the comparison: chosen by the validation split where there is one."""
    axes = objectives(view)
    points = [point for point in points_on(view, axes) if point.arm == arm]
    return hypervolume_by_seed(points, view.study.seeds, axes, [seed for name, seed in lost_seeds(view) if name == arm])


def exact_volume(view: View) -> float:
    """Between the exact curve and the reference point, by trapezia along the curve."""
    axes = objectives(view)
    corner = {axis.metric: axis.reference for axis in axes if axis.reference is not None}
    curve = exact_curve(view.study, [axis.metric for axis in axes], corner) if len(corner) == len(axes) else None
    if curve is None:
        raise ValueError("the exact front of this study is not known, or has no reference point")
    x, y = (
        [sign * (corner[axis.metric] - value) for value in values]
        for axis, values, sign in zip(axes, (curve.x, curve.y), _signs(view), strict=True)
    )  # how much better than the reference
    best = sorted((a, b) for a, b in zip(x, y, strict=True) if a >= 0)
    under = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(best))
    return under + best[0][0] * best[0][1]  # up to the curve's end nothing better is known


def _signs(view: View) -> list[float]:
    return [1.0 if axis.goal == "minimize" else -1.0 for axis in objectives(view)]


def exact_shares(question: Question) -> BySeed:
    exact = exact_volume(question.view)
    return {seed: volume / exact for seed, volume in volumes(question.view, question.arm).items()}


def joint_shares(question: Question) -> BySeed:
    """Of what all arms have together, the most that these trainings could have."""
    view, axes = question.view, objectives(question.view)
    whole = hypervolume_by_seed(points_on(view, axes), view.study.seeds, axes)
    return {seed: own / whole[seed] for seed, own in volumes(view, question.arm).items()}


def least(by_seed: BySeed, question: Question) -> Said:
    return Said(number(min(by_seed.values())), len(by_seed), question.seeds)


def difference(question: Question) -> Said:
    if len(set(question.given.arms)) == 1:  # in a row of its own table
        return Said(NONE)
    one, other = (volumes(question.view, arm) for arm in question.given.arms)
    return signed(paired(one, other).difference, question.seeds)


def shares_of(question: Question) -> BySeed:
    one, other = (volumes(question.view, arm) for arm in question.given.arms)
    return {seed: volume / other[seed] for seed, volume in one.items() if seed in other}


def shortfall(question: Question) -> Said:
    lacks = {seed: 100 * (1 - share) for seed, share in shares_of(question).items()}
    told = signed(over_seeds(lacks), question.seeds)
    return told._replace(text=f"{told.text.removeprefix('+')} %")


def difference_p(question: Question) -> Said:
    one, other = (volumes(question.view, arm) for arm in question.given.arms)
    return Said(p_value(paired(one, other).p_value))


@lru_cache(maxsize=4)
def other_study(name: str) -> View:
    return view_of(load(name))


def shares_of_study(question: Question) -> BySeed:
    (name,) = question.given.words
    other = volumes(other_study(name), question.arm)
    return {seed: own / other[seed] for seed, own in volumes(question.view, question.arm).items() if seed in other}


QUANTITIES = [
    Quantity(
        "exact share(ARM)",
        "hypervolume of each seed over that of the exact front, mean over seeds",
        lambda q: mean(over_seeds(exact_shares(q)), q.seeds),
        lambda q: "share of the exact hypervolume",
    ),
    Quantity(
        "least exact share(ARM)",
        "the same of the seed that has the least",
        lambda q: least(exact_shares(q), q),
        lambda q: "in the worst seed",
    ),
    Quantity(
        "joint share(ARM)",
        "hypervolume of each seed over that of all arms together, mean over seeds",
        lambda q: mean(over_seeds(joint_shares(q)), q.seeds),
        lambda q: "share of all arms’ hypervolume",
    ),
    Quantity("least joint share(ARM)", "the same of the seed that has the least", lambda q: least(joint_shares(q), q)),
    Quantity("volume difference(ARM; ARM)", "of hypervolumes, first arm minus second, paired over seeds", difference),
    Quantity(
        "volume ratio(ARM; ARM)",
        "of hypervolumes in each seed, first arm over second, mean over seeds",
        lambda q: mean(over_seeds(shares_of(q)), q.seeds),
    ),
    Quantity(
        "volume short of(ARM; ARM)",
        "how much of the second arm's hypervolume the first lacks, in percent, mean over seeds",
        shortfall,
    ),
    Quantity("volume p(ARM; ARM)", "of the paired t-test of that difference, for this pair alone", difference_p),
    Quantity(
        "share of study(PATH; ARM)",
        "hypervolume of each seed over that of the same arm in another kept study, mean over seeds",
        lambda q: mean(over_seeds(shares_of_study(q)), q.seeds),
    ),
    Quantity(
        "least share of study(PATH; ARM)",
        "the same of the seed that has the least",
        lambda q: least(shares_of_study(q), q),
    ),
]
