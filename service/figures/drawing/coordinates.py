"""One axis of a parallel-coordinates plot: values of any kind as places along it, with ticks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from service.contract.wording.numbers import setting
from service.figures.drawing.style import LOG_WHEN_RATIO, short
from service.figures.drawing.varied_parameters import is_number

FEW = 7  # different values that are ticked one by one
BELOW = 0.12  # of the axis: how far below its smallest value those without one are placed
NOTHING = "none"


class Coordinate(NamedTuple):
    """An axis and the place of every line on it."""

    label: str
    places: list[float]
    ticks: list[tuple[float, str]]
    range: tuple[float, float]


def round_values(low: float, high: float) -> list[float]:
    """About five round numbers within an interval."""
    width = high - low
    power = 10.0 ** math.floor(math.log10(width / 5))
    step = next(m * power for m in (1, 2, 5, 10) if width / (m * power) <= 6)
    return [short(i * step) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def round_powers(low: float, high: float) -> list[float]:
    """Powers of ten within an interval, and between them 2 and 5 where there are few."""
    digits = (1,) if high / low >= 1e3 else (1, 2, 5)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    round_numbers = [short(digit * 10.0**power) for power in powers for digit in digits]
    return [value for value in round_numbers if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


def coordinate(label: str, values: Sequence[Any]) -> Coordinate:
    """Numbers by size, on a log scale when they span more than a factor of twenty; anything else one by one."""
    present = [value for value in values if value is not None]
    return _numbers(label, values) if all(map(is_number, present)) and present else _names(label, values)


def _numbers(label: str, values: Sequence[float | None]) -> Coordinate:
    present = sorted({value for value in values if value is not None})
    low, high = present[0], present[-1]
    log = low > 0 and high / low > LOG_WHEN_RATIO

    def place(value: float) -> float:
        return math.log10(value) if log else float(value)

    ticked = present if len(present) <= FEW else round_powers(low, high) if log else round_values(low, high)
    ticks = [(short(place(value)), setting(value)) for value in ticked]
    bottom, top = place(low), place(high)
    if bottom == top:  # a line needs somewhere to go
        bottom, top = bottom - 0.5, top + 0.5
    missing = bottom - BELOW * (top - bottom)
    if None in values:
        ticks, bottom = [(short(missing), NOTHING), *ticks], missing
    places = [short(missing if value is None else place(value)) for value in values]
    return Coordinate(label, places, ticks, (min([*places, short(bottom)]), max([*places, short(top)])))


def _names(label: str, values: Sequence[Any]) -> Coordinate:
    """In the order in which they come."""
    words = [NOTHING if value is None else str(value) for value in values]
    places = {word: float(i) for i, word in enumerate(dict.fromkeys(words))}
    ticks = [(i, word) for word, i in places.items()]
    return Coordinate(label, [places[word] for word in words], ticks, (-0.5, len(places) - 0.5))
