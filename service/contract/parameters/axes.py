"""An axis is a scalar of a study that may take several values.

`Axis[float]` marks a field whose value is a float, as a trial has it, and for which a study may also say
`{grid: [0.1, 1.0]}` or `{grid: {from, to, count, scale}}`; for a search `{range: {from, to, scale}}` or
`{choice: [0.1, 1.0]}`. What a study is checked by is made of such a class in `with_axes`.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from service.contract.parameters.strict import Strict
from service.contract.wording.numbers import setting

T = TypeVar("T")

MAX_GRID = 10_000

Scale = Literal["linear", "log"]
Values = Annotated[list[bool | int | float | str], Field(min_length=1, max_length=MAX_GRID)]


class Keyed(Strict):
    """Errors list `known`: the names as users write them, and those of the other kinds of axis."""

    known: ClassVar[tuple[str, ...]]

    @model_validator(mode="before")
    @classmethod
    def _name_the_known_keys(cls, value: Any) -> Any:
        if isinstance(value, dict):
            allowed = {field.alias or name for name, field in cls.model_fields.items()}
            unknown = [key for key in value if key not in allowed]
            if unknown:
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key {key}; known keys: {known}",
                    {"key": str(unknown[0]), "known": ", ".join(cls.known)},
                )
        return value


def _given(value: float) -> str:
    """In enough digits to see what is wrong with it."""
    return setting(value, digits=6)


def check_bounds(low: float, high: float, scale: Scale, may_be_one: bool = False) -> None:
    """Raise where they are no range on this scale."""
    if scale == "log" and (low <= 0 or high <= 0):
        raise ValueError(f"a log scale needs from and to above 0, got {_given(low)} and {_given(high)}")
    if low >= high and not may_be_one:
        raise ValueError(f"from must be below to, got {_given(low)} and {_given(high)}")


def _check_differ(what: str, values: list[Any]) -> None:
    if len(set(values)) < len(values):
        twice = next(value for value, times in Counter(values).items() if times > 1)
        raise ValueError(f"{what} values must differ, {twice!r} appears twice")


class Span(Keyed):
    """`count` evenly spaced values from `from` to `to`, both included, on a linear or log scale."""

    known = ("from", "to", "count", "scale")

    from_: float = Field(alias="from", description="first value")
    to: float = Field(description="last value")
    count: int = Field(ge=1, le=MAX_GRID, description="how many values")
    scale: Scale = Field("linear", description="spacing of the values")

    @model_validator(mode="after")
    def _has_bounds(self) -> Span:
        check_bounds(self.from_, self.to, self.scale, may_be_one=self.count == 1)
        return self

    def values(self) -> list[float]:
        if self.count == 1:
            return [self.from_]
        steps = [i / (self.count - 1) for i in range(self.count)]
        if self.scale == "linear":
            return [self.from_ + t * (self.to - self.from_) for t in steps]
        low, high = math.log10(self.from_), math.log10(self.to)
        return [float(f"{10 ** (low + t * (high - low)):.6g}") for t in steps]


class Bounds(Keyed):
    """Any value between `from` and `to`, both included."""

    known = ("from", "to", "scale", "integer")

    from_: float = Field(alias="from", description="least value")
    to: float = Field(description="largest value")
    scale: Scale = Field("linear", description="log: equal ratios are equally likely at first")
    integer: bool | None = Field(None, description="whole numbers only; none: as the field has it")

    @model_validator(mode="after")
    def _are_bounds(self) -> Bounds:
        check_bounds(self.from_, self.to, self.scale)
        for name, value in (("from", self.from_), ("to", self.to)):
            if self.integer and not value.is_integer():
                raise ValueError(f"{name} of an integer range must be a whole number, got {_given(value)}")
        return self


class Grid(Keyed):
    """Several values, tried one by one: a list, or a span `{from, to, count, scale}`."""

    known = ("grid", "range", "choice")

    grid: Annotated[
        Annotated[Values, Tag("list")] | Annotated[Span, Tag("span")],
        Discriminator(lambda value: "span" if isinstance(value, (dict, Span)) else "list"),
    ] = Field(description="a list of values, or {from, to, count, scale}")

    @model_validator(mode="after")
    def _has_no_duplicates(self) -> Grid:
        _check_differ("grid", self.values())
        return self

    def values(self) -> list[Any]:
        return list(self.grid) if isinstance(self.grid, list) else list(self.grid.values())

    def size(self) -> int:
        """How many values, without making them."""
        return len(self.grid) if isinstance(self.grid, list) else self.grid.count


class Range(Keyed):
    """An interval that a search suggests values from."""

    known = ("grid", "range", "choice")

    range: Bounds = Field(description="{from, to, scale, integer}")

    def ends(self) -> list[float]:
        """Both bounds, as whole numbers where only those may be suggested."""
        ends = [self.range.from_, self.range.to]
        return [int(end) for end in ends] if self.range.integer else ends

    def of_integers(self) -> Range:
        return Range.model_validate({"range": {**self.range.model_dump(by_alias=True), "integer": True}})


class Choice(Keyed):
    """Several values that a search chooses from, in no order."""

    known = ("grid", "range", "choice")

    choice: Values = Field(description="a list of values")

    @model_validator(mode="after")
    def _has_no_duplicates(self) -> Choice:
        _check_differ("choice", self.choice)
        return self


Searched = Range | Choice


def listed(axis: Any) -> list[Any]:
    """The values an axis may take, where they can be listed: none for a range, one for a plain value."""
    if isinstance(axis, Range):
        return []
    if isinstance(axis, Choice):
        return list(axis.choice)
    return axis.values() if isinstance(axis, Grid) else [axis]


def shortened(axis: Grid | Searched) -> dict[str, Any]:
    """The axis as a study writes it, with its first value alone; a range as it is."""
    match axis:
        case Choice(choice=values):
            return {"choice": values[:1]}
        case Grid(grid=list() as values):
            return {"grid": values[:1]}
        case Grid(grid=Span(from_=first)):
            return {"grid": [first]}
    return axis.model_dump(by_alias=True)


def largest(axis: Any) -> Any:
    """The largest value that an axis of numbers may take."""
    return max(axis.ends() if isinstance(axis, Range) else listed(axis))


def _shape(value: Any) -> str:
    for kind, name in ((Range, "range"), (Choice, "choice"), (Grid, "grid")):
        if isinstance(value, kind) or (isinstance(value, dict) and name in value):
            return name
    return "grid" if isinstance(value, dict) else "value"


Varied = Annotated[
    Annotated[T, Tag("value")]
    | Annotated[Grid, Tag("grid")]
    | Annotated[Range, Tag("range")]
    | Annotated[Choice, Tag("choice")],
    Discriminator(_shape),
]


class MayVary:
    """Marks a field that a study may give several values for."""


Axis = Annotated[T, MayVary()]
