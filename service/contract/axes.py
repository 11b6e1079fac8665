"""An axis is a scalar of a study that may take several values: one value, a list, or a span.

`Axis[float]` in a field means `0.1`, `{grid: [0.1, 1.0]}` or `{grid: {from, to, count, scale}}`.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from service.contract.strict import Strict

T = TypeVar("T")

MAX_GRID = 10_000


class Span(Strict):
    """`count` evenly spaced values from `from` to `to`, both included, on a linear or log scale."""

    from_: float = Field(alias="from", description="first value")
    to: float = Field(description="last value")
    count: int = Field(ge=1, le=MAX_GRID, description="how many values")
    scale: Literal["linear", "log"] = Field("linear", description="spacing of the values")

    @model_validator(mode="before")
    @classmethod
    def _name_the_known_keys(cls, value: Any) -> Any:
        if isinstance(value, dict):
            unknown = [key for key in value if key not in ("from", "to", "count", "scale")]
            if unknown:
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key {key}; known keys: from, to, count, scale",
                    {"key": str(unknown[0])},
                )
        return value

    @model_validator(mode="after")
    def _is_a_range(self) -> Span:
        if self.scale == "log" and (self.from_ <= 0 or self.to <= 0):
            raise ValueError(f"a log scale needs from and to above 0, got {self.from_:g} and {self.to:g}")
        if self.count > 1 and self.from_ >= self.to:
            raise ValueError(f"from must be below to, got {self.from_:g} and {self.to:g}")
        return self

    def values(self) -> list[float]:
        if self.count == 1:
            return [self.from_]
        steps = [i / (self.count - 1) for i in range(self.count)]
        if self.scale == "linear":
            return [self.from_ + t * (self.to - self.from_) for t in steps]
        low, high = math.log10(self.from_), math.log10(self.to)
        return [float(f"{10 ** (low + t * (high - low)):.6g}") for t in steps]


def _shape(value: Any) -> str:
    return "grid" if isinstance(value, (dict, Grid)) else "value"


def _grid_shape(value: Any) -> str:
    return "span" if isinstance(value, (dict, Span)) else "list"


class Grid(Strict):
    """Several values, tried one by one: a list, or a span `{from, to, count, scale}`."""

    grid: Annotated[
        Annotated[list[bool | int | float | str], Field(min_length=1, max_length=MAX_GRID), Tag("list")]
        | Annotated[Span, Tag("span")],
        Discriminator(_grid_shape),
    ] = Field(description="a list of values, or {from, to, count, scale}")

    @model_validator(mode="after")
    def _has_no_duplicates(self) -> Grid:
        values = self.values()
        if len(set(values)) < len(values):
            twice = next(v for v in values if values.count(v) > 1)
            raise ValueError(f"grid values must differ, {twice!r} stands in it twice")
        return self

    def values(self) -> list[Any]:
        return list(self.grid) if isinstance(self.grid, list) else list(self.grid.values())


Axis = Annotated[Annotated[T, Tag("value")] | Annotated[Grid, Tag("grid")], Discriminator(_shape)]
