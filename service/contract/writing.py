"""How values are written for people, in page, terminal and report alike: three digits, units, times as 3 m 12 s."""

from __future__ import annotations

import math
from typing import Any

NONE = "–"


def _decimals(value: float) -> int:
    """Places behind the point that show three significant digits."""
    return 2 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))


def number(value: float | None) -> str:
    """A measured value: 0.920, 12.3, 1,230, 1.2e-05."""
    if value is None:
        return NONE
    if value == 0 or not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}".replace("-", "−")
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.{_decimals(rounded)}f}".replace("-", "−")


def setting(value: Any) -> str:
    """A chosen value as it was meant: 0.01, 128, adam."""
    if value is None:
        return NONE
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def spread(mean: float | None, half_width: float | None) -> str:
    """`32.9 ± 12.1`: the half width in the mean's decimals, or one digit of its own if those show none."""
    if mean is None or half_width is None:
        return number(mean)
    places = _decimals(mean)
    shown = f"{half_width:.{places}f}"
    return f"{number(mean)} ± {shown if float(shown) or not half_width else f'{half_width:.1g}'}"


def percent(share: float) -> str:
    value = 100 * share
    return "under 1 %" if 0 < value < 1 else f"{value:.0f} %"


def duration(seconds: float | None) -> str:
    """3 m 12 s."""
    if seconds is None:
        return NONE
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    return f"{minutes} m {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} m"
