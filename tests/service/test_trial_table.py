"""Rows of the trial table: conditions, order, what can be asked."""

from __future__ import annotations

import time

import pytest

from service.contract.errors import InvalidInput
from service.trial_table import Condition, Wanted, columns, conditions, matching, ordered
from tests.service.test_comparison import end, tell, view_of


def test_conditions_are_read_with_and_without_spaces() -> None:
    assert conditions(" accuracy>0.9 ,seed = 2,  arm != manual β ") == [
        Condition("accuracy", ">", "0.9"),
        Condition("seed", "=", "2"),
        Condition("arm", "!=", "manual β"),
    ]
    assert conditions(" , ") == []


@pytest.mark.parametrize("where", ["accuracy", "> 3", "accuracy >", "a ~ b"])
def test_what_is_no_condition_is_refused(where: str) -> None:
    with pytest.raises(InvalidInput, match="is no condition"):
        conditions(where)


def test_a_hostile_condition_is_refused_as_fast_as_any() -> None:
    begun = time.process_time()
    with pytest.raises(InvalidInput):
        conditions(" " * 480 + "a" + " " * 500)
    hostile = time.process_time() - begun
    begun = time.process_time()
    for _ in range(2000):
        conditions("accuracy > 0.9")
    assert hostile < time.process_time() - begun


def test_rows_match_all_that_is_asked_and_missing_values_match_nothing() -> None:
    view = view_of()
    low_0, low_1, high_0, high_1, mib_0, mib_1 = view.trials
    for i, trial in enumerate((low_0, low_1, high_0)):
        end(view, trial, 2.0 + i, 1.0)
    tell(view, "trial_failed", trial=high_1, reason="a reason")
    rows = list(view.trials)
    assert matching(view, rows, Wanted(where="i_xz_bits >= 3")) == [low_1, high_0]
    assert matching(view, rows, Wanted(where="weighting.beta = 0.1, seed = 0")) == [high_0]
    assert matching(view, rows, Wanted(where="arm = mib")) == [mib_0, mib_1]
    assert matching(view, rows, Wanted(where="state = failed")) == [high_1]
    assert matching(view, rows, Wanted(trials=(mib_0, low_0))) == [low_0, mib_0]
    with pytest.raises(InvalidInput, match="cannot ask about 'colour'"):
        matching(view, rows, Wanted(where="colour = red"))


def test_missing_values_come_last_whichever_way() -> None:
    view = view_of()
    first, second, *rest = view.trials
    end(view, first, 2.0, 1.0)
    end(view, second, 1.0, 1.0)
    assert ordered(view, list(view.trials), "i_xz_bits") == [second, first, *rest]
    assert ordered(view, list(view.trials), "-i_xz_bits") == [first, second, *rest]


def test_columns_are_the_keys_that_vary_within_an_arm() -> None:
    found = columns(view_of())
    assert found["varied"] == ["weighting.beta"]
    assert {"weighting.beta", "weighting.name"} <= set(found["config"])
