"""Of how many trials more something holds than in another arm, or than in another study, paired over seeds."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.metrics import BySeed, fulfilling
from findings.quantities.quantity import Quantity
from findings.quantities.volumes import other_study
from findings.wording import Said, signed
from service.analysis.paired import paired
from service.contract.wording.numbers import NONE


def shares(question: Question, arm: str) -> BySeed:
    """In each seed, of the arm's trials that were planned."""
    own = fulfilling(question._replace(given=question.given._replace(arms=(arm,))))
    return dict(zip(question.view.study.seeds, own.by_seed, strict=True))


def to_an_arm(question: Question) -> Said:
    if len(set(question.given.arms)) == 1:  # in a row of its own table
        return Said(NONE)
    one, other = (shares(question, arm) for arm in question.given.arms)
    return signed(paired(one, other).difference, question.seeds)


def to_a_study(question: Question) -> Said:
    (name,) = question.given.words
    one, other = (shares(question._replace(view=view), question.arm) for view in (question.view, other_study(name)))
    return signed(paired(one, other).difference, question.seeds)


QUANTITIES = [
    Quantity(
        "share difference(ARM; ARM; CONDITION; [CONDITION…])",
        "trials that fulfil it as a share of the arm's, first arm minus second, paired over seeds",
        to_an_arm,
    ),
    Quantity(
        "share difference to study(PATH; ARM; CONDITION; [CONDITION…])",
        "of the same arm in another kept study, paired over seeds",
        to_a_study,
    ),
]
