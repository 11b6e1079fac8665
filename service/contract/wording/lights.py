"""Marks beside estimates of I(X;Z): how much the estimator misses on a Gaussian task of the trial's shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from service.contract.wording.numbers import setting

LightName = Literal["near", "rough", "far"]

LEAST_BITS = 1.0  # of less information a share says little: errors count as shares of this


@dataclass(slots=True, kw_only=True)
class Light:
    """A mark; its shape tells it from the others, its words say what it means."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    name: Annotated[LightName, Field(description="as in the `lights` of trials")]
    mark: Annotated[str, Field(description="one character, told apart by its shape")]
    within: Annotated[
        float | None,
        Field(description="the largest error as a share of the information, or of 1 bit if that is more; null: any"),
    ]
    words: Annotated[str, Field(description="what it means")]


LIGHTS = (
    Light(name="near", mark="●", within=0.05, words="within 5 %"),
    Light(name="rough", mark="◐", within=0.2, words="within 20 %"),
    Light(name="far", mark="○", within=None, words="off by more than 20 %"),
)


def light_of(miss: float, known: float) -> Light:
    """From the expected error and the information of the task, both in bits."""
    share = miss / max(known, LEAST_BITS)
    return next(light for light in LIGHTS if light.within is None or share <= light.within)


def worst_of(lights: list[Light]) -> Light | None:
    return max(lights, key=LIGHTS.index, default=None)


def worst_words(light: Light) -> str:
    """`● at worst, within 5 % on Gaussian tasks of this shape`."""
    return f"{light.mark} at worst, {light.words} on Gaussian tasks of this shape"


def error_words(miss: float, bias: float, known: float, examples: float, dimensions: int) -> str:
    """`on a Gaussian task of this shape (N = 360, 16 dimensions, 8 bits) this estimate is off by 0.35 bits, …`."""
    shape = f"N = {setting(examples)}, {dimensions} dimension{'' if dimensions == 1 else 's'}, {_bits(known)}"
    side = f"{_bits(abs(bias))} too {'high' if bias > 0 else 'low'} on average"
    return (
        f"on a Gaussian task of this shape ({shape}) this estimate is off by {_bits(miss)}, {side}: "
        f"{light_of(miss, known).words}. This is no bound on the error here"
    )


def _bits(value: float) -> str:
    text = setting(value, digits=2)
    return f"{text} bit" if text == "1" else f"{text} bits"
