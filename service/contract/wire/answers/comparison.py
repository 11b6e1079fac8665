"""The comparison of a study's arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.metrics import Goal
from service.contract.wire.answers.answer import Answer
from service.contract.wire.answers.studies import ArmLook, TrialCounts
from service.contract.wire.answers.trials import MetricLight
from service.contract.wire.events import StudyState, Where
from service.contract.wording.chosen_split import Chooser


@dataclass(slots=True, kw_only=True)
class OverSeeds(Answer):
    """A mean over seeds with its 95 % interval."""

    mean: Annotated[float | None, Field(description="null without a seed")]
    half_width: Annotated[float | None, Field(description="of the 95 % Student t interval; null below three seeds")]
    seeds: Annotated[int, Field(description="how many it is taken over")]
    low: Annotated[float | None, Field(description="the least value of a seed; null where no seed has one of its own")]
    high: Annotated[float | None, Field(description="the largest, likewise; of two seeds these are both values")]


@dataclass(slots=True, kw_only=True)
class HypervolumeOverSeeds(OverSeeds):
    """The hypervolume of an arm, seed by seed."""

    all_seeds: Annotated[float | None, Field(description="of the trials of all seeds together, which is more")]
    by_seed: Annotated[dict[str, float], Field(description="of each seed's trials, by seed")]


@dataclass(slots=True, kw_only=True)
class ShareOverSeeds(Answer):
    """A share, mean over seeds, with a 95 % interval that stays within 0 and 1."""

    mean: Annotated[float | None, Field(description="null without a seed")]
    lower: Annotated[float | None, Field(description="end of the interval; null below three seeds")]
    upper: Annotated[float | None, Field(description="the other end")]
    seeds: Annotated[int, Field(description="how many it is taken over")]
    method: Annotated[
        Literal["wilson"], Field(description="Wilson's score interval, each seed counted as one yes or no")
    ]


@dataclass(slots=True, kw_only=True)
class AmountOverSeeds(Answer):
    """A setting, mean over seeds, with its 95 % interval."""

    mean: Annotated[float, Field(description="geometric where the scale is log")]
    half_width: Annotated[
        float | None,
        Field(
            description="of the 95 % Student t interval, where the scale is log of the decimal logarithm; null below "
            "three seeds"
        ),
    ]
    seeds: Annotated[int, Field(description="in which the baseline's front reaches it")]
    lower: Annotated[float | None, Field(description="end of the interval; null below three seeds")]
    upper: Annotated[float | None, Field(description="the other end")]
    scale: Annotated[Literal["log", "linear"], Field(description="log where the baseline's values are powers")]


@dataclass(slots=True, kw_only=True)
class AgainstFront(OverSeeds):
    """What an arm is better by than the baseline's front of the same seed; below 0: worse.

    Between two neighbouring trials the front is not known. Where the mean over seeds beats the straight line, mean and
    interval are the line's; where it does not reach the step, the step's; between them the mean is 0, and the half
    width is the farther of the line's upper and the step's lower end, where they pass 0.
    """

    step: Annotated[
        OverSeeds, Field(description="against what the baseline's trials dominate, the pessimistic reading")
    ]
    line: Annotated[OverSeeds, Field(description="against the straight lines between them, the optimistic reading")]


@dataclass(slots=True, kw_only=True)
class AgainstExactFront(Answer):
    """What an arm is better by than a front that is known by formula; below 0: worse."""

    label: Annotated[str, Field(description="what that front is called")]
    distance: Annotated[OverSeeds, Field(description="in units of the objectives' ranges")]
    standing: Annotated[
        Literal["on", "off"] | None,
        Field(
            description="on: the interval of the distance lies within 0.02 of 0; off: all of it lies farther "
            "below; null between them, and below three seeds"
        ),
    ]
    matched: Annotated[
        dict[str, OverSeeds], Field(description="of each objective, in its unit, at the same value of the other one")
    ]


@dataclass(slots=True, kw_only=True)
class AgainstSingleTasks(OverSeeds):
    """Δm: the mean over tasks of what an arm loses against training each alone, in percent; below 0 is a gain.

    100/T Σ_i (−1)^δ (M_i − M_b)/M_b with δ = 1 where higher is better; M_b is the single trial of the task and seed.
    """

    by_seed: Annotated[dict[str, float], Field(description="of the trial that was chosen in each seed, by seed")]
    by_metric: Annotated[
        dict[str, OverSeeds], Field(description="each task's own part, in percent, by the metric that measures it")
    ]


@dataclass(slots=True, kw_only=True)
class CostSoFar(Answer):
    """Hypervolume against cost, per seed: lists of one length, a place each."""

    seconds: Annotated[list[float], Field(description="of training")]
    trials: Annotated[list[int], Field(description="that were trained")]
    mean: Annotated[list[float], Field(description="hypervolume there, mean over seeds")]
    low: Annotated[list[float | None], Field(description="lower end of its 95 % interval; null below three seeds")]
    high: Annotated[list[float | None], Field(description="upper end of its 95 % interval; null below three seeds")]


@dataclass(slots=True, kw_only=True)
class GradientsOfTerms(Answer):
    """How the gradients of an arm's terms lie to each other, over its trials that neither failed nor collapsed."""

    cosine: Annotated[OverSeeds, Field(description="mean over epochs; of more than two terms also over all pairs")]
    negative: Annotated[
        float, Field(ge=0, le=1, description="share of epochs in which that cosine, mean over seeds, is below 0")
    ]
    ratio: Annotated[
        float | None,
        Field(description="of two terms: how many times as long the second gradient is, geometric mean"),
    ]
    words: Annotated[str, Field(description="whether and when they conflict, as `hardly conflict (…)`")]


