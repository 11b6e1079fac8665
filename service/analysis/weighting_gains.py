"""What automatic weighting gained in each of several studies, beside the mean cosine of their gradients.

A claim ascribed to Gama and Grassi is that the mean cosine ranks problems by what weighting can gain; this is how to
test it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from service.analysis.arm_places import arm_places
from service.analysis.candidates import choosing_axes, objectives, placed
from service.analysis.compared import compared
from service.analysis.fronts import Axis
from service.analysis.gradient_angles import grouped
from service.analysis.intervals import Interval, mean_interval
from service.analysis.place import Placed, by_arm_and_seed, matrix, units_of
from service.analysis.rank_correlation import RankCorrelation, spearman
from service.analysis.single_tasks import reference_arms
from service.analysis.watched import watched_arms
from service.contract.methods.weightings import BY_HAND, Conditional, Uniform
from service.views.view import View

# By arm: the gain, and what chooses among equal ones.
Over = Callable[[Sequence[Placed], Sequence[Axis]], Mapping[str, tuple[Interval, float]]]


class Gain(NamedTuple):
    """The automatic arm that validation values choose, none without one; what it is better by on the test split."""

    arm: str | None
    gain: Interval  # in units of the objectives' ranges; below 0 it is worse


class StudyGains(NamedTuple):
    study: str  # its name
    cosine: Interval  # over all watched arms
    automatic: int  # arms that were to choose from
    over_baseline: Gain  # signed distance to its front; none where the baseline is automatic too
    over_uniform: Gain  # mean over the objectives of the difference to the arm of uniform weights


class RankedGains(NamedTuple):
    """Below 0: the more gradients conflict, the more weighting gains."""

    studies: list[StudyGains]
    over_baseline: RankCorrelation
    over_uniform: RankCorrelation


def weighting_gains(views: Sequence[View]) -> RankedGains:
    """Of finished studies; those without watched gradients, or without the gain, are not in its correlation."""
    studies = [_gains(view) for view in views]
    return RankedGains(
        studies,
        ranked([(study.cosine, study.over_baseline) for study in studies]),
        ranked([(study.cosine, study.over_uniform) for study in studies]),
    )


def ranked(rows: Sequence[tuple[Interval, Gain]]) -> RankCorrelation:
    """Of studies whose gain has an interval: one or two seeds say too little."""
    means = [(cosine.mean, gain.gain.mean) for cosine, gain in rows if gain.gain.half_width is not None]
    return spearman([(x, y) for x, y in means if x is not None and y is not None])


def _gains(view: View) -> StudyGains:
    study, measured_by = view.study, compared(view).baseline
    # A network for every trade-off gains nothing by how its losses are weighted.
    chosen = (*BY_HAND, Conditional.model_fields["name"].default)
    automatic = [arm.name for arm in study.arms if arm.weighting.name not in chosen]
    baseline = None if measured_by in automatic else measured_by  # what one automatic arm gains over another is no gain
    terms = {arm.problem.terms for arm in study.arms if arm.name in automatic}
    uniform = next((a.name for a in study.arms if isinstance(a.weighting, Uniform) and a.problem.terms in terms), None)
    angles = max(grouped(watched_arms(view)), key=lambda group: len(group.arms), default=None)

    def to_front(trials: Sequence[Placed], axes: Sequence[Axis]) -> dict[str, tuple[Interval, float]]:
        places = arm_places(trials, automatic, baseline, axes, (), automatic, None)
        distances = {name: place.place.distance for name, place in places.items()}
        return {name: (distance.told, distance.line.mean or 0.0) for name, distance in distances.items()}

    def to_uniform(trials: Sequence[Placed], axes: Sequence[Axis]) -> dict[str, tuple[Interval, float]]:
        return {name: (gap, 0.0) for name, gap in _beside(trials, axes, automatic, uniform).items()}

    return StudyGains(
        study.name,
        mean_interval([]) if angles is None else angles.cosine,
        len(automatic),
        _chosen(view, to_front),
        _chosen(view, to_uniform),
    )


def _chosen(view: View, over: Over) -> Gain:
    """Chosen by the split that the study chooses by, claimed on the test split: the best of many would flatter."""
    axes, references = objectives(view), reference_arms(view.study)

    def rivals(axes: Sequence[Axis]) -> list[Placed]:
        return [trial for trial in placed(view, axes) if trial.claimed.arm not in references]

    choosing = choosing_axes(view)
    # One lucky seed must not beat a mean over many, so fewer seeds never win against more. Between step and line all
    # arms gain nothing: among them the line chooses.
    judged = over(rivals(choosing), choosing)
    seen = {arm: (gain.seeds, gain.mean, line) for arm, (gain, line) in judged.items() if gain.mean is not None}
    claimed = over(rivals(axes), axes)
    best = max(seen, key=lambda arm: seen[arm], default=None)
    return Gain(best, mean_interval([]) if best is None else claimed[best][0])


def _beside(
    trials: Sequence[Placed], axes: Sequence[Axis], arms: Sequence[str], other: str | None
) -> dict[str, Interval]:
    """What each arm's front is better by than the other arm's, mean over its trials and objectives, seed by seed."""
    fronts = by_arm_and_seed(trials, axes)
    units = units_of({}, fronts, axes)
    base = fronts.get(other or "", {})
    if units is None:
        return {}

    def gap(own: Sequence[Placed], its: Sequence[Placed]) -> float:
        return float(((matrix(its, axes).mean(0) - matrix(own, axes).mean(0)) / units).mean())

    own = {arm: {seed: front for seed, front in fronts.get(arm, {}).items() if seed in base} for arm in arms}
    return {arm: mean_interval([gap(front, base[s]) for s, front in seeds.items()]) for arm, seeds in own.items()}
