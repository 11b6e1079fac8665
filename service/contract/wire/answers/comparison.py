"""The comparison of a study's arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from service.contract.metrics import Goal
from service.contract.wire.answers.answer import Answer
from service.contract.wire.answers.studies import ArmLook, TrialCounts
from service.contract.wire.events import StudyState


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
class CostSoFar(Answer):
    """Hypervolume against cost, per seed: lists of one length, a place each."""

    seconds: Annotated[list[float], Field(description="of training")]
    trials: Annotated[list[int], Field(description="that were trained")]
    mean: Annotated[list[float], Field(description="hypervolume there, mean over seeds")]
    low: Annotated[list[float | None], Field(description="lower end of its 95 % interval; null below three seeds")]
    high: Annotated[list[float | None], Field(description="upper end of its 95 % interval; null below three seeds")]


@dataclass(slots=True, kw_only=True)
class ComparedArm(ArmLook):
    """One arm beside the others."""

    automatic: Annotated[bool, Field(description="it finds its weights by itself")]
    counts: Annotated[TrialCounts, Field(description="of its trials")]
    best: Annotated[
        dict[str, float | None], Field(description="the best value of each objective and of accuracy, over trials")
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
    training_seconds: Annotated[float, Field(description="of all its trials together")]
    trained_trials: Annotated[int, Field(description="those that have ended")]
    cost: Annotated[CostSoFar, Field(description="its hypervolume as its trials ended")]


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
        Field(description="of the two-sided paired t-test; null below three seeds, and until both have all trials"),
    ]
    p_adjusted: Annotated[float | None, Field(description="the same by Holm's method, over all pairs of the study")]
    effect_size: Annotated[float | None, Field(description="Hedges' g; null below three seeds")]
    shown: Annotated[bool, Field(description="a difference is shown at the level of 5 %")]
    whole: Annotated[bool, Field(description="all trials of both have ended; nothing is tested before that")]
    words: Annotated[str, Field(description="all of this in a sentence")]
    reach: Annotated[CostToReach, Field(description="what the baseline spends for the same")]


@dataclass(slots=True, kw_only=True)
class ObjectiveAxis(Answer):
    """An objective of a study."""

    metric: Annotated[str, Field(description="its name")]
    goal: Annotated[Goal, Field(description="which way is better")]
    reference: Annotated[float | None, Field(description="where the hypervolume is measured from")]


@dataclass(slots=True, kw_only=True)
class ComparisonAnswer(Answer):
    """The arms of a study, or of several laid over each other, side by side."""

    study: Annotated[str, Field(description="its id; of several, with + between")]
    state: Annotated[StudyState, Field(description="of several, finished when all have ended")]
    seeds: Annotated[int, Field(description="how many the spec has")]
    objectives: Annotated[list[ObjectiveAxis], Field(description="what is compared")]
    baseline: Annotated[
        str | None, Field(description="the arm that others are measured against; null before any result")
    ]
    verdict: Annotated[str, Field(description="what is shown so far, in a few sentences")]
    arms: Annotated[list[ComparedArm], Field(description="in the order of the spec")]
    pairs: Annotated[list[ComparedPair], Field(description="every other arm with a result against the baseline")]