@dataclass(slots=True, kw_only=True)
class CurveAtPlace(Answer):
    """A curve beside the network that was trained for one of its places alone."""

    where: Annotated[Where, Field(description="which: {beta: 0.01}, or a preference per task")]
    differences: Annotated[
        dict[str, OverSeeds],
        Field(description="of each objective, in its unit: the curve's value there minus the network's"),
    ]


@dataclass(slots=True, kw_only=True)
class VerifiedCurve(Answer):
    """A curve from one training against networks that were trained separately, each for one of its βs or
    preferences.

    Each is compared with the curve of its own seed, on the split that claims; above 0 the curve is better. Only what
    has finished counts.
    """

    places: Annotated[list[CurveAtPlace], Field(description="at each place that was trained separately, least first")]
    differences: Annotated[
        dict[str, OverSeeds],
        Field(description="of each objective: the curve's value at the same place minus the network's, mean over them"),
    ]
    matched: Annotated[
        dict[str, OverSeeds],
        Field(
            description="of each of two objectives, in its unit: what the curve is better by at the network's value of "
            "the other one"
        ),
    ]
    distance: Annotated[
        OverSeeds, Field(description="signed, from the networks to the curve, in units of the curve's ranges")
    ]
    reached: Annotated[
        float | None,
        Field(
            ge=0,
            le=1,
            description="share of the networks between the curve's ends: only these have a distance and matched values",
        ),
    ]
    counts: Annotated[TrialCounts, Field(description="of the networks")]
    training_seconds: Annotated[float, Field(description="of the networks together; no part of the arm's own")]
    words: Annotated[str, Field(description="how far the curve lies above or below them, in a sentence; may be empty")]


