"""Arms side by side, and each against the baseline: the same axes, reference and seeds for all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from service.analysis.cost import CostCurve, Reach, Spent, cost_curve, cost_to_reach
from service.analysis.fronts import (
    Axis,
    Point,
    Trial,
    front_share,
    hypervolume,
    hypervolume_by_seed,
    nondominated,
    points_of,
)
from service.analysis.intervals import Interval, mean_interval
from service.analysis.paired import LEVEL, Paired, holm, paired
from service.contract.metrics import ACCURACY, VALIDATION, described

Bests = dict[str, Interval]  # by metric


class ArmResult(NamedTuple):
    """One row of the comparison."""

    name: str
    hypervolume: Interval
    by_seed: dict[int, float]
    hypervolume_all_seeds: float | None
    front_share: float  # what of the front of all arms would be lost without it
    on_front: int  # trials with a point on it
    best: dict[str, float | None]  # the value of the point that was chosen for it, of all seeds
    best_over_seeds: Bests  # of each seed's own
    optimism: dict[str, float]  # how much better the front looks to what chose it, mean over its points


class Drawn(NamedTuple):
    """What an arm's hypervolume is made of: with more points it grows by itself."""

    points: float  # per seed, of which its front is chosen
    front: bool  # more than one of them is on it
    paid: bool = False  # it spent the training seconds that every arm had, so that its points are part of the result


class Pair(NamedTuple):
    """An arm against the baseline."""

    arm: str
    baseline: str
    paired: Paired
    p_adjusted: float | None  # over all arms of the study
    reach: Reach  # what the baseline spends until it has the arm's hypervolume
    whole: bool  # all trials of both have ended; until then more trials decide, and nothing is tested
    drawn: tuple[Drawn, Drawn]  # of the arm and of the baseline

    @property
    def alike(self) -> bool:
        """Both chose their fronts from as many points, or what the same seconds bought; one point is never held against
        a front by hypervolume."""
        own, base = self.drawn
        return own.front == base.front and (own.points == base.points or (own.paid and base.paid))

    @property
    def shown(self) -> bool:
        return self.p_adjusted is not None and self.p_adjusted < LEVEL


def compare(
    trials: Sequence[Trial],
    arms: Sequence[str],
    seeds: Sequence[int],
    axes: Sequence[Axis],
    lost: Collection[tuple[str, int]] = (),
) -> list[ArmResult]:
    """Hypervolume per seed, what of the joint front would be lost without the arm, best values.

    `lost` are (arm, seed) whose trials have all ended without a point, failed or collapsed: their hypervolume is 0,
    not missing.
    """
    points = points_of(trials, axes)
    joint = nondominated(points, axes)
    results = []
    for name in arms:
        own = [point for point in points if point.arm == name]
        volumes = hypervolume_by_seed(own, seeds, axes, [seed for arm, seed in lost if arm == name])
        best, best_over_seeds = _best(name, trials, axes)
        results.append(
            ArmResult(
                name=name,
                hypervolume=mean_interval(list(volumes.values())),
                by_seed=volumes,
                hypervolume_all_seeds=hypervolume(own, axes),
                front_share=front_share(name, points, seeds, axes),
                on_front=len({point.trial for point in joint if point.arm == name}),
                best=best,
                best_over_seeds=best_over_seeds,
                optimism=_optimism(nondominated(own, axes), axes),
            )
        )
    return results


def _best(name: str, trials: Sequence[Trial], axes: Sequence[Axis]) -> tuple[dict[str, float | None], Bests]:
    """Of each objective, and of accuracy: chosen by one split where there is one for it, claimed on another.

    The best of all seeds is that of the luckiest; what an arm reaches is the mean over seeds of each one's best.
    """
    of_all: dict[str, float | None] = {}
    over_seeds: Bests = {}
    asked = {axis.metric: axis for axis in axes}
    accuracy = Axis(ACCURACY, described(ACCURACY).goal, None, VALIDATION.of(ACCURACY) if _held_out(axes) else None)
    for axis in asked.values() if ACCURACY in asked else [*asked.values(), accuracy]:
        points = points_of([trial for trial in trials if trial.arm == name], [axis])
        by_seed: dict[int, list[Point]] = {}
        for point in points:
            by_seed.setdefault(point.seed, []).append(point)
        of_all[axis.metric] = _chosen(points, axis).values[0] if points else None
        over_seeds[axis.metric] = mean_interval([_chosen(own, axis).values[0] for own in by_seed.values()])
    return of_all, over_seeds


def _chosen(points: Sequence[Point], axis: Axis) -> Point:
    sign = 1 if axis.goal == "maximize" else -1
    return max(points, key=lambda point: sign * (point.judged or point.values)[0])


def _held_out(axes: Sequence[Axis]) -> bool:
    return any(axis.chosen_by for axis in axes)


def _optimism(front: Sequence[Point], axes: Sequence[Axis]) -> dict[str, float]:
    """Of each objective that another split chooses by: the winner's curse, above 0 where it flattered."""
    gaps: dict[str, float] = {}
    for i, axis in enumerate(axes):
        if front and axis.chosen_by:
            sign = 1 if axis.goal == "maximize" else -1
            seen = [sign * ((point.judged or point.values)[i] - point.values[i]) for point in front]
            gaps[axis.metric] = sum(seen) / len(seen)
    return gaps


def baseline_of(
    results: Sequence[ArmResult], planned: Mapping[str, int], by_hand: Collection[str], named: str | None = None
) -> str | None:
    """The arm others are measured against: the one the study names; else weighted by hand if one is, most trials, then
    the largest hypervolume. None before it has a result."""
    known = [result for result in results if result.hypervolume.mean]
    if named is not None:
        return named if any(result.name == named for result in known) else None
    chosen = [result for result in known if result.name in by_hand] or known
    if not chosen:
        return None
    return max(chosen, key=lambda result: (planned[result.name], result.hypervolume.mean or 0.0)).name


def pairs_of(
    results: Sequence[ArmResult],
    baseline: str | None,
    spent: Mapping[str, Sequence[Spent]],
    axes: Sequence[Axis],
    searched: Collection[str],
    whole: Collection[str],
    drawn: Mapping[str, Drawn],
) -> list[Pair]:
    """Every other arm with a result against the baseline, tests adjusted together.

    Hypervolume grows with the number of points, so only arms of as many are tested, and only those whose trials have
    all ended (`whole`).
    """
    base = next((result for result in results if result.name == baseline), None)
    if base is None:
        return []
    others = [result for result in results if result is not base and result.by_seed]
    untested = [
        Pair(
            result.name,
            base.name,
            paired(result.by_seed, base.by_seed),
            None,
            cost_to_reach(spent[base.name] if base.name in whole else [], result.by_seed, axes, base.name in searched),
            base.name in whole and result.name in whole,
            (drawn[result.name], drawn[base.name]),
        )
        for result in others
    ]
    pairs = [
        pair
        if pair.whole and pair.alike
        else pair._replace(paired=pair.paired._replace(p_value=None, effect_size=None))
        for pair in untested
    ]
    adjusted = holm([pair.paired.p_value for pair in pairs])
    return [pair._replace(p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]


def cost_curves(
    spent: Mapping[str, Sequence[Spent]], axes: Sequence[Axis], searched: Collection[str]
) -> dict[str, CostCurve]:
    return {arm: cost_curve(trials, axes, arm in searched) for arm, trials in spent.items()}
