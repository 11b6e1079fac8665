"""Numbers for people: a table of values, to which the dashboard's functions are held too, and what holds for all."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.wording import numbers

TABLE = json.loads((Path(__file__).parent / "numbers.json").read_text())
ROWS = [(function, given, text) for function, rows in TABLE.items() for given, text in rows]
finite = st.floats(-1e300, 1e300)
# Just halfway between two texts, or as near to it as a float comes.
ties = st.builds(lambda digits, power: (digits + 0.5) * 10.0**power, st.integers(100, 999), st.integers(-8, 8))


@pytest.mark.parametrize(("function", "given", "text"), ROWS)
def test_values_are_written_as_the_table_says(function: str, given: list[Any], text: str) -> None:
    assert getattr(numbers, function)(*given) == text


def test_the_table_has_rows_for_every_function() -> None:
    assert {function: len(rows) >= 9 for function, rows in TABLE.items()} == dict.fromkeys(
        (
            "number",
            "setting",
            "spread",
            "whole",
            "percent",
            "percent_spread",
            "percent_range",
            "setting_range",
            "left",
            "duration",
            "plural",
            "over_seeds",
        ),
        True,
    )


@pytest.mark.parametrize(
    ("value", "places", "plain", "difference"),
    [
        (0.9164, 3, "0.916", "+0.916"),
        (-0.9164, 3, "−0.916", "−0.916"),
        (0.125, 2, "0.13", "+0.13"),
        (1234.5, 0, "1,235", "+1,235"),
        (-0.0004, 3, "0.000", "0.000"),
        (0.0, 9, "0.000000000", "0.000000000"),
        (math.nan, 1, "–", "–"),
    ],
)
def test_a_value_has_the_decimals_of_what_it_is_held_against(
    value: float, places: int, plain: str, difference: str
) -> None:
    assert (numbers.decimals(value, places), numbers.decimals(value, places, plus=True)) == (plain, difference)


@pytest.mark.parametrize(("lower", "upper", "ends"), [(0.0, 0.28, "0 to 28"), (0.004, 0.305, "under 1 to 31")])
def test_the_ends_of_a_share_are_points_of_a_percent(lower: float, upper: float, ends: str) -> None:
    assert numbers.share_ends(lower, upper) == ends
    assert numbers.percent_range(0.1, lower, upper) == f"10 % ({ends})"


@pytest.mark.parametrize("function", ["number", "setting", "percent", "duration"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_a_dash(function: str, value: float) -> None:
    assert getattr(numbers, function)(value) == "–"
    assert numbers.spread(value, 1.0) == "–"
    assert numbers.spread(1.0, value) == "1.00"


@given(finite)
def test_a_number_is_read_back_within_three_digits(value: float) -> None:
    text = numbers.number(value).replace("−", "-").replace(",", "")
    assert math.isclose(float(text), value, rel_tol=0.0051, abs_tol=1e-320)
    digits = re.sub(r"e.*|[.−,]", "", numbers.number(value)).lstrip("0")
    assert value == 0 or len(digits.rstrip("0")) <= 3 <= len(digits)


def rounded(value: float) -> Fraction:
    """To three significant digits, half up, in exact arithmetic."""
    size, unit = Fraction(value), Fraction(1)
    while size / unit < 100:
        unit /= 10
    while size / unit >= 1000:
        unit *= 10
    return math.floor(size / unit + Fraction(1, 2)) * unit


@given(ties | st.floats(1e-6, 1e8))
def test_a_number_is_its_exact_value_rounded_half_up(value: float) -> None:
    text = numbers.number(value).replace("−", "-").replace(",", "")
    assert Fraction(text) == rounded(value)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "p < 0.001"),
        (1e-30, "p < 0.001"),
        (0.000999, "p < 0.001"),
        (0.001, "p = 0.0010"),
        (0.0067, "p = 0.0067"),
        (0.0345, "p = 0.035"),
        (0.125, "p = 0.13"),
        (0.5, "p = 0.50"),
        (0.996, "p = 1.0"),
        (1.0, "p = 1.0"),
        (None, "–"),
        (math.nan, "–"),
    ],
)
def test_p_has_two_digits_and_a_least_value(p: float | None, text: str) -> None:
    assert numbers.p_value(p) == text


@given(finite)
def test_the_sign_is_a_true_minus(value: float) -> None:
    text = numbers.number(value)
    assert "-" not in text
    assert text.startswith("−") == (value < 0)


@given(st.floats(0, 1e7))
def test_a_longer_time_never_reads_shorter(seconds: float) -> None:
    def read(text: str) -> float:
        units = {"h": 3600, "m": 60, "s": 1}
        return sum(float(count) * units[unit] for count, unit in re.findall(r"([\d.]+) ([hms])", text))

    assert math.isclose(read(numbers.duration(seconds)), seconds, rel_tol=0.02, abs_tol=0.06)
