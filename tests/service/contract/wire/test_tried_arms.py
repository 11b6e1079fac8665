"""What is told of a tried arm: it crosses a pipe of bytes whatever the user's code has made of it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from service.contract.wire.tried_arms import ArmBegins, ArmTried, Outcome, StudyRefused, Told, line_of, told_in

TOLD: list[Told] = [
    ArmBegins(arm="β\u2028 {}"),
    ArmTried(arm="a", trials=3, outcome=Outcome(words="a script")),
    ArmTried(arm="a", trials=3, outcome=Outcome(words="w", stacks=False, apart=0.5, losses={"x": 1.0}, settings=1)),
    StudyRefused(reason="mine.py:8: ValueError: no\nand more"),
]


def test_what_is_told_is_read_as_what_it_was() -> None:
    assert told_in(b"".join(map(line_of, TOLD))) == TOLD


def test_numbers_that_are_not_finite_are_null_on_both_sides() -> None:
    nan, inf = float("nan"), float("inf")
    outcome = Outcome(words="w", apart=inf, weights={"x": inf}, first_metrics={"a": nan, "b": 1.0})
    assert (outcome.weights, outcome.first_metrics) == ({"x": None}, {"a": None, "b": 1.0})
    (read,) = told_in(line_of(ArmTried(arm="a", trials=1, outcome=outcome)))
    assert isinstance(read, ArmTried) and read.outcome == outcome.model_copy(update={"apart": None})
    assert read.outcome.model_dump(exclude_none=True)["first_metrics"] == {"a": None, "b": 1.0}


def test_half_a_character_in_an_error_does_not_keep_the_error_back() -> None:
    assert told_in(line_of(StudyRefused(reason="no \ud800"))) == [StudyRefused(reason="no ?")]


@pytest.mark.parametrize("line", [b'{"arm": "a"}', b'{"says": "begins", "arm": "a", "more": 1}', b"{}", b"3"])
def test_what_is_none_of_them_is_refused(line: bytes) -> None:
    with pytest.raises(ValidationError):
        told_in(line)
