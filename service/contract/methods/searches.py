"""How an arm's values are chosen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from service.contract.parameters.axes import Keyed
from service.contract.parameters.strict import Strict

LARGEST_BATCH, BATCHES = 8, 5
SMALLEST_POPULATION, LARGEST_POPULATION, GENERATIONS = 4, 50, 8
EVOLUTIONS = ("nsga2", "nsga3")  # samplers that have a population
LEARNING = ("tpe", "gp", *EVOLUTIONS)  # samplers to which results matter
BRANCHING = ("tpe", "random")  # samplers that do for values which only some trials have what they do for all others
MOST_STUDIES, MOST_TOLD = 16, 5000


class GridSearch(Strict):
    """Every combination of the arm's grids."""

    name: Literal["grid"] = "grid"


class ToldTrial(Strict):
    """A trial of an earlier study, as a search is told it: kept with the study, so that it is the same ever after."""

    seed: int = Field(description="of the search that is told")
    values: dict[str, bool | int | float | str] = Field(description="as weighting.beta")
    objectives: list[float] = Field(description="what it reached, by what chooses in this study")
    excesses: list[float] = Field([], description="by how much it breaks each constraint; 0 or less: it keeps it")


class OptunaSearch(Keyed):
    """Values suggested by Optuna from the arm's ranges and choices, by all objectives of the study. With sampler tpe or
    random it may also choose the weighting itself, {choice: [{name: fixed, beta: …}, {name: mib}]}, then what it has.
    """

    known = ("name", "sampler", "trials", "batch", "population", "from")

    name: Literal["optuna"] = "optuna"
    sampler: Literal["tpe", "gp", "nsga2", "nsga3", "qmc", "random"] = Field(
        "tpe",
        description="tpe: densities of good and bad trials (Bergstra et al. 2011); gp: expected gain in hypervolume by "
        "Gaussian processes, for few and costly trials (Daulton et al. 2020); nsga2: evolution (Deb et al. 2002); "
        "nsga3: the same towards reference points, for many objectives (Deb and Jain 2014); qmc: scrambled Sobol "
        "points; random: independent",
    )
    trials: Annotated[int, Field(ge=1)] = Field(
        description="trials of the arm in total. With S seeds these are S independent searches, one per seed: trial i "
        "belongs to seed i mod S, so that the hypervolume has an honest interval over seeds",
    )
    batch: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None,
        description="suggestions that one search asks for together, without knowing each other's results; "
        "none: 8, or fewer so that a search has five batches",
    )
    population: Annotated[int, Field(ge=2, le=10_000)] | None = Field(
        None, description="trials of a generation of nsga2 or nsga3; none: 4 to 50, so that eight generations fit"
    )

    from_: list[Annotated[str, Field(min_length=1, max_length=80)]] = Field(
        [],
        alias="from",
        max_length=MOST_STUDIES,
        description="ids of studies that have ended, on the same data and with the same objectives: their finished "
        "trials with the arm's problem and weighting are told to the search of the same seed before it begins",
        exclude_if=lambda studies: not studies,
    )
    told: SkipJsonSchema[list[ToldTrial]] = Field(
        [],
        max_length=MOST_TOLD,
        description="what the service found in these studies when this one was submitted",
        exclude_if=lambda trials: not trials,
    )

    @model_validator(mode="after")
    def _told_is_of_studies(self) -> OptunaSearch:
        if self.told and not self.from_:
            raise ValueError(f"told is what the service finds in the studies of from, got {len(self.told)} without")
        if self.from_ and self.sampler not in LEARNING:
            raise ValueError(f"from needs a sampler that learns, {', '.join(LEARNING)}, got {self.sampler!r}")
        return self

    @model_validator(mode="after")
    def _population_is_used(self) -> OptunaSearch:
        if self.population is not None and self.sampler not in EVOLUTIONS:
            raise ValueError(f"population needs sampler {' or '.join(EVOLUTIONS)}, got {self.sampler!r}")
        return self

    def batch_of(self, trials: int) -> int:
        """Suggestions asked together in a search of so many trials."""
        return self.batch or max(1, min(LARGEST_BATCH, trials // BATCHES))

    def population_of(self, trials: int) -> int:
        return self.population or max(SMALLEST_POPULATION, min(LARGEST_POPULATION, trials // GENERATIONS))


class FillSearch(Strict):
    """Values of one range, each next one where the front of two objectives has its largest gap."""

    name: Literal["fill"] = "fill"
    trials: Annotated[int, Field(ge=2)] = Field(
        description="trials of the arm in total, at most. With S seeds this is one search: every value is trained with "
        "each seed, so that there are trials/S values, and gaps are those of the means over seeds",
    )
    tolerance: Annotated[float, Field(gt=0, le=1)] = Field(
        0.1,
        description="the largest gap allowed: the distance of two neighbours on the front, each objective as a share "
        "of its range over the front. The search ends when no gap is larger, or with its trials",
    )
    start: Annotated[int, Field(ge=2, le=1000)] = Field(
        3, description="values of the first round, evenly over the range and its scale, both ends among them"
    )
    aim: Literal["gap", "hypervolume"] = Field(
        "gap",
        description="where the next value goes: gap: into the largest gap, for a front that is evenly known; "
        "hypervolume: where the front between two neighbours can add most to the hypervolume, within its reference "
        "point, for as much of it as so many trials can have. Both end by the tolerance",
    )


Suggesting = OptunaSearch | FillSearch  # searches that take ranges in place of grids; `trials` is their budget

Search = Annotated[GridSearch | OptunaSearch | FillSearch, Field(discriminator="name")]
