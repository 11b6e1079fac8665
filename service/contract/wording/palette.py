"""One hue and one marker per arm, the same in every figure, table and terminal."""

from __future__ import annotations

# Okabe–Ito, safe for colour-blind readers; ordered for contrast between neighbours on light and dark.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A6D3B", "#7F7F7F")

# Plotly's names, each with its outline as an SVG path on a field of 12 × 12.
MARKERS = {
    "circle": "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z",
    "diamond": "M6 .5L11.5 6L6 11.5L.5 6z",
    "square": "M2 2h8v8h-8z",
    "triangle-up": "M6 1L11 10.5H1z",
    "x": "M3 1L6 4L9 1L11 3L8 6L11 9L9 11L6 8L3 11L1 9L4 6L1 3z",
    "star": "M6 .5L7.5 4.2L11.5 4.5L8.4 7L9.5 11L6 8.8L2.5 11L3.6 7L.5 4.5L4.5 4.2z",
    "cross": "M4.5 1h3v3.5H11v3H7.5V11h-3V7.5H1v-3h3.5z",
    "hexagon": "M6 .8L10.6 3.4V8.6L6 11.2L1.4 8.6V3.4z",
}
SYMBOLS = tuple(MARKERS)


def arm_style(index: int) -> tuple[str, str]:
    """Colour and marker of the arm at this place of the study."""
    return COLOURS[index % len(COLOURS)], SYMBOLS[(index + index // len(COLOURS)) % len(SYMBOLS)]
