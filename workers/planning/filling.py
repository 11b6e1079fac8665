"""Where a front has its largest gaps, and which values of one parameter may fill them: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil, dist, inf, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from service.contract.study.expected_gain import student
from service.contract.study.gaps import Point, gaps, non_dominated, unit_square
from workers.planning.monotone import Monotone

LEAST_SEEDS = 3  # of an interval over seeds
A_ROUND = 1 / 3  # of the places that are left

NOWHERE: Point = (inf, inf)  # a reference point that bounds nothing

HasRoom = Callable[[float, float], bool]  # whether a value is worth trying between these shares of the range


class Place(NamedTuple):
    """A value of the parameter, by its share of the range, and what was reached there, by seed, both to be minimised.

    Nothing was reached where every seed failed or collapsed.
    """

    share: float
    reached: dict[int, Point]


class Living(NamedTuple):
    """A place where something was reached: its mean over seeds."""

    place: Place
    mean: Point


class Stretch(NamedTuple):
    """An interval of the parameter between two places that may hold what is missing, and how large that is."""

    low: float
    high: float
    size: float


def living(places: Sequence[Place]) -> list[Living]:
    """In the order of the range."""
    alive = sorted((place for place in places if place.reached), key=lambda place: place.share)
    return [Living(place, (_mean(place, 0), _mean(place, 1))) for place in alive]


def _mean(place: Place, objective: int) -> float:
    return fmean(point[objective] for point in place.reached.values())


def stretches(places: Sequence[Place], has_room: HasRoom, worst: Point = NOWHERE) -> list[Stretch]:
    """What is left to fill, the largest first.

    Gaps between neighbours on the front of the means count by their size in the unit square, unless they lie within the
    interval over seeds. The front may also go on beside a place where nothing was reached, and beyond its own ends.
    `worst` is the reference point, beyond which nothing counts.
    """
    ordered = sorted(places, key=lambda place: place.share)
    left = [*_of_gaps(ordered, has_room), *_at_edges(ordered, has_room, worst), *_beyond(ordered, has_room)]
    return sorted(left, key=lambda stretch: (-stretch.size, stretch.low))


def _of_gaps(ordered: Sequence[Place], has_room: HasRoom) -> Iterator[Stretch]:
    """Where the map is not monotone, other places lie between two neighbours: of the intervals between those the one
    is taken whose ends are furthest apart in the square, and nothing larger than that is missing in it."""
    alive = living(ordered)
    square = _square(alive)
    for gap in gaps([each.mean for each in alive]):
        a, b = sorted((gap.first, gap.second))  # as in the range
        if within_noise(alive[a].place, alive[b].place):
            continue
        ends = alive[a].place.share, alive[b].place.share
        between = [place.share for place in ordered if ends[0] <= place.share <= ends[1]]
        roomy = [pair for pair in pairwise(between) if has_room(*pair)]
        if roomy:
            low, high = max(roomy, key=lambda pair: _apart(square, *pair))
            yield Stretch(low, high, min(gap.size, _apart(square, low, high)))


def _at_edges(ordered: Sequence[Place], has_room: HasRoom, worst: Point) -> Iterator[Stretch]:
    """Between a place where something was reached and one where nothing was: half of how far the curve would run there
    at the speed of its last step, at most half the square. Where no step is known, the share of the range."""
    alive = living(ordered)
    square = _square(alive)
    end = unit_square([each.mean for each in alive]).at(worst) if alive else worst
    for low, high in pairwise(ordered):
        if (alive and bool(low.reached) == bool(high.reached)) or not has_room(low.share, high.share):
            continue
        size = high.share - low.share
        if step := _last_step(alive, low, high):
            before, last = (square[share] for share in step)
            speed = dist(before, last) / abs(step[1] - step[0])
            size = min(1.0, speed * size, _to_the_worst(before, last, end)) / 2
        yield Stretch(low.share, high.share, size)


def _last_step(alive: Sequence[Living], low: Place, high: Place) -> tuple[float, float] | None:
    """From which place to which the curve went before the edge; none where only one has reached anything."""
    shares = [each.place.share for each in alive]
    below, above = [s for s in shares if s <= low.share], [s for s in reversed(shares) if s >= high.share]
    *_, before, last = (None, None, *(below if low.reached else above))
    return None if before is None or last is None else (before, last)


def _to_the_worst(before: Point, last: Point, worst: Point) -> float:
    """How far a step goes on in its direction until an objective is as bad as the reference point has it."""
    step = dist(before, last)
    rooms = [step * (w - b) / (b - a) for a, b, w in zip(before, last, worst, strict=True) if b > a and w > b]
    return min(rooms, default=inf)


def _beyond(ordered: Sequence[Place], has_room: HasRoom) -> Iterator[Stretch]:
    """Between the outermost places of the front and the dominated ones next to them: half of the way that they are
    apart may still be on the front, at most half the square."""
    alive = living(ordered)
    front = sorted(non_dominated([each.mean for each in alive]))
    square = _square(alive)
    outer = [(front[0] - 1, front[0]), (front[-1], front[-1] + 1)] if front else []
    for a, b in outer:
        if a < 0 or b >= len(alive) or within_noise(alive[a].place, alive[b].place):
            continue
        low, high = alive[a].place.share, alive[b].place.share
        if has_room(low, high) and not any(low < place.share < high for place in ordered):
            yield Stretch(low, high, min(1.0, _apart(square, low, high)) / 2)


def _square(alive: Sequence[Living]) -> dict[float, Point]:
    """Means in the unit square, by their places' shares of the range."""
    if not alive:
        return {}
    square = unit_square([each.mean for each in alive])
    return {each.place.share: square.at(each.mean) for each in alive}


