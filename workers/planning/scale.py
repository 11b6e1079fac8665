"""A range of a parameter as shares of it: 0 is its one end and 1 the other, evenly on its scale."""

from __future__ import annotations

import math

from service.contract.parameters.axes import Range

NARROWEST = 1e-3  # of the range: between values nearer than that there is nothing new
NEAREST = 0.1  # of an interval: a new value keeps this far from its ends


class Scale:
    """Values in six digits, as grids have them, or whole numbers."""

    def __init__(self, axis: Range) -> None:
        self._ends = axis.ends()
        self._log, self._integer = axis.range.scale == "log", bool(axis.range.integer)

    def value(self, share: float) -> float:
        if share in (0.0, 1.0):
            return self._ends[int(share)]
        low, high = map(self._on, self._ends)
        at = low + share * (high - low)
        value = math.exp(at) if self._log else at
        return round(value) if self._integer else float(f"{value:.6g}")

    def share(self, value: float) -> float:
        """Of a value in the range; the inverse of `value` but for its digits."""
        low, high = map(self._on, self._ends)
        return (self._on(value) - low) / (high - low)

    def has_room(self, low: float, high: float) -> bool:
        """Whether there is a value worth trying between two shares."""
        if self._integer:
            return round(self.value(high)) - round(self.value(low)) > 1
        return high - low > NARROWEST

    def between(self, low: float, high: float, wanted: float) -> float:
        """The value at the wanted share, kept off both ends, which have room between them."""
        margin = NEAREST * (high - low)
        value = self.value(min(max(wanted, low + margin), high - margin))
        if self._integer:
            return min(max(value, self.value(low) + 1), self.value(high) - 1)
        return value

    def _on(self, value: float) -> float:
        return math.log(value) if self._log else value
