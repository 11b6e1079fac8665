"""How an arm's values are chosen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from service.contract.study.strict import Strict

LARGEST_BATCH, BATCHES = 8, 5
SMALLEST_POPULATION, LARGEST_POPULATION, GENERATIONS = 4, 50, 8


class GridSearch(Strict):
    """Every combination of the arm's grids."""

    name: Literal["grid"] = "grid"


class OptunaSearch(Strict):
    """Values suggested by Optuna from the arm's ranges and choices, by all objectives of the study."""

    name: Literal["optuna"] = "optuna"
    sampler: Literal["tpe", "nsga2", "qmc", "random"] = Field(
        "tpe",
        description="tpe: densities of good and bad trials (Bergstra et al. 2011); nsga2: evolution (Deb et al. 2002); "
        "qmc: scrambled Sobol points; random: independent",
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
        None, description="trials of a generation of nsga2; none: 4 to 50, so that eight generations fit"
    )

    @model_validator(mode="after")
    def _population_is_used(self) -> OptunaSearch:
        if self.population is not None and self.sampler != "nsga2":
            raise ValueError(f"population needs sampler nsga2, got {self.sampler!r}")
        return self

    def batch_of(self, trials: int) -> int:
        """Suggestions asked together in a search of so many trials."""
        return self.batch or max(1, min(LARGEST_BATCH, trials // BATCHES))

    def population_of(self, trials: int) -> int:
        return self.population or max(SMALLEST_POPULATION, min(LARGEST_POPULATION, trials // GENERATIONS))


Search = Annotated[GridSearch | OptunaSearch, Field(discriminator="name")]
