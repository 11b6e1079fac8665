"""The file of a latent map, as a worker writes it and the figure reads it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Place = tuple[float, float]
Class = Annotated[int, Field(ge=0)]


class MapFile(BaseModel):
    """Codes of the first test examples in the plane; every list has an entry per example."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    points: Annotated[int, Field(ge=1, le=5000)]
    labels: list[Class] | None = Field(description="none: the data has no classes")
    predicted: list[Class] | None
    attack: Annotated[str, Field(max_length=100)] | None
    clean: list[Place]
    attacked: list[Place] | None
    attacked_predicted: list[Class] | None
    latent: Annotated[int, Field(ge=1)] = Field(description="dimensions of the code")
    method: Literal["codes", "t-SNE"] = Field(description="codes: the code's own two dimensions, as they are")
    perplexity: float | None
    kl_divergence: float | None

    @model_validator(mode="after")
    def _has_an_entry_per_example(self) -> MapFile:
        for name in ("labels", "predicted", "clean", "attacked", "attacked_predicted"):
            listed = getattr(self, name)
            if listed is not None and len(listed) != self.points:
                raise ValueError(f"{name} needs {self.points} entries, one per example, got {len(listed)}")
        if self.method == "t-SNE" and self.perplexity is None:
            raise ValueError("t-SNE needs its perplexity")
        return self
