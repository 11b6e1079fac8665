"""How values are written for people, in page, terminal and report alike: three digits, units, times as 3 m 12 s.

`kit/format.js` of the dashboard has the same functions; one table of values proves that they write the same texts.
Both round the exact value of a double, ties away from zero: Python's own formats would round ties to even.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache

NONE = "–"
MINUS = "−"
DIGITS = 3
SMALLEST_PLAIN, SMALLEST_LARGE = 1e-4, 1e6
LARGEST_QUICK = 999.0  # Python writes 1,000 as 1.00e+03; most values are smaller, and a figure has thousands of them
LARGEST_WHOLE = 1e15
MINUTE, HOUR = 60, 3600
SMALLEST_P, P_DIGITS = 0.001, 2


@cache  # a new context would cost more than the rounding
def _half_up(digits: int) -> Context:
    return Context(prec=digits, rounding=ROUND_HALF_UP)


def _significant(size: float, digits: int = DIGITS) -> Decimal:
    return _half_up(digits).plus(Decimal(size))


def _fixed(size: float, places: int) -> Decimal:
    return Decimal(size).quantize(Decimal(1).scaleb(-places), context=_half_up(400))


def _sign(value: float) -> str:
    return MINUS if value < 0 else ""


def _power(rounded: Decimal, trimmed: bool = False) -> str:
    """`1.23e−5`; trimmed without the zeros that end its mantissa."""
    exponent = rounded.adjusted()
    mantissa = f"{rounded.scaleb(-exponent):f}"
    if trimmed and "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{exponent}".replace("-", MINUS)


def _is_plain(size: float) -> bool:
    return SMALLEST_PLAIN <= size < SMALLEST_LARGE


def _places(rounded: Decimal, digits: int = DIGITS) -> int:
    """Places behind the point that show so many significant digits."""
    return max(0, digits - 1 - rounded.adjusted())


def _may_be_tie(size: float) -> bool:
    """Whether Python might round it otherwise: a tie has a fourth digit of 5, and no more."""
    return f"{size:.3e}"[4] == "5"


def number(value: float | None) -> str:
    """A measured value, always three significant digits: 0.920, 12.3, 1,230, 1.23e−5."""
    if value is None or not math.isfinite(value):
        return NONE
    if value == 0:
        return "0"
    size = abs(value)
    if SMALLEST_PLAIN <= size < LARGEST_QUICK and not _may_be_tie(size):
        return _sign(value) + f"{size:#.3g}".rstrip(".")
    rounded = _significant(size)
    text = f"{rounded:,.{_places(rounded)}f}" if _is_plain(size) else _power(rounded)
    return _sign(value) + text


def decimals(value: float, places: int, plus: bool = False) -> str:
    """In so many decimals, as what it is held against has: 0.916; a difference with a plus, +0.916. 0 has no sign."""
    if not math.isfinite(value):
        return NONE
    rounded = _fixed(abs(value), places)
    sign = _sign(value) or ("+" if plus else "")
    return f"{sign if rounded else ''}{rounded:,.{places}f}"


def setting(value: object, digits: int = DIGITS) -> str:
    """A chosen value as it was meant: 0.01, 128, adam; with more digits where it must be reproduced."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _chosen_number(value, digits)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(setting, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {setting(part)}' for key, part in value.items())}}}"
    return str(value)


