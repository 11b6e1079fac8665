"""A study: arms compared on the same data, model, training and seeds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from service.contract.axes import Axis
from service.contract.data import Data, Digits
from service.contract.metrics import METRICS, Goal
from service.contract.models import Mlp, Model
from service.contract.problems import Bottleneck, Problem
from service.contract.strict import Strict
from service.contract.weightings import Positive, Weighting

MAX_TRIALS = 20_000


class Training(Strict):
    """How every trial is trained; an arm may override any of it."""

    epochs: Annotated[int, Field(ge=1, le=10_000)] = Field(20, description="passes over the training data")
    batch_size: Annotated[int, Field(ge=1, le=65_536)] = Field(
        128, description="examples per step; the last batch may be smaller"
    )
    learning_rate: Axis[Positive] = Field(1e-3, description="step size")
    optimizer: Literal["adam", "sgd"] = Field("adam", description="adam: β₁ 0.9, β₂ 0.999; sgd: plain, no momentum")


class Objective(Strict):
    """One axis of the front."""

    metric: str = Field(description="a metric that every trial reports")
    goal: Goal = Field(description="which way is better")
    reference: float | None = Field(
        None, description="this axis of the hypervolume's reference point; none: the metric's own"
    )

    @model_validator(mode="after")
    def _is_known(self) -> Objective:
        if self.metric not in METRICS:
            raise ValueError(f"{self.metric!r} is not a metric; known: {', '.join(METRICS)}")
        default = METRICS[self.metric]
        if self.reference is None and (default.reference is None or default.goal != self.goal):
            raise ValueError(f"{self.metric} to {self.goal} has no default reference point: give 'reference'")
        return self

    @property
    def reference_value(self) -> float:
        default = METRICS[self.metric].reference
        return self.reference if self.reference is not None else float(default or 0.0)


class GridSearch(Strict):
    """Every combination of the arm's grids."""

    name: Literal["grid"] = "grid"


class Arm(Strict):
    """A problem with a weighting, and what is searched in it."""

    name: str = Field(min_length=1, max_length=80, description="shown everywhere; unique in the study")
    problem: Problem = Field(Bottleneck(), description="what is trained")
    weighting: Weighting = Field(description="how the loss terms are weighted")
    search: GridSearch = Field(GridSearch(), description="how the arm's values are chosen")
    model: dict[str, Any] = Field({}, description="overrides of the study's model, for this arm")
    training: dict[str, Any] = Field({}, description="overrides of the study's training, for this arm")


class Evaluation(Strict):
    """What is measured, the same for every arm."""

    every: Annotated[int, Field(ge=1)] = Field(
        1, description="evaluate on the test split every n epochs, and at the end"
    )
    samples: Annotated[int, Field(ge=1, le=1000)] = Field(
        12, description="latent samples at the end of training (one before)"
    )


class Resources(Strict):
    """What one Ray Tune trial (a cohort) may use, and how many run at once."""

    cpus: Annotated[float, Field(gt=0, le=1024)] = Field(1, description="CPUs, and threads, of a cohort")
    gpus: Annotated[float, Field(ge=0, le=64)] = Field(0, description="GPUs of a cohort; may be a fraction")
    concurrency: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="cohorts at once; none: as many as fit"
    )
    cohort: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="members per cohort; none: the planner decides"
    )


class Limits(Strict):
    """Where the study ends in any case."""

    seconds: Annotated[float, Field(gt=0)] | None = Field(
        None, description="wall time from the study's start; none: no limit"
    )
    trials: Annotated[int, Field(ge=1, le=MAX_TRIALS)] = Field(
        500, description="a study that expands to more is refused"
    )


class Study(Strict):
    """A request to compare arms."""

    name: str = Field(min_length=1, max_length=200)
    data: Data = Field(Digits())
    model: Model = Field(Mlp())
    training: Training = Field(Training())
    seeds: list[Annotated[int, Field(ge=0, lt=2**31)]] = Field([0], min_length=1, max_length=1000)
    objectives: list[Objective] = Field(
        [Objective(metric="i_xz_bits", goal="minimize"), Objective(metric="i_zy_bits", goal="maximize")],
        min_length=2,
        max_length=4,
    )
    arms: list[Arm] = Field(min_length=1, max_length=64)
    evaluation: Evaluation = Field(Evaluation())
    resources: Resources = Field(Resources())
    limits: Limits = Field(Limits())

    @model_validator(mode="after")
    def _names_are_unique(self) -> Study:
        for what, names in (
            ("arm names", [arm.name for arm in self.arms]),
            ("seeds", self.seeds),
            ("objective metrics", [objective.metric for objective in self.objectives]),
        ):
            twice = [n for i, n in enumerate(names) if n in names[:i]]
            if twice:
                raise ValueError(f"{what} must differ, {twice[0]!r} stands twice")
        return self
