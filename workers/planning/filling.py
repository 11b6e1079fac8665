"""Where a front has its largest gaps, and which values of one parameter may fill them: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil, dist, inf, sqrt
from statistics import fmean, stdev
from typing import Literal, NamedTuple

from service.contract.study.expected_gain import student
from service.contract.study.gaps import Point, gaps, non_dominated, unit_square
from workers.planning.monotone import Monotone

LEAST_SEEDS = 3  # of an interval over seeds
A_ROUND = 1 / 3  # of the places that are left

NOWHERE: Point = (inf, inf)  # a reference point that bounds nothing

Aim = Literal["gap", "hypervolume"]
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
    """An interval of the parameter between two places that may hold what is missing: how large that is, and what it is
    worth to what the search aims at."""

    low: float
    high: float
    size: float
    worth: float


class Curve(NamedTuple):
    """Means in the unit square, by their places' shares of the range, in its order, and the reference point there."""

    at: dict[float, Point]
    end: Point
    aim: Aim

    def apart(self, low: float, high: float) -> float:
        return dist(self.at[low], self.at[high]) if low in self.at and high in self.at else 0.0

    def between(self, a: Point, b: Point) -> float:
        """Of two points: their distance, or the side of a square as large as the rectangle between them within the
        reference point, which is all that the front between them can add to the hypervolume.

        Of rectangles along a front the sum is least where all are equally large, so n of them share a side.
        """
        if self.aim == "gap":
            return dist(a, b)
        width, height = (max(0.0, min(max(u, v), e) - min(u, v)) for u, v, e in zip(a, b, self.end, strict=True))
        return sqrt(width * height)

    def worth_of_run(self, run: float, before: Point, last: Point) -> float:
        """Of going on so far in the direction of a step: half, since it is not known whether the curve does. What it
        would add to the hypervolume counts whole: nothing else closes the rectangle down to the reference point."""
        if self.aim == "gap":
            return run / 2
        return run * self._replace(end=NOWHERE).between(before, last) / (dist(before, last) or 1.0)

    def worth(self, low: float, high: float) -> float:
        return self.between(self.at[low], self.at[high]) if low in self.at and high in self.at else 0.0


def living(places: Sequence[Place]) -> list[Living]:
    """In the order of the range."""
    alive = sorted((place for place in places if place.reached), key=lambda place: place.share)
    return [Living(place, (_mean(place, 0), _mean(place, 1))) for place in alive]


def _mean(place: Place, objective: int) -> float:
    return fmean(point[objective] for point in place.reached.values())


def stretches(places: Sequence[Place], has_room: HasRoom, worst: Point = NOWHERE, aim: Aim = "gap") -> list[Stretch]:
    """What is left to fill, what is worth most first.

    Gaps between neighbours on the front of the means count by their size in the unit square, unless they lie within the
    interval over seeds. The front may also go on beside a place where nothing was reached, and beyond its own ends.
    `worst` is the reference point, beyond which nothing counts.
    """
    ordered = sorted(places, key=lambda place: place.share)
    curve = _curve(living(ordered), worst, aim)
    left = [
        *_of_gaps(ordered, curve, has_room),
        *_at_edges(ordered, curve, has_room),
        *_beyond(ordered, curve, has_room),
    ]
    return sorted(left, key=lambda stretch: (-stretch.worth, stretch.low))


def _of_gaps(ordered: Sequence[Place], curve: Curve, has_room: HasRoom) -> Iterator[Stretch]:
    """Where the map is not monotone, other places lie between two neighbours: of the intervals between those the one
    is taken whose ends are furthest apart in the square, and nothing larger than that is missing in it."""
    alive = living(ordered)
    for gap in gaps([each.mean for each in alive]):
        a, b = sorted((gap.first, gap.second))  # as in the range
        if within_noise(alive[a].place, alive[b].place):
            continue
        ends = alive[a].place.share, alive[b].place.share
        between = [place.share for place in ordered if ends[0] <= place.share <= ends[1]]
        roomy = [pair for pair in pairwise(between) if has_room(*pair)]
        if roomy:
            low, high = max(roomy, key=lambda pair: curve.apart(*pair))
            worth = min(curve.worth(*ends), curve.worth(low, high))
            yield Stretch(low, high, min(gap.size, curve.apart(low, high)), worth)


