"""Axes by value: the places of a span, what a range may hold, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from service.contract.parameters.axes import MAX_GRID, Bounds, Choice, Grid, Range, Span


def span(**parts: Any) -> list[float]:
    return Span.model_validate(parts).values()


def test_a_linear_span_by_value() -> None:
    assert span(**{"from": 0.0, "to": 1.0, "count": 5}) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert span(**{"from": -2, "to": 2, "count": 3}) == [-2.0, 0.0, 2.0]
    assert span(**{"from": 3.0, "to": 9.0, "count": 2}) == [3.0, 9.0]


def test_a_log_span_by_value() -> None:
    assert span(**{"from": 1e-4, "to": 1.0, "count": 5, "scale": "log"}) == [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
    assert span(**{"from": 1.0, "to": 100.0, "count": 4, "scale": "log"}) == [1.0, 4.64159, 21.5443, 100.0]
    assert span(**{"from": 2.0, "to": 8.0, "count": 3, "scale": "log"}) == [2.0, 4.0, 8.0]


def test_a_span_of_one_value_is_its_first() -> None:
    assert span(**{"from": 0.5, "to": 9.0, "count": 1}) == [0.5]
    assert span(**{"from": 0.5, "to": 0.5, "count": 1, "scale": "log"}) == [0.5]


@given(st.floats(1e-6, 10), st.floats(1.01, 1e4), st.integers(2, 50), st.sampled_from(["linear", "log"]))
def test_a_span_rises_from_end_to_end(low: float, ratio: float, count: int, scale: str) -> None:
    values = span(**{"from": low, "to": low * ratio, "count": count, "scale": scale})
    assert len(values) == count
    assert [values[0], values[-1]] == pytest.approx([low, low * ratio], rel=1e-5)
    assert values == sorted(values)


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        (Span, {"from": 1.0, "to": 1.0, "count": 2}, "from must be below to, got 1 and 1"),
        (Span, {"from": 2.0, "to": 1.0, "count": 2}, "from must be below to, got 2 and 1"),
        (Span, {"from": 0.1001, "to": 0.1, "count": 2}, "from must be below to, got 0.1001 and 0.1"),
        (Span, {"from": 0.0, "to": 1.0, "count": 2, "scale": "log"}, "above 0, got 0 and 1"),
        (Span, {"from": -1.0, "to": 1.0, "count": 1, "scale": "log"}, "above 0, got −1 and 1"),
        (Span, {"from": 0.0, "to": 1.0, "count": 0}, "greater than or equal to 1"),
        (Span, {"from": 0.0, "to": 1.0, "count": MAX_GRID + 1}, "less than or equal to 10000"),
        (Span, {"from": 0.0, "to": 1.0, "count": 2.0}, "valid integer"),
        (Span, {"from": 0.0, "to": 1.0, "count": 2, "scale": "cubic"}, "'linear' or 'log'"),
        (Span, {"from": 0.0, "to": float("inf"), "count": 2}, "finite"),
        (Span, {"from": 0.0, "to": 1.0, "coutn": 2}, "known keys: from, to, count, scale"),
        (Bounds, {"from": 1.0, "to": 1.0}, "from must be below to"),
        (Bounds, {"from": 0.0, "to": 1.0, "scale": "log"}, "above 0"),
        (Bounds, {"from": 1.0, "to": 2.5, "integer": True}, "to of an integer range must be a whole number, got 2.5"),
        (Bounds, {"from": 0.5, "to": 2.0, "integer": True}, "from of an integer range must be a whole number, got 0.5"),
        (Bounds, {"from": 0.5, "to": 2.0, "count": 3}, "known keys: from, to, scale, integer"),
        (Grid, {"grid": [1, 2, 1]}, "grid values must differ, 1 appears twice"),
        (Grid, {"grid": []}, "at least 1"),
        (Grid, {"gird": [1]}, "known keys: grid, range, choice"),
        (Choice, {"choice": ["a", "b", "b"]}, "choice values must differ, 'b' appears twice"),
        (Choice, {"choice": []}, "at least 1"),
    ],
)
def test_a_bad_axis_says_the_rule_and_the_value(kind: Any, body: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(body)
    assert words in str(caught.value)


def test_the_ends_of_a_range_are_whole_where_it_says_so() -> None:
    plain = Range.model_validate({"range": {"from": 2, "to": 8, "scale": "log"}})
    whole = plain.of_integers()
    assert plain.ends() == [2.0, 8.0] and all(isinstance(end, float) for end in plain.ends())
    assert whole.ends() == [2, 8] and all(isinstance(end, int) for end in whole.ends())
    assert (whole.range.scale, whole.range.integer, plain.range.integer) == ("log", True, None)


def test_a_grid_of_a_span_lists_its_values() -> None:
    grid = Grid.model_validate({"grid": {"from": 0.0, "to": 1.0, "count": 3}})
    assert grid.values() == [0.0, 0.5, 1.0]
    assert Grid.model_validate({"grid": [3, 1, 2]}).values() == [3, 1, 2], "in the order they were written"
