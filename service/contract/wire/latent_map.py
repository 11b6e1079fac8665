"""The file of a latent map, as a worker writes it and the figure reads it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from service.contract.wire.answers.answer import two

Place = Annotated[tuple[float, float], two("number")]
Class = Annotated[int, Field(ge=0)]


class MapFile(BaseModel):
    """Codes of the first test examples in the plane; every list has an entry per example."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    points: int = Field(ge=1, le=5000, description="how many examples")
    labels: list[Class] | None = Field(description="none: the data has no classes")
    predicted: list[Class] | None = Field(description="predicted classes")
    attack: Annotated[str, Field(max_length=100)] | None = Field(description="none: the examples are as they are")
    clean: list[Place] = Field(description="of the examples as they are")
    attacked: list[Place] | None = Field(description="of the attacked examples, in the same plane")
    attacked_predicted: list[Class] | None = Field(description="predicted classes of the attacked examples")
    latent: int = Field(ge=1, description="dimensions of the code")
    method: Literal["codes", "t-SNE"] = Field(description="codes: the code's own two dimensions, as they are")
    perplexity: float | None = Field(description="of t-SNE")
    kl_divergence: float | None = Field(description="final loss of t-SNE")

    @model_validator(mode="after")
    def _has_an_entry_per_example(self) -> MapFile:
        for name in ("labels", "predicted", "clean", "attacked", "attacked_predicted"):
            listed = getattr(self, name)
            if listed is not None and len(listed) != self.points:
                raise ValueError(f"{name} needs {self.points} entries, one per example, got {len(listed)}")
        if self.method == "t-SNE" and self.perplexity is None:
            raise ValueError("t-SNE needs its perplexity")
        return self