@dataclass(slots=True, kw_only=True)
class ComparedArm(ArmLook):
    """One arm beside the others."""

    automatic: Annotated[bool, Field(description="its weights are not chosen by hand")]
    counts: Annotated[TrialCounts, Field(description="of its trials")]
    best: Annotated[
        dict[str, float | None],
        Field(
            description="of each objective and of accuracy, the value of the trial that was chosen as the best of all "
            "seeds"
        ),
    ]
    best_over_seeds: Annotated[
        dict[str, OverSeeds], Field(description="the same of each seed's own best: what the arm reaches")
    ]
    optimism: Annotated[
        dict[str, float],
        Field(
            description="of each objective that the validation split chooses by: how much better the arm's front looks "
            "there than on the test split, mean over its trials; above 0 is the winner's curse"
        ),
    ]
    front_share: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="the part of all arms' joint hypervolume that would be lost without it, mean over seeds",
        ),
    ]
    on_front: Annotated[int, Field(description="its trials on the front of all arms and seeds")]
    hypervolume: Annotated[HypervolumeOverSeeds, Field(description="in the study's objectives")]
    epsilon: Annotated[
        float | None,
        Field(
            description="additive ε-indicator against the exact front where it is known, else that of all arms; mean"
        ),
    ]
    epsilon_over_seeds: Annotated[OverSeeds, Field(description="the same with its interval")]
    igd_plus: Annotated[float | None, Field(description="IGD⁺ against the same front, mean over seeds")]
    igd_plus_over_seeds: Annotated[OverSeeds, Field(description="the same with its interval")]
    distance: Annotated[
        AgainstFront,
        Field(
            description="signed, to the baseline's front, in units of the objectives' ranges; null where that does not "
            "reach most of the arm's"
        ),
    ]
    matched: Annotated[
        dict[str, AgainstFront],
        Field(description="of each of two objectives, in its unit, at the same value of the other one"),
    ]
    dominated: Annotated[
        float | None, Field(ge=0, le=1, description="share of its front that the baseline's dominates; mean over seeds")
    ]
    dominated_over_seeds: Annotated[ShareOverSeeds, Field(description="the same with its interval")]
    beyond: Annotated[
        float | None, Field(ge=0, le=1, description="share of its front that the baseline's does not reach")
    ]
    amounts_to: Annotated[
        dict[str, float],
        Field(description="settings of the baseline that land where it lands; empty where it draws a front itself"),
    ]
    amounts_to_over_seeds: Annotated[
        dict[str, AmountOverSeeds], Field(description="the same settings with their intervals")
    ]
    lands_between: Annotated[
        dict[str, list[AmountOverSeeds]],
        Field(
            description="instead, where it draws a front itself: of the settings at which its points land the least "
            "and the largest, each over seeds"
        ),
    ]
    exact: Annotated[AgainstExactFront | None, Field(description="null where no exact front is known")]
    draws_front: Annotated[bool, Field(description="its front has more than one point in most seeds")]
    delta_m: Annotated[
        AgainstSingleTasks | None,
        Field(
            description="Δm against single arms; null without them, for themselves, and where it lacks one of their "
            "tasks"
        ),
    ]
    mean_rank: Annotated[
        OverSeeds | None,
        Field(description="mean over the same tasks of its rank among the arms that have a Δm; 1 is best"),
    ]
    training_seconds: Annotated[float, Field(description="of all its trials together")]
    trained_trials: Annotated[int, Field(description="those that have ended")]
    cost: Annotated[CostSoFar, Field(description="its hypervolume as its trials ended")]
    gradients: Annotated[GradientsOfTerms | None, Field(description="of its terms; null where they were not watched")]
    verified: Annotated[
        VerifiedCurve | None,
        Field(description="its curve against networks that were trained separately; null where it is not verified"),
    ]


@dataclass(slots=True, kw_only=True)
class CostToReach(Answer):
    """What the baseline spends until it has the other arm's hypervolume."""

    seconds: Annotated[OverSeeds, Field(description="of training, over the seeds in which it gets there")]
    trials: Annotated[
        float | None, Field(description="per seed, mean over those seeds; null where it never gets there")
    ]
    reached: Annotated[int, Field(description="seeds in which it gets there")]
    of: Annotated[int, Field(description="seeds in which there was something to reach")]


