"""One hue and one marker per arm, the same in every figure, table and terminal."""

from __future__ import annotations

# Okabe–Ito, safe for colour-blind readers; ordered for contrast between neighbours on light and dark.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A6D3B", "#7F7F7F")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "star", "cross", "hexagon")


def arm_style(index: int) -> tuple[str, str]:
    """Colour and marker of the arm at this place of the study."""
    return COLOURS[index % len(COLOURS)], SYMBOLS[(index + index // len(COLOURS)) % len(SYMBOLS)]
