"""What is said of a curve that was checked by networks trained separately."""

from __future__ import annotations

from collections.abc import Sequence

from service.analysis.fronts import Axis
from service.analysis.intervals import LEAST_SEEDS, Interval
from service.analysis.place_words import amount
from service.analysis.verified import Gaps
from service.contract.metrics import described
from service.contract.wording.lists import listed
from service.contract.wording.numbers import duration, percent, plural, spread, whole

NETWORKS = "the separately trained networks"
ALONG_BETA, ALONG_TASKS = "β", "preference"  # what a place on a curve is called


def verified_words(arm: str, own: Gaps, axes: Sequence[Axis], ended: tuple[int, int], seconds: float) -> str:
    """`all β’s curve is 0.01 ± 0.02 bits of I(Z;Y) above the separately trained networks at 3 βs, at the same I(X;Z)
    (5 seeds: no difference shown).`; nothing before a curve and a network of the same seed have finished.
    """
    compared = [at for at in own.places if any(each.seeds for each in at.differences.values())]
    if not compared:
        return ""
    place = ALONG_BETA if "beta" in compared[0].where else ALONG_TASKS
    said = f"{_height(arm, own, axes, plural(len(compared), place))}{_seeds(own, axes)}"
    along = listed([_along(axis, own.differences[axis.metric]) for axis in axes])
    past = 0.0 if own.reached is None else 1 - own.reached
    some = f"; {percent(past)} of the networks lie past an end of the curve" if past else ""
    over, planned = ended
    left = f"; {whole(over)} of {plural(planned, 'network')} have ended" if over < planned else ""
    cost = f"They took {duration(seconds)} of training besides."
    return f"{said}; at the same {place} it has {along}{some}{left}. {cost}"


def _told(own: Gaps, axes: Sequence[Axis]) -> tuple[Axis, Axis, Interval] | None:
    """The objective that is told, the last that is known at a matched value of the other, which comes second."""
    if len(axes) != 2:
        return None
    known = [(axes[i], axes[1 - i], own.matched[axes[i].metric]) for i in (1, 0)]
    return next((each for each in known if each[2].seeds), None)


def _height(arm: str, own: Gaps, axes: Sequence[Axis], at: str) -> str:
    """How far above or below; where nothing can be matched, that it is not known."""
    told = _told(own, axes)
    if told is None:
        return f"How far {arm}’s curve lies above or below {NETWORKS} at {at} is not known"
    axis, other, gap = told
    side = "below" if (gap.mean or 0.0) < 0 else "above"
    size = amount(axis.metric, gap)
    return f"At the same {described(other.metric).label}, {arm}’s curve is {size} {side} {NETWORKS} at {at}"


def _seeds(own: Gaps, axes: Sequence[Axis]) -> str:
    """` (5 seeds: no difference shown)`: above and below are shown where the interval holds no 0."""
    told = _told(own, axes)
    if told is None:
        return ""
    gap = told[2]
    if gap.seeds < LEAST_SEEDS or gap.half_width is None:
        return f" ({plural(gap.seeds, 'seed')}: no interval, no difference shown)"
    shown = abs(gap.mean or 0.0) > gap.half_width
    return f" ({plural(gap.seeds, 'seed')}{'' if shown else ': no difference shown'})"


def _along(axis: Axis, difference: Interval) -> str:
    """`0.3 ± 0.2 bits more I(X;Z)`: where the curve's β is, against the network's."""
    row = described(axis.metric)
    mean = difference.mean or 0.0
    if not mean and not difference.half_width:
        return f"the same {row.label}"
    size = spread(abs(mean), difference.half_width)
    more = "less" if mean < 0 else "more"
    return f"{size} {row.unit} {more} {row.label}" if row.unit else f"{size} {more} {row.label}"
