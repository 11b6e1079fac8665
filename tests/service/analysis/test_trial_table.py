"""Rows of the trial table: conditions, order, what can be asked."""

from __future__ import annotations

import time

import pytest

from service.analysis.trial_table import Condition, Wanted, columns, conditions, matching, ordered
from service.contract.wire.errors import InvalidInput
from service.contract.wire.events import TrialState
from tests.service.answers.test_comparison import end, tell, view_of
from tests.service.studies import bottleneck_of, play


def test_conditions_are_read_with_and_without_spaces() -> None:
    assert conditions(" accuracy>0.9 ,seed = 2,  arm != manual β ") == [
        Condition("accuracy", ">", "0.9"),
        Condition("seed", "=", "2"),
        Condition("arm", "!=", "manual β"),
    ]
    assert conditions(" , ") == []


@pytest.mark.parametrize("where", ["accuracy", "> 3", "accuracy >", "a ~ b"])
def test_what_is_no_condition_is_refused(where: str) -> None:
    with pytest.raises(InvalidInput, match="is not a condition"):
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


@pytest.mark.parametrize(
    ("sign", "numbers", "words"),
    [
        ("<", [1.0], ["a"]),
        ("<=", [1.0, 2.0], ["a", "B"]),
        ("=", [2.0], ["B"]),
        ("!=", [1.0, 10.0], ["a", "c"]),
        (">=", [2.0, 10.0], ["B", "c"]),
        (">", [10.0], ["c"]),
    ],
)
def test_each_sign_compares_numbers_by_size_and_words_whatever_their_case(
    sign: str, numbers: list[float], words: list[str]
) -> None:
    assert [value for value in (1.0, 2.0, 10.0) if Condition("k", sign, "2").holds(value)] == numbers
    assert [value for value in ("a", "B", "c") if Condition("k", sign, "b").holds(value)] == words
    assert not Condition("k", sign, "2").holds(None) and not Condition("k", sign, "b").holds(3.0)


def test_truth_is_asked_for_by_its_word() -> None:
    assert Condition("collapsed", "=", "true").holds(True) and not Condition("collapsed", "=", "1").holds(True)


def test_rows_are_chosen_by_arm_state_front_and_collapse() -> None:
    view = view_of()
    best, worse, empty, failed, mib_0, mib_1 = view.trials
    end(view, best, 2.0, 2.0)
    end(view, worse, 3.0, 1.0)
    end(view, empty, 0.0, 0.0)
    end(view, failed, 1.0, 9.0, how="trial_failed")
    rows = list(view.trials)
    assert matching(view, rows, Wanted(arm="MIB")) == [mib_0, mib_1]
    assert matching(view, rows, Wanted(state=TrialState.FAILED)) == [failed]
    assert matching(view, rows, Wanted(front=True)) == [best]
    assert matching(view, rows, Wanted(front=False)) == [worse, empty, failed, mib_0, mib_1]
    assert matching(view, rows, Wanted(collapsed=True)) == [empty]
    assert matching(view, rows, Wanted(collapsed=False, state=TrialState.FINISHED)) == [best, worse]
    assert matching(view, rows, Wanted(where="on_front = true")) == [best]


def test_numbers_are_ordered_by_size_and_words_by_letter() -> None:
    view = view_of()
    nine, ten, *_ = view.trials
    end(view, ten, 10.0, 1.0)
    end(view, nine, 9.0, 1.0)
    assert ordered(view, [ten, nine], "i_xz_bits") == [nine, ten]
    assert ordered(view, [nine, ten], "-i_xz_bits") == [ten, nine]
    by_arm = [view.trials[trial].planned.arm for trial in ordered(view, list(view.trials), "arm")]
    assert by_arm == sorted(by_arm) and by_arm[0] == "MIB"
    with pytest.raises(InvalidInput, match="cannot sort by 'colour'"):
        ordered(view, [nine], "colour")


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


def test_a_value_that_the_first_trial_of_a_search_lacks_is_a_column_and_does_not_vary_yet() -> None:
    search = {"name": "search", "weighting": {"name": "fixed", "beta": {"range": {"from": 0.01, "to": 1.0}}}}
    view = bottleneck_of({**search, "search": {"name": "optuna", "trials": 3}}, seeds=(0,))
    _, second, third = view.trials
    tell(view, "trial_started", trial=second, config={"weighting.beta": 0.5})
    assert "weighting.beta" in columns(view)["config"]
    assert columns(view)["varied"] == []
    tell(view, "trial_started", trial=third, config={"weighting.beta": 0.25})
    assert columns(view)["varied"] == ["weighting.beta"]


def test_a_value_of_zero_is_found_and_ordered_like_any_other() -> None:
    view = bottleneck_of(seeds=(0,))
    none, some, most, missing = view.trials
    for trial, accuracy in ((most, 0.5), (none, 0.0), (some, 0.25)):
        play(view, trial, [{"accuracy": accuracy}])
    rows = list(view.trials)
    assert matching(view, rows, Wanted(where="accuracy < 0.3")) == [none, some]
    assert ordered(view, rows, "accuracy") == [none, some, most, missing]
    assert ordered(view, rows, "-accuracy") == [most, some, none, missing]
