"""Published values beside ours, and how far apart they are."""

from __future__ import annotations

import numpy as np

from findings.expression import Question
from findings.published_values import Published, published
from findings.quantities.quantity import Quantity
from findings.quantities.volumes import volumes
from findings.wording import Said
from service.contract.wording.numbers import NONE, decimals


def row(question: Question) -> tuple[Published, float, float | None] | None:
    """What is published, and the mean and standard deviation of the arm; none where that has no row."""
    (name,) = question.given.words
    table = published(name)
    if question.arm not in table.arms:
        return None
    return table, *table.arms[question.arm]


def theirs(question: Question) -> Said:
    if (own := row(question)) is None:
        return Said(NONE)
    table, mean, deviation = own
    return Said(_with_deviation(mean, deviation, table.decimals))


def ours(question: Question) -> Said:
    """In as many decimals as the published value has."""
    values = list(volumes(question.view, question.arm).values())
    own = row(question)
    mean, deviation, places = float(np.mean(values)), float(np.std(values, ddof=1)), own[0].decimals if own else 3
    return Said(_with_deviation(mean, deviation, places), len(values), question.seeds)


def deviations(values: list[float], mean: float, deviation: float | None, rounding: float) -> float:
    """(mean of ours − theirs) / √(s² + s_theirs² + u²), u the standard deviation of what rounding changed."""
    spread = float(np.var(values, ddof=1)) + (deviation or 0.0) ** 2 + rounding**2
    return float((np.mean(values) - mean) / np.sqrt(spread))


def apart(question: Question) -> Said:
    if (own := row(question)) is None:
        return Said(NONE)
    table, mean, deviation = own
    values = list(volumes(question.view, question.arm).values())
    return Said(decimals(deviations(values, mean, deviation, table.rounding), 1, plus=True))


def _with_deviation(mean: float, deviation: float | None, places: int) -> str:
    shown = decimals(mean, places)
    return shown if deviation is None else f"{shown} ({decimals(deviation, places)})"


QUANTITIES = [
    Quantity(
        "published(PATH; ARM)",
        "what docs/findings/published/PATH.yaml has of the arm, mean and standard deviation",
        theirs,
        lambda q: "published",
    ),
    Quantity("measured beside(PATH; ARM)", "the same of our seeds", ours, lambda q: "ours"),
    Quantity(
        "deviations apart(PATH; ARM)",
        "ours minus published, in standard deviations of single runs of both and of the published rounding",
        apart,
        lambda q: "apart, in standard deviations of runs",
    ),
]