def _at_edges(ordered: Sequence[Place], curve: Curve, has_room: HasRoom) -> Iterator[Stretch]:
    """Between a place where something was reached and one where nothing was: half of how far the curve would run there
    at the speed of its last step, at most half the square. Where no step is known, the share of the range."""
    alive = living(ordered)
    for low, high in pairwise(ordered):
        if (alive and bool(low.reached) == bool(high.reached)) or not has_room(low.share, high.share):
            continue
        size = worth = high.share - low.share
        if step := _last_step(alive, low, high):
            before, last = (curve.at[share] for share in step)
            speed = dist(before, last) / abs(step[1] - step[0])
            run = min(1.0, speed * size, _to_the_worst(before, last, curve.end))
            size, worth = run / 2, curve.worth_of_run(run, before, last)
        yield Stretch(low.share, high.share, size, worth)


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


def _beyond(ordered: Sequence[Place], curve: Curve, has_room: HasRoom) -> Iterator[Stretch]:
    """Between the outermost places of the front and the dominated ones next to them: half of the way that they are
    apart may still be on the front, at most half the square."""
    alive = living(ordered)
    front = sorted(non_dominated([each.mean for each in alive]))
    outer = [(front[0] - 1, front[0]), (front[-1], front[-1] + 1)] if front else []
    for a, b in outer:
        if a < 0 or b >= len(alive) or within_noise(alive[a].place, alive[b].place):
            continue
        low, high = alive[a].place.share, alive[b].place.share
        if has_room(low, high) and not any(low < place.share < high for place in ordered):
            size, worth = (min(1.0, own) / 2 for own in (curve.apart(low, high), curve.worth(low, high)))
            yield Stretch(low, high, size, worth)


def _curve(alive: Sequence[Living], worst: Point, aim: Aim) -> Curve:
    if not alive:
        return Curve({}, worst, aim)
    square = unit_square([each.mean for each in alive])
    return Curve({each.place.share: square.at(each.mean) for each in alive}, square.at(worst), aim)


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
    places: Sequence[Place],
    left: int,
    tolerance: float,
    has_room: HasRoom,
    worst: Point = NOWHERE,
    aim: Aim = "gap",
) -> list[Wish]:
    """Values for the next round: one in each stretch that deserves some of the `left` places, what is worth most first,
    and at most a third of those, since what is learnt from them may call for others.

    The places are dealt out beforehand, each to what would then be the worthiest part, so that a round takes none that
    another needs later. Nothing is dealt to what lies within the tolerance, or is worth nothing.
    """
    open_ = stretches(places, has_room, worst, aim)
    dealt = [0] * len(open_)
    for _ in range(left):
        parts = [
            stretch.worth / (n + 1) if stretch.size > tolerance * (n + 1) else 0.0
            for stretch, n in zip(open_, dealt, strict=True)
        ]
        if max(parts, default=0.0) <= 0:
            break
        dealt[parts.index(max(parts))] += 1
    along = _along(_curve(living(places), worst, aim))
    return [
        Wish(stretch.low, stretch.high, _share_in(stretch, ((n + 1) // 2) / (n + 1), along))
        for stretch, n in zip(open_, dealt, strict=True)
        if n
    ][: ceil(left * A_ROUND)]


def _along(curve: Curve) -> Monotone | None:
    """What lies between its places, summed from the first one on, over the range; none of a single place."""
    if len(curve.at) < 2:
        return None
    steps = [curve.between(a, b) for a, b in pairwise(curve.at.values())]
    return Monotone(list(curve.at), list(accumulate(steps, initial=0.0)))


def _share_in(stretch: Stretch, part: float, along: Monotone | None) -> float:
    """Where this part of the stretch's curve lies behind; of its width, where the curve does not lead through it."""
    if along is not None and along.has(stretch.low) and along.has(stretch.high):
        return along.where(stretch.low, stretch.high, part)
    return stretch.low + part * (stretch.high - stretch.low)