def _apart(square: dict[float, Point], low: float, high: float) -> float:
    return dist(square[low], square[high]) if low in square and high in square else 0.0


def within_noise(a: Place, b: Place) -> bool:
    """Whether the 95 % interval (Student) of the mean difference over common seeds holds 0 in both objectives."""
    seeds = sorted(a.reached.keys() & b.reached.keys())
    if len(seeds) < LEAST_SEEDS:
        return False
    t = student(len(seeds) - 1)
    differences = [[b.reached[seed][k] - a.reached[seed][k] for seed in seeds] for k in range(2)]
    return all(abs(fmean(own)) <= t * stdev(own) / sqrt(len(own)) for own in differences)


class Wish(NamedTuple):
    """A value that is wanted at this share of the range, between two places."""

    low: float
    high: float
    share: float


def wishes(
    places: Sequence[Place], left: int, tolerance: float, has_room: HasRoom, worst: Point = NOWHERE
) -> list[Wish]:
    """Values for the next round: one in each stretch that deserves some of the `left` places, the largest first,
    and at most a third of those, since what is learnt from them may call for others.

    The places are dealt out beforehand, each to what would then be the largest part, so that a round takes none that a
    larger gap needs later. Nothing is dealt to what lies within the tolerance.
    """
    open_ = stretches(places, has_room, worst)
    dealt = [0] * len(open_)
    for _ in range(left):
        parts = [stretch.size / (n + 1) for stretch, n in zip(open_, dealt, strict=True)]
        if not parts or max(parts) <= tolerance:
            break
        dealt[parts.index(max(parts))] += 1
    along = _along(living(places))
    return [
        Wish(stretch.low, stretch.high, _share_in(stretch, ((n + 1) // 2) / (n + 1), along))
        for stretch, n in zip(open_, dealt, strict=True)
        if n
    ][: ceil(left * A_ROUND)]


def _along(alive: Sequence[Living]) -> Monotone | None:
    """The length of the curve in the unit square, from its first place on, over the range; none of a single place."""
    square = _square(alive)
    if len(square) < 2:
        return None
    steps = [dist(a, b) for a, b in pairwise(square.values())]
    return Monotone(list(square), list(accumulate(steps, initial=0.0)))


def _share_in(stretch: Stretch, part: float, along: Monotone | None) -> float:
    """Where this part of the stretch's curve lies behind; of its width, where the curve does not lead through it."""
    if along is not None and along.has(stretch.low) and along.has(stretch.high):
        return along.where(stretch.low, stretch.high, part)
    return stretch.low + part * (stretch.high - stretch.low)
