"""Of an arm with several tasks, against those that were trained alone."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.quantities.studies import arm_of
from findings.wording import Said, mean, signed
from service.contract.wording.numbers import NONE


def delta_m(question: Question) -> Said:
    own = arm_of(question).delta_m
    return Said(NONE) if own is None else signed(own.mean, question.seeds)


def mean_rank(question: Question) -> Said:
    rank = arm_of(question).mean_rank
    return Said(NONE) if rank is None else mean(rank, question.seeds)


QUANTITIES = [
    Quantity(
        "delta m(ARM)", "relative drop against single tasks in percent, below 0 is a gain", delta_m, lambda _: "Δm [%]"
    ),
    Quantity("mean rank(ARM)", "over the tasks, 1 is best", mean_rank),
]
