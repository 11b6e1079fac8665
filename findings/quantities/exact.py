"""Of an arm's points one by one, where the exact front is known by formula."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.wording import Said, counted, plus
from service.analysis.candidates import objectives, points_on
from service.analysis.truth import gaussian_at_rate
from service.contract.methods.data import Gaussian
from service.contract.metrics import I_XZ, I_ZY
from service.contract.wording.numbers import number

INTERVAL = "interval"


def gaps(question: Question) -> dict[int, list[float]]:
    """Bits of I(Z;Y) above the exact curve at the point's own I(X;Z), of every point of each seed."""
    data, axes = question.view.study.data, objectives(question.view)
    if not isinstance(data, Gaussian) or [axis.metric for axis in axes] != [I_XZ, I_ZY]:
        raise ValueError(f"the exact curve is known for {I_XZ} and {I_ZY} of data gaussian, got data {data.name}")
    by_seed: dict[int, list[float]] = {}
    for point in points_on(question.view, axes):
        if point.arm == question.arm:
            x, y = point.values
            by_seed.setdefault(point.seed, []).append(y - gaussian_at_rate(data.correlations, x))
    if not by_seed:
        raise ValueError(f"{question.arm} has no point")
    return by_seed


def worst(question: Question) -> Said:
    least = min(gap for own in gaps(question).values() for gap in own)
    return Said(plus(least) + number(least), question.seeds, question.seeds)


def within(question: Question) -> Said:
    (most,) = question.given.numbers
    near = [[abs(gap) <= most for gap in own] for own in gaps(question).values()]
    shares = [sum(own) / len(own) for own in near] if INTERVAL in question.given.words else []
    return Said(counted(sum(map(sum, near)), sum(map(len, near)), shares), question.seeds)


QUANTITIES = [
    Quantity(
        "worst exact gap(ARM)", "the least I(Z;Y) against the exact curve of all points of all seeds, bits", worst
    ),
    Quantity(
        "within exact(NUMBER; ARM; [interval])",
        "points of all seeds that lie so many bits from the exact curve or less; if asked for, with Wilson's interval",
        within,
    ),
]
