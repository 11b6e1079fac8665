"""What is said of an arm against the baseline's front: is it on it, where, and what did it cost?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.analysis.amounts import Amount
from service.analysis.arm_places import ArmPlace, Standing
from service.analysis.comparison import Pair
from service.analysis.cost import CostCurve, bought
from service.analysis.fronts import Axis
from service.analysis.intervals import LEAST_SEEDS, Interval
from service.analysis.off_front import GapTest
from service.analysis.place import Place
from service.analysis.readings import TOLERANCE
from service.analysis.spread import Spread
from service.contract.metrics import described
from service.contract.wording.keys import key_label
from service.contract.wording.numbers import (
    duration,
    p_value,
    percent,
    percent_range,
    percent_spread,
    plural,
    setting_range,
    spread,
    whole,
)

STANDINGS: dict[Standing | None, str] = {
    "above": "above the front",
    "on": "on the front",
    "below": "below the front",
    "open": "not shown to be off the front",
    "beyond": "beyond its reach",
    None: "not placed",
}

LIES = {"above": "lies above", "on": "lies on", "below": "lies below", "open": "is not shown to lie off"}
IS = {
    "above": "is better than",
    "on": "is as good as",
    "below": "is worse than",
    "open": "is not shown to be better or worse than",
}


EXACT_STANDING = {
    "on": f" (on it, within {percent(TOLERANCE)} of the objectives’ ranges)",
    "off": f" (off it, by more than {percent(TOLERANCE)} of the objectives’ ranges)",
    None: "",
}
SLIGHTLY = {side: f"slightly {side} the front" for side in ("above", "below")}
IN_WORDS = [*STANDINGS.values(), *SLIGHTLY.values()]


def standing_in_short(place: ArmPlace) -> str:
    """`slightly above the front`: shown to lie off it, by a distance whose mean is within the tolerance."""
    return SLIGHTLY[place.slightly] if place.slightly else STANDINGS[place.standing]


def standing_words(place: ArmPlace) -> str:
    """The same, with what it is shown at where that is not the distance: `below the front at the same I(X;Z)`."""
    short = standing_in_short(place)
    if place.below_by is None:
        return short
    (other,) = (metric for metric in place.gaps if metric != place.below_by)
    return f"{short} at the same {described(other).label}"


def _amount_words(amount: Amount) -> str:
    return setting_range(amount.mean, amount.lower, amount.upper)


def lands_words(place: Place) -> str:
    """`β ≈ 0.0488 (0.031 to 0.077)`, of a front from where to where; without intervals below three seeds."""
    each = [f"{key_label(key)} ≈ {_amount_words(own)}" for key, own in place.amounts.items()]
    ends = [
        f"{key_label(key)} ≈ {_amount_words(low)} to {_amount_words(high)}"
        for key, (low, high) in place.between.items()
    ]
    return " and ".join(each or ends)


class Rival(NamedTuple):
    """An arm that is held against the baseline, with all that is said about both."""

    pair: Pair  # by hypervolume
    place: ArmPlace
    judged: ArmPlace  # the same by what chooses
    baseline: ArmPlace
    cost: CostCurve
    baseline_cost: CostCurve
    lost: int  # seeds in which all its trials failed or collapsed
    curves: bool = False  # its trials have many points each
    baseline_curves: bool = False  # those of the baseline have
    epochs: tuple[float, float] = (0.0, 0.0)  # per seed, of all trainings of the arm and of the baseline; 0: not known
    stacked: bool = True  # a training's seconds are its share of those of a cohort


def amount(metric: str, gap: Interval) -> str:
    """`0.05 ± 0.02 bits of I(Z;Y)`."""
    row = described(metric)
    size = spread(abs(gap.mean or 0.0), gap.half_width)
    return f"{size} {row.unit} of {row.label}" if row.unit else f"{size} of {row.label}"


def _compared(axis: Axis, gap: Interval) -> str:
    """`0.05 ± 0.02 bits of I(Z;Y) less than`; a gap above 0 is a better one, whichever way that is."""
    if not gap.mean:
        return f"the {described(axis.metric).label} of"
    more = (gap.mean > 0) == (axis.goal == "maximize")
    return f"{amount(axis.metric, gap)} {'more' if more else 'less'} than"


def _matched(axes: Sequence[Axis], place: ArmPlace) -> tuple[Axis, Axis, Spread] | None:
    """The objective that is told, and the other one: what shows that it lies below, else the last that is known."""
    matched = place.place.matched
    known = [(axes[i], axes[1 - i], matched[axes[i].metric]) for i in (1, 0) if axes[i].metric in matched]
    shows = [each for each in known if each[0].metric == place.below_by]
    return next((each for each in shows or known if each[2].line.seeds), None)


def _marks(curves: bool) -> str:
    """What a front is drawn by."""
    return "points" if curves else "trials"


def _gap_words(rival: Rival, axes: Sequence[Axis]) -> str:
    """At the same value of the other objective, against the step, the line, or both where neither decides."""
    standing = rival.place.standing
    told = _matched(axes, rival.place)
    if told is None or not rival.baseline.draws_front:
        return ""
    axis, other, gap = told
    step = f"{_compared(axis, gap.step)} its steps"
    line = f"{_compared(axis, gap.line)} the straight lines between its {_marks(rival.baseline_curves)}"
    said = {"above": line, "below": step}.get(standing or "", f"{step} and {line}")
    return f"at the same {described(other.metric).label} it has {said}"


def _far(rival: Rival) -> str:
    """`distance to its steps −0.12 ± 0.03 of the objectives’ ranges, `; nothing where it is 0 in every seed."""
    distance = rival.place.place.distance
    told = distance.told
    if not told.mean and not told.half_width and told.low == told.high:
        return ""
    to = f" to its {distance.decides}s" if distance.decides and rival.baseline.draws_front else ""
    return f"distance{to} {spread(told.mean, told.half_width)} of the objectives’ ranges, "


def _test_of_gap(gap: GapTest, tests: int) -> str:
    """`t-test over 5 seeds, Holm over 3 arms and both objectives, p = 0.004`."""
    over = f"{tests} arms and both objectives" if tests > 1 else "both objectives"
    return f"t-test over {gap.gap.told.seeds} seeds, Holm over {over}, {p_value(gap.p_adjusted)}"


def test_of_distance(rival: Rival, tests: int) -> str:
    """`distance to its steps −0.12 ± 0.03 of the ranges, t-test over 5 seeds, p = 0.004`; what is missing says why.

    Between the readings there is nothing to test. Where a gap shows what the distance does not, its test comes first.
    """
    place, far = rival.place, _far(rival)
    if place.below_by is not None:
        return f"{_test_of_gap(place.gaps[place.below_by], tests)}; {far.removesuffix(', ')}"
    told = place.place.distance.told
    seeds = "one seed" if told.seeds == 1 else f"{told.seeds} seeds"
    if not place.whole:
        return f"{far}{seeds}, not all trials have ended: no test"
    few = ": no interval, no test" if told.seeds < LEAST_SEEDS else ""
    if not told.mean and told.seeds > 1:
        between = "between its steps and lines in " if rival.baseline.draws_front else "in "
        return f"{far}{between}{'the mean over' if far else 'each of'} {seeds}{few}"
    if place.p_adjusted is None:
        return f"{far}{seeds}{few or ': no test'}"
    held = f", Holm over {tests} arms" if tests > 1 else ""
    return f"{far}t-test over {seeds}{held}, {p_value(place.p_adjusted)}"


def front_words(rival: Rival, axes: Sequence[Axis], tests: int) -> str:
    """Is it on the front?"""
    arm, base, place = rival.pair.arm, rival.pair.baseline, rival.place
    standing = place.standing
    lost = f"; none of its trials counts in {plural(rival.lost, 'seed')}" if rival.lost else ""
    if standing is None:
        share = place.place.dominated
        if share is None:
            return f"{arm} and {base} have no seed in common yet"
        dominated = percent_range(*place.place.domination[:3])
        return f"{dominated} of {arm}’s front is dominated by {base}’s ({_no_distance(place, axes)}{lost})"
    if standing == "beyond":
        if not rival.baseline.draws_front:
            return f"{arm} and {base} are different trade-offs: neither is better in both{lost}"
        only = "better than all of it in one objective and worse in the other"
        most = "" if place.place.beyond == 1 else "for the most part "
        few = {1: " (one seed: no interval, no test)", 2: " (2 seeds: no interval, no test)"}.get(place.place.seeds, "")
        return (
            f"{arm} lies {most}beyond the reach of {base}’s front, {only}: how good it is there is not known{few}{lost}"
        )
    gap = _gap_words(rival, axes)
    beyond = place.place.beyond or 0.0
    own = _marks(rival.curves)
    some = f"; {percent(beyond)} of its {own} on a front lie where {base} does not reach" if beyond else ""
    against = f"{LIES[standing]} {base}’s front" if rival.baseline.draws_front else f"{IS[standing]} {base}"
    if place.slightly:
        slight = {"above": "better", "below": "worse"}[place.slightly]
        front = rival.baseline.draws_front
        against = f"lies slightly {place.slightly} {base}’s front" if front else f"is slightly {slight} than {base}"
    return f"{arm} {against}{': ' if gap else ''}{gap} ({test_of_distance(rival, tests)}{some}{lost})"


def _no_distance(place: ArmPlace, axes: Sequence[Axis]) -> str:
    """Why an arm has no place on the front, and over how many seeds its dominated share is taken."""
    many = f"{len(axes)} objectives" if len(axes) > 2 else "an objective that does not vary"
    count = place.place.domination.seeds
    seeds = "one seed" if count == 1 else f"{count} seeds"
    few = ", no interval" if count < LEAST_SEEDS else ", Wilson’s 95 % interval"
    under_way = "" if place.whole else "; not all trials have ended: no test"
    return f"{seeds}{few}; with {many} there is no distance to a front{under_way}"


def where_words(rival: Rival, axes: Sequence[Axis]) -> str:
    """Where on it, an arm that draws a front from where to where, and how far from the exact front if that is known."""
    place = rival.place.place
    settings = "" if rival.place.standing == "beyond" else lands_words(place)
    where = f"It lands where {settings} lands" if settings else ""
    exact = _exact_words(rival.place, axes)
    if not exact:
        return f"{where}." if where else ""
    own = f"{where}, {exact}" if where else f"It lies {exact}"
    base = _exact_words(rival.baseline, axes)
    return f"{own}; {rival.pair.baseline} lies {base}." if base else f"{own}."


def _exact_words(place: ArmPlace, axes: Sequence[Axis]) -> str:
    """`0.07 ± 0.02 bits of I(Z;Y) below the exact curve (on it, within 2 % of the objectives’ ranges)`."""
    if place.exact is None:
        return ""
    known = [(axis.metric, place.exact.matched[axis.metric]) for axis in reversed(axes)]
    told = next(((metric, gap) for metric, gap in known if gap.seeds), None)
    if told is None:
        return ""
    far = f"{amount(*told)} {'below' if (told[1].mean or 0.0) < 0 else 'above'} the {place.exact.label}"
    return f"{far}{EXACT_STANDING[place.exact.standing]}"


def _seconds_words(rival: Rival) -> str:
    """`Measured: 0.3 s against 2.0 s, in cohorts that may differ in height.`: stacked higher, each takes less."""
    own, base = rival.cost, rival.baseline_cost
    if own.seconds[-1] <= 0:
        return ""
    unlike = rival.stacked and own.trials[-1] != base.trials[-1]
    heights = ", in cohorts that may differ in height" if unlike else ""
    return f" Measured: {duration(own.seconds[-1])} against {duration(base.seconds[-1])}{heights}."


def cost_words(rival: Rival) -> str:
    """What it cost per seed, in trainings and epochs, and what the baseline has for that."""
    own, base = rival.cost, rival.baseline_cost
    if not rival.place.whole or not own.trials or not base.trials:
        return ""
    known = all(rival.epochs)
    epochs, in_all = (f" ({plural(each, 'epoch')})" if known else "" for each in rival.epochs)
    took = f"It took {plural(own.trials[-1], 'training')} per seed{epochs}"
    others = f"{rival.pair.baseline} took {whole(base.trials[-1])}{in_all}"
    count = own.trials[-1] if not known else base.trials[-1] * rival.epochs[0] / rival.epochs[1]
    paid, seconds = bought(base, count), _seconds_words(rival)
    if paid is None or not rival.baseline.draws_front or paid.trials == base.trials[-1]:
        return f"{took}; {others}.{seconds}"
    if not paid.trials:
        return f"{took}; {others}, and does not finish one in as many epochs.{seconds}"
    share = f"{percent_spread(paid.share, paid.half_width)} of its hypervolume"
    return f"{took}; {others}, and after {whole(paid.trials)} of them has {share}.{seconds}"
