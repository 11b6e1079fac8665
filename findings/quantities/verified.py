"""Of a curve that networks trained separately for some of its βs were held against."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.quantities.studies import arm_of
from findings.wording import Said, signed
from service.analysis.verified import Gaps


def _gaps(question: Question) -> Gaps:
    own = arm_of(question).verified
    if own is None:
        raise ValueError(f"the curve of {question.arm} was not verified: its weighting has no `verify`")
    if question.metric not in own.gaps.matched:
        raise ValueError(f"{question.metric} is not an objective; objectives: {', '.join(own.gaps.matched)}")
    return own.gaps


def gap(question: Question) -> Said:
    return signed(_gaps(question).matched[question.metric], question.seeds)


def difference(question: Question) -> Said:
    return signed(_gaps(question).differences[question.metric], question.seeds)


QUANTITIES = [
    Quantity(
        "verified gap(METRIC; ARM)",
        "of its curve to networks trained separately, at the same value of the other objective; above 0 is better",
        gap,
    ),
    Quantity(
        "verified difference(METRIC; ARM)",
        "of its curve to networks trained separately, at the same β: the curve's value minus theirs",
        difference,
    ),
]
