"""What a trial's last metrics say about it: the same rule for the service's views and for a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite, log

from service.contract.metrics import ERROR, I_XZ, I_ZY, INFO, LOSS, VALIDATION
from service.contract.study.constraints import Judged

COLLAPSED_BELOW_BITS = 0.05
TRAINED_RATE = LOSS.of(INFO)  # in nats
RATE, RELEVANCE, RELEVANCE_ERROR = ((VALIDATION.of(name), name) for name in (I_XZ, I_ZY, ERROR.of(I_ZY)))


def collapsed(metrics: Mapping[str, float | None]) -> bool:
    """The code carries nothing: a rate below 0.05 bit, by the fitted marginal or by the trained bound, or chance level.

    The trained bound is 0 for `none`, which has no rate (null) and never collapses. At chance level I(Z;Y) is not above
    0 by its own standard error, whatever the bounds on the rate still say. By the validation split where there is one,
    since what has collapsed is not chosen.
    """
    bits, nats = _choosing(metrics, *RATE), metrics.get(TRAINED_RATE)
    if bits is None:
        return False
    return min(bits, inf if nats is None else nats / log(2)) < COLLAPSED_BELOW_BITS or _at_chance(metrics)


def _at_chance(metrics: Mapping[str, float | None]) -> bool:
    gained, error = _choosing(metrics, *RELEVANCE), _choosing(metrics, *RELEVANCE_ERROR)
    return gained is not None and error is not None and gained <= error


def _choosing(metrics: Mapping[str, float | None], held_out: str, name: str) -> float | None:
    return metrics.get(held_out, metrics.get(name))


def objective_values(metrics: Mapping[str, float | None], names: Sequence[str]) -> list[float] | None:
    """A finished trial's place by these metrics; none when it collapsed or lacks one of them."""
    values = [metrics.get(name) for name in names]
    known = [value for value in values if value is not None and isfinite(value)]
    return None if collapsed(metrics) or len(known) < len(values) else known


def excesses(metrics: Mapping[str, float | None], bounds: Sequence[Judged]) -> list[float] | None:
    """By how much each bound is broken, 0 or less where it is kept; none when a metric is missing or no number."""
    known = [excess for bound in bounds if (excess := bound.excess(metrics)) is not None]
    return known if len(known) == len(bounds) else None


def feasible(metrics: Mapping[str, float | None], bounds: Sequence[Judged]) -> bool | None:
    """Whether all bounds are kept; none where there are none, or not all can be seen yet."""
    broken = excesses(metrics, bounds) if bounds else None
    return None if broken is None else all(each <= 0 for each in broken)
