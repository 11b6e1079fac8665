"""What a study shows, in a few sentences: for page, terminal and report alike."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from service.analysis.comparison import ArmResult, Drawn, Pair
from service.analysis.delta_m import DeltaM
from service.analysis.fronts import Axis
from service.analysis.intervals import LEAST_SEEDS, Interval
from service.analysis.place_words import IN_WORDS, Rival, cost_words, front_words, standing_in_short, where_words
from service.analysis.single_words import drop_words
from service.contract.wording.numbers import (
    number,
    over_seeds,
    p_value,
    percent_spread,
    plural,
    setting,
    spread,
)


def _share(ratio: Interval) -> str:
    """`97 % ± 2`."""
    return "an unknown share" if ratio.mean is None else percent_spread(ratio.mean, ratio.half_width)


def _both(difference: Interval) -> str:
    """`−0.2 and +3.1`."""
    if difference.low == difference.high == 0:
        return "equal in both"
    return " and ".join(("+" if (end or 0.0) > 0 else "") + number(end) for end in (difference.low, difference.high))


def test_words(pair: Pair, tests: int) -> str:
    """`−32.9 ± 12.1, paired t-test over 3 seeds, p = 0.004`; what is missing says why."""
    difference = pair.paired.difference
    if difference.seeds < LEAST_SEEDS:
        seeds = "one seed" if difference.seeds == 1 else f"{_both(difference)}, two seeds"
        return f"{seeds}: no interval, no test" if pair.whole else f"{seeds}, not all trials have ended: no test"
    sign = "+" if (difference.mean or 0.0) > 0 else ""
    said = [sign + spread(difference.mean, difference.half_width), f"{difference.seeds} seeds"]
    if not pair.whole:
        return ", ".join([*said, "not all trials have ended: no test"])
    if pair.paired.p_value is None or pair.p_adjusted is None:
        if not difference.mean:
            return f"equal in each of {said[1]}"
        return ", ".join([*said, "the same difference in each: no test"])
    held = f", Holm over {tests} arms" if tests > 1 else ""
    size = [] if pair.paired.effect_size is None else [f"g = {number(pair.paired.effect_size)}"]
    return ", ".join([said[0], f"paired t-test over {said[1]}{held}", p_value(pair.p_adjusted), *size])


def unlike_words(drawn: tuple[Drawn, Drawn]) -> str:
    """Why two hypervolumes are not tested: `2 points per seed against 12: hypervolume grows with their number`."""
    own, base = drawn
    if own.points == base.points or (own.paid and base.paid):
        return "a front against one point"
    return f"{setting(own.points)} points per seed against {setting(base.points)}: hypervolume grows with their number"


def pair_words(pair: Pair, tests: int) -> str:
    """What is shown of one arm against the baseline; "no difference shown" when none is."""
    ratio, difference = pair.paired.ratio, pair.paired.difference
    tested = test_words(pair, tests)
    if not difference.seeds:
        return f"{pair.arm} and {pair.baseline} have no seed in common yet"
    reached = f"{_share(ratio)} of {pair.baseline}’s hypervolume"
    if not pair.alike:
        return f"{pair.arm} reaches {reached} ({unlike_words(pair.drawn)}, no test)"
    if pair.p_adjusted is None:
        return f"{pair.arm} reaches {reached} ({tested})"
    if pair.shown:
        more = (difference.mean or 0.0) > 0
        return f"{pair.arm} reaches {'more' if more else 'less'}: {reached} ({tested})"
    return f"No difference shown between {pair.arm} and {pair.baseline}: {reached} ({tested})"


def identical_words(arms: Sequence[str]) -> str:
    """Of arms that did the same: there is nothing to compare."""
    return f"{' and '.join(arms)} are identical in every seed: all metrics but time are equal up to rounding"


def reach_words(pair: Pair) -> str:
    """What the baseline spends for the arm's hypervolume, per seed."""
    reach = pair.reach
    if not reach.of or not pair.paired.difference.seeds:
        return ""
    if not reach.reached or reach.trials is None:
        return f"{pair.baseline} does not reach {pair.arm}’s hypervolume in any seed."
    some = "" if reach.reached == reach.of else f", in {reach.reached} of {reach.of} seeds"
    trials = plural(max(1.0, reach.trials), "training")
    return f"{pair.baseline} needs {trials} per seed for as much{some}."