def _chosen_number(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return NONE
    size = abs(value)
    if size < LARGEST_WHOLE and size == int(size):
        return f"{_sign(value)}{int(size)}"
    rounded = _significant(size, digits)
    if not _is_plain(size):
        return _sign(value) + _power(rounded, trimmed=True)
    text = f"{rounded:f}"
    return _sign(value) + (text.rstrip("0").rstrip(".") if "." in text else text)


def spread(mean: float | None, half_width: float | None, low: float | None = None, high: float | None = None) -> str:
    """`32.9 ± 12.1`: the half width in the mean's decimals, or one digit of its own if those show none.

    Without a half width, `31.2 and 34.6`: the least and the largest value, which of two seeds are both.
    """
    if half_width is None and low is not None and high is not None and low != high:
        return f"{number(low)} and {number(high)}"
    if mean is None or half_width is None or not math.isfinite(mean) or not math.isfinite(half_width):
        return number(mean)
    if (mean != 0 and not _is_plain(abs(mean))) or half_width >= LARGEST_WHOLE:
        return f"{number(mean)} ± {number(half_width)}"
    places = _places(_significant(abs(mean)))
    shown = _fixed(half_width, places)
    if shown or not half_width:
        return f"{number(mean)} ± {shown:,.{places}f}"
    own = _significant(half_width, digits=1)
    return f"{number(mean)} ± {f'{own:f}' if _is_plain(half_width) else _power(own)}"


def over_seeds(seeds: int) -> str:
    """What a mean in a table is, by how many seeds there are."""
    few = {0: "no seed", 1: "one seed, no interval", 2: "two seeds, both values, no interval"}
    return few.get(seeds, f"mean ± 95 % interval over {seeds} seeds")


def p_value(p: float | None) -> str:
    """`p = 0.0067`: two significant digits; below 0.001 only that it is."""
    if p is None or not math.isfinite(p):
        return NONE
    if p < SMALLEST_P:
        return f"p < {SMALLEST_P}"
    rounded = _significant(p, P_DIGITS)
    return f"p = {rounded:.{_places(rounded, P_DIGITS)}f}"


def whole(count: float) -> str:
    """A count, or the mean of several: 12,345."""
    return f"{_fixed(count, 0):,}"


def plural(count: float, word: str) -> str:
    """1 trial, 12,345 trials."""
    return f"{(text := whole(count))} {word}{'' if text == '1' else 's'}"


def percent(share: float | None) -> str:
    if share is None or not math.isfinite(share):
        return NONE
    value = 100 * share
    if 0 < value < 1:
        return "under 1 %"
    shown = whole(abs(value))
    return f"{'' if shown == '0' else _sign(value)}{shown} %"


def percent_spread(mean: float | None, half_width: float | None) -> str:
    """`50 % ± 18`: both in points of a percent."""
    if half_width is None or not math.isfinite(half_width):
        return percent(mean)
    points = 100 * half_width
    return f"{percent(mean)} ± {'under 1' if 0 < points < 1 else whole(points)}"


def _points(share: float) -> str:
    """Of a percent, without its sign: `18`, `under 1`."""
    return percent(share).removesuffix(" %")


def share_ends(lower: float, upper: float) -> str:
    """`12 to 77`: of the interval of a share."""
    return f"{_points(lower)} to {_points(upper)}"


def percent_range(mean: float | None, lower: float | None, upper: float | None) -> str:
    """`40 % (12 to 77)`: a share with the ends of its interval, in points of a percent."""
    if lower is None or upper is None:
        return percent(mean)
    return f"{percent(mean)} ({share_ends(lower, upper)})"


def setting_range(mean: float | None, lower: float | None, upper: float | None) -> str:
    """`0.049 (0.031 to 0.077)`: an interpolated setting with the ends of its interval, two digits each."""
    if lower is None or upper is None:
        return setting(mean)
    return f"{setting(mean)} ({setting(lower, 2)} to {setting(upper, 2)})"


def duration(seconds: float | None) -> str:
    """3 m 12 s."""
    if seconds is None or not math.isfinite(seconds):
        return NONE
    if seconds < 0:
        return MINUS + duration(-seconds)
    if seconds == 0:
        return "0 s"
    whole = int(_fixed(seconds, 0))
    if whole < MINUTE:
        return f"{_fixed(seconds, 1)} s" if seconds < 9.95 else f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} m {whole % MINUTE:02d} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02d} m"


def left(seconds: float) -> str:
    """3 m 12 s left; the last seconds are not counted down, an estimate is not that sure."""
    return "under 10 s left" if seconds < 10 else f"{duration(seconds)} left"
