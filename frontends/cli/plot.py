"""A front as characters: a stepped line of braille dots per arm, a marker per point, names on the axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from rich.text import Text

from service.contract.wording.numbers import number

DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # bits of a braille cell, by column and row
MARKERS = "●◆■▲✕★✚⬢"  # in the order of the palette's symbols
LOG_WHEN_RATIO = 20.0
NARROWEST, SHORTEST = 24, 4
Place = tuple[int, int]


class PlotAxis(NamedTuple):
    """`I(X;Z) [bits]`, and which way is better."""

    label: str
    minimize: bool
    may_be_log: bool = False


class ArmPoints(NamedTuple):
    """One arm's front; its place in the study chooses its marker."""

    name: str
    place: int
    colour: str
    points: Sequence[tuple[float, float]]


class Scale(NamedTuple):
    """From a value to a share of the axis, 0 to 1."""

    low: float
    high: float
    log: bool

    def at(self, value: float) -> float:
        low, high, value = map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return 0.5 if high == low else (value - low) / (high - low)


def scale_of(values: Sequence[float], axis: PlotAxis) -> Scale:
    """The values' own range; a log scale where they span more than a factor of twenty."""
    low, high = min(values), max(values)
    return Scale(low, high, axis.may_be_log and low > 0 and high / low > LOG_WHEN_RATIO)


def marker_of(place: int) -> str:
    """The arm's shape: colour is never the only cue."""
    return MARKERS[(place + place // len(MARKERS)) % len(MARKERS)]


def steps(points: Sequence[Place], across_first: bool) -> set[Place]:
    """All dots of a staircase through these, each corner included."""
    dots: set[Place] = set()
    for (x0, y0), (x1, y1) in pairwise(points):
        row, column = (y0, x1) if across_first else (y1, x0)
        dots |= {(x, row) for x in range(min(x0, x1), max(x0, x1) + 1)}
        dots |= {(column, y) for y in range(min(y0, y1), max(y0, y1) + 1)}
    return dots


class _Canvas:
    """Cells of two by four dots; the last arm that drew in a cell gives it its colour."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._bits: dict[Place, int] = {}
        self._marks: dict[Place, str] = {}
        self._colours: dict[Place, str] = {}

    def dot(self, x: int, y: int, colour: str) -> None:
        cell = (x // 2, y // 4)
        self._bits[cell] = self._bits.get(cell, 0) | DOTS[x % 2][y % 4]
        self._colours[cell] = colour

    def mark(self, x: int, y: int, sign: str, colour: str) -> None:
        self._marks[x // 2, y // 4] = sign
        self._colours[x // 2, y // 4] = colour

    def row(self, y: int) -> Text:
        text = Text()
        for x in range(self.width):
            cell = (x, y)
            drawn = chr(0x2800 + self._bits[cell]) if cell in self._bits else " "
            text.append(self._marks.get(cell, drawn), style=self._colours.get(cell, ""))
        return text


def front_plot(arms: Sequence[ArmPoints], x: PlotAxis, y: PlotAxis, width: int = 80, height: int = 14) -> Text:
    """The arms' fronts in at most `width` columns and `height` rows of plot; words where there is nothing yet."""
    points = [point for arm in arms for point in arm.points]
    if not points:
        return Text("The front appears with the first reports.", style="dim")
    xs, ys = scale_of([p[0] for p in points], x), scale_of([p[1] for p in points], y)
    labels = [number(ys.high), number(ys.low)]
    margin = max(map(len, labels))
    columns, rows = max(NARROWEST, width) - margin - 2, max(SHORTEST, height)
    canvas = _Canvas(columns, rows)

    def at(point: tuple[float, float]) -> Place:
        return round(xs.at(point[0]) * (2 * columns - 1)), round((1 - ys.at(point[1])) * (4 * rows - 1))

    for arm in arms:
        # To the right of a point its y is reached: the step goes across first when x is minimised.
        for dot in steps([at(point) for point in sorted(arm.points)], across_first=x.minimize):
            canvas.dot(*dot, arm.colour)
    for arm in arms:
        for point in arm.points:
            canvas.mark(*at(point), marker_of(arm.place), arm.colour)
    return _framed(canvas, (x, y), (xs, ys), labels, arms)


def _axis_words(axis: PlotAxis, scale: Scale) -> str:
    return f"{axis.label}, {'less' if axis.minimize else 'more'} is better{', log' if scale.log else ''}"


def _framed(
    canvas: _Canvas,
    axes: tuple[PlotAxis, PlotAxis],
    scales: tuple[Scale, Scale],
    labels: Sequence[str],
    arms: Sequence[ArmPoints],
) -> Text:
    """The canvas with its axes, their ends and names, and a legend."""
    margin, total = max(map(len, labels)), max(map(len, labels)) + 2 + canvas.width
    text = Text().append(_cut(_axis_words(axes[1], scales[1]), total) + "\n", style="dim")
    for row in range(canvas.height):
        label = labels[0] if row == 0 else labels[1] if row == canvas.height - 1 else ""
        text.append(f"{label:>{margin}} │", style="dim").append_text(canvas.row(row)).append("\n")
    low, high = number(scales[0].low), number(scales[0].high)
    text.append(f"{'':>{margin}} └{'─' * canvas.width}\n", style="dim")
    text.append(f"{'':>{margin + 2}}{low}{high:>{canvas.width - len(low)}}\n", style="dim")
    text.append(_cut(f"{'':>{margin + 2}}{_axis_words(axes[0], scales[0])}", total) + "\n", style="dim")
    for i, arm in enumerate(arms):
        text.append("   " if i else f"{'':>{margin + 2}}").append(marker_of(arm.place), style=arm.colour)
        text.append(f" {arm.name}")
    return text


def _cut(words: str, width: int) -> str:
    return words if len(words) <= width else words[: width - 1] + "…"