@dataclass(slots=True, kw_only=True)
class ComparedPair(Answer):
    """An arm against the baseline."""

    arm: Annotated[str, Field(description="its name")]
    baseline: Annotated[str, Field(description="the name of the arm it is measured against")]
    seeds: Annotated[int, Field(description="seeds that both have")]
    ratio: Annotated[
        OverSeeds,
        Field(description="of the mean hypervolumes, arm to baseline; null where its interval is wider than itself"),
    ]
    difference: Annotated[OverSeeds, Field(description="of the hypervolumes, arm minus baseline")]
    p_value: Annotated[
        float | None,
        Field(
            description="of the two-sided paired t-test; null below three seeds, until both have all trials, and where "
            "they have different numbers of points per seed, or one point against a front"
        ),
    ]
    p_adjusted: Annotated[float | None, Field(description="the same by Holm's method, over all pairs of the study")]
    effect_size: Annotated[float | None, Field(description="Hedges' g; null where there is no test")]
    shown: Annotated[bool, Field(description="a difference in hypervolume is shown at the level of 5 %")]
    whole: Annotated[bool, Field(description="all trials of both have ended; nothing is tested before that")]
    standing: Annotated[
        Literal["above", "on", "below", "open", "beyond"] | None,
        Field(
            description="where it lies against the baseline's front; on: it is off by no more than 2 % of the "
            "objectives' ranges, its lines included, and no gap at a matched value speaks against it, above: the line "
            "is beaten, below: the step is not reached, by distance or at a matched value, open: not shown to lie off "
            "it, as between distant steps and lines, or not tested, beyond: mostly where it does not reach; null where "
            "there is no distance"
        ),
    ]
    standing_words: Annotated[
        str,
        Field(description="the same in words, as `below the front`; where a gap shows it, as `… at the same I(X;Z)`"),
    ]
    distance_p_value: Annotated[
        float | None,
        Field(
            description="of the two-sided t-test of the distance, 1 between step and line; null where nothing is tested"
        ),
    ]
    distance_p_adjusted: Annotated[float | None, Field(description="the same by Holm's method, over all pairs")]
    matched_p_adjusted: Annotated[
        dict[str, float | None],
        Field(
            description="of the two-sided t-tests of its gaps at matched values, by objective, by Holm's method over "
            "all pairs and both objectives; null where nothing is tested"
        ),
    ]
    words: Annotated[str, Field(description="all of this in a sentence")]
    reach: Annotated[CostToReach, Field(description="what the baseline spends for the same")]


@dataclass(slots=True, kw_only=True)
class ObjectiveAxis(Answer):
    """An objective of a study."""

    metric: Annotated[str, Field(description="its name")]
    goal: Annotated[Goal, Field(description="which way is better")]
    reference: Annotated[float | None, Field(description="where the hypervolume is measured from")]
    chosen_by: Annotated[
        str | None,
        Field(description="the metric that chooses where this one is claimed; null: itself"),
    ]


@dataclass(slots=True, kw_only=True)
class SingleTasks(Answer):
    """The tasks that were trained alone: what Δm and mean ranks are about."""

    arms: Annotated[list[str], Field(description="the single arms, no rivals, but one may be the named baseline")]
    measures: Annotated[dict[str, str], Field(description="of each task, the metric that measures it")]
    without: Annotated[
        list[int], Field(description="seeds that have no Δm: a task has no single trial with a result there")
    ]
    words: Annotated[str, Field(description="what Δm and mean rank are here, in a few sentences")]


@dataclass(slots=True, kw_only=True)
class ComparisonAnswer(Answer):
    """The arms of a study, or of several laid over each other, side by side."""

    study: Annotated[str, Field(description="its id; of several, with + between")]
    state: Annotated[StudyState, Field(description="of several, finished when all have ended")]
    seeds: Annotated[int, Field(description="how many the spec has")]
    objectives: Annotated[list[ObjectiveAxis], Field(description="what is compared")]
    selection: Annotated[
        Chooser | None,
        Field(
            description="the split whose values chose fronts and best values; shown: the very values that are shown, "
            "of a script of your own; null where none is measured on a split"
        ),
    ]
    selection_words: Annotated[str, Field(description="the same in words, or nothing")]
    lights: Annotated[
        dict[str, MetricLight], Field(description="of objectives that estimate I(X;Z), by metric: the worst of a trial")
    ]
    baseline: Annotated[
        str | None, Field(description="the arm that others are measured against; null before any result")
    ]
    verdict: Annotated[str, Field(description="what is shown so far, in a few sentences")]
    gradients: Annotated[
        str | None,
        Field(
            description="whether the gradients of the terms conflict, and in which epochs, in a sentence; null where "
            "no arm's were watched"
        ),
    ]
    single: Annotated[SingleTasks | None, Field(description="null where no arm trains single tasks")]
    arms: Annotated[list[ComparedArm], Field(description="in the order of the spec")]
    pairs: Annotated[
        list[ComparedPair],
        Field(description="every other arm with a result against the baseline, but for single arms"),
    ]
    budget_seconds: Annotated[
        float | None,
        Field(
            exclude_if=lambda seconds: seconds is None,
            description="training seconds that every arm had, limits.training_seconds; only where there is that limit",
        ),
    ] = None
