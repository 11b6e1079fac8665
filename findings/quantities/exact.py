"""Of an arm's points one by one, where the exact front is known by formula."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.wording import Said, plus
from service.analysis.candidates import objectives, points_on
from service.analysis.truth import gaussian_at_rate
from service.contract.methods.data import Gaussian
from service.contract.metrics import I_XZ, I_ZY
from service.contract.wording.numbers import number, whole


def gaps(question: Question) -> list[float]:
    """Bits of I(Z;Y) above the exact curve at the point's own I(X;Z), of every point in every seed."""
    data, axes = question.view.study.data, objectives(question.view)
    if not isinstance(data, Gaussian) or [axis.metric for axis in axes] != [I_XZ, I_ZY]:
        raise ValueError(f"the exact curve is known for {I_XZ} and {I_ZY} of data gaussian, got data {data.name}")
    own = [point.values for point in points_on(question.view, axes) if point.arm == question.arm]
    if not own:
        raise ValueError(f"{question.arm} has no point")
    return [y - gaussian_at_rate(data.correlations, x) for x, y in own]


def worst(question: Question) -> Said:
    least = min(gaps(question))
    return Said(plus(least) + number(least), question.seeds, question.seeds)


def within(question: Question) -> Said:
    (most,) = question.given.numbers
    found = gaps(question)
    return Said(f"{whole(sum(abs(gap) <= most for gap in found))} of {whole(len(found))}", question.seeds)


QUANTITIES = [
    Quantity(
        "worst exact gap(ARM)", "the least I(Z;Y) against the exact curve of all points of all seeds, bits", worst
    ),
    Quantity(
        "within exact(NUMBER; ARM)", "points of all seeds that lie so many bits from the exact curve or less", within
    ),
]