def _alone(result: ArmResult, others: int, ended: bool) -> str:
    volume = result.hypervolume
    silent = (
        f" The other {'arm has' if others == 1 else 'arms have'} no result{'' if ended else ' yet'}." if others else ""
    )
    size = spread(volume.mean, volume.half_width, volume.low, volume.high)
    return f"{result.name} has a hypervolume of {size}, {over_seeds(volume.seeds)}.{silent}"


def rival_words(rival: Rival, axes: Sequence[Axis], tests: int) -> str:
    """What is shown of one arm against the baseline; its hypervolume only where it draws a front of its own."""
    on_front = front_words(rival, axes, tests)
    if not rival.place.draws_front:
        return on_front
    return f"{on_front}; {pair_words(rival.pair, tests)}"


def _sentences(rival: Rival, axes: Sequence[Axis], tests: int) -> list[str]:
    """Is it on the front? Where? What did it cost, and what would the grid have for that?"""
    on_front = f"{front_words(rival, axes, tests)}."
    own = [on_front, where_words(rival, axes), cost_words(rival)]
    if not rival.place.draws_front:
        return own
    return [*own, f"{pair_words(rival.pair, tests)}.", reach_words(rival.pair)]


def verdict(
    results: Sequence[ArmResult],
    rivals: Sequence[Rival],
    axes: Sequence[Axis],
    ended: bool,
    awaited: str | None = None,
    drops: Mapping[str, DeltaM] | None = None,
) -> str:
    """About the arm that does best by its distance to the baseline's front; the others are counted.

    `awaited` is the baseline that the study names, while it has no result; `drops` are Δm of arms.
    """
    known = [result for result in results if result.hypervolume.mean]
    start = "" if ended else "So far: "
    if not known:
        tried = any(result.by_seed for result in results)
        if tried:
            return f"{start}No trial lies within the reference point: no hypervolume."
        return "No trial produced a result." if ended else "No results yet."
    if awaited is not None:
        return (
            f"{start}{awaited}, the baseline, has no result{'' if ended else ' yet'}: there is no front to measure by."
        )
    drops = drops or {}
    if not rivals:
        alone = start + _alone(known[0], len(results) - 1, ended)
        return " ".join(filter(None, [alone, drop_words(drops.get(known[0].name))]))
    best = max(rivals, key=_lead)
    first, *others = _sentences(best, axes, len(rivals))
    dropped = drop_words(drops.get(best.pair.arm), best.pair.baseline, drops.get(best.pair.baseline))
    rest = _counted([rival for rival in rivals if rival is not best])
    return " ".join(filter(None, [start + first, *others, dropped, rest]))


def _counted(rest: Sequence[Rival]) -> str:
    if not rest:
        return ""
    counted = Counter(standing_in_short(rival.place) for rival in rest)
    words = ", ".join(f"{counted[what]} {what}" for what in IN_WORDS if counted[what])
    return (
        f"Of {len(rest)} other arms: {words}." if len(rest) > 1 else f"The other arm, {rest[0].pair.arm}: {words[2:]}."
    )


def _lead(rival: Rival) -> tuple[float, float, float]:
    """By what is told, then by the line, both as what chooses sees them: the best of many claimed values would flatter.

    What has no distance comes last, by hypervolume.
    """
    distance, volume = rival.judged.place.distance, rival.pair.paired.difference.mean
    known = rival.judged.standing not in (None, "beyond")
    means = (distance.told.mean if known else None, distance.line.mean if known else None, volume)
    told, line, more = (-math.inf if mean is None else mean for mean in means)
    return told, line, more
