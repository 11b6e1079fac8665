"""Trust lights of what is said: the worst mark of the trials behind an estimate of I(X;Z)."""

from __future__ import annotations

from collections.abc import Iterable

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.wording import Said
from service.analysis.lights import lights_of
from service.contract.metrics import described
from service.contract.wording.lights import Light, worst_of


def light(question: Question, trials: Iterable[str]) -> Light | None:
    """None for a metric that is no estimate, and for a study that was measured before there were lights."""
    lit = [lights_of(question.view.trials[trial]).get(question.metric) for trial in trials]
    return worst_of([each.light for each in lit if each])


def marked(said: Said, question: Question, trials: Iterable[str]) -> Said:
    """`9.87 ± 0.34 ●`."""
    own = light(question, trials)
    return said if own is None else said._replace(text=f"{said.text} {own.mark}")


def trust(question: Question) -> Said:
    own = light(question, question.trials(*question.given.arms))
    if own is None:
        raise ValueError(f"no trial has a light of {question.metric}")
    return Said(f"{own.mark} ({own.words})")


QUANTITIES = [
    Quantity(
        "trust(METRIC; [ARM…]; [CONDITION…])",
        "the worst light of an estimate of I(X;Z), as: ● (within 5 %); means and extremes of it have its mark anyway",
        trust,
        lambda q: f"trust in {described(q.metric).label}",
    ),
]
