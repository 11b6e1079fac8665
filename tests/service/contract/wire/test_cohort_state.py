"""What the head of a saved state says: who goes on from it, and whether it is from the end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.contract.wire.cohort_state import LONGEST_HEAD, CohortState, head_of, key_of


def state(**said: Any) -> CohortState:
    return CohortState.model_validate({"members": {"a": {}, "b": {}, "c": {}}, "epoch": 3, "seconds": 1.5, **said})


@pytest.mark.parametrize(
    ("epoch", "epochs", "final"), [(1, 3, False), (2, 3, False), (3, 3, True), (4, 3, True), (1, 1, True)]
)
def test_a_state_is_final_from_the_last_epoch_on(epoch: int, epochs: int, final: bool) -> None:
    assert state(epoch=epoch, epochs=epochs).is_final is final


def test_a_state_that_does_not_say_how_many_epochs_there_were_to_be_is_not_final() -> None:
    assert not state(epoch=1000).is_final


def test_those_go_on_who_had_not_failed_in_the_order_of_the_members() -> None:
    assert state().living == ["a", "b", "c"]
    assert state(failed=["b", "nobody"]).living == ["a", "c"]
    assert state(failed=["c", "a", "b"]).living == []


def test_whose_state_it_is_does_not_change_with_how_far_it_is_or_who_has_failed() -> None:
    assert state().key == state(epoch=4, epochs=4, seconds=9.0, failed=["a"]).key == key_of(state().members)


def test_the_order_of_suggested_values_makes_no_other_cohort_and_that_of_trials_does() -> None:
    assert key_of({"a": {"x": 1, "y": 2}}) == key_of({"a": {"y": 2, "x": 1}}) != key_of({"a": {"x": 2, "y": 1}})
    assert key_of({"a": {}, "b": {}}) != key_of({"b": {}, "a": {}})


def file_of(said: CohortState, pad: int = 0) -> bytes:
    """The beginning of a safetensors file, with so many spaces in its header besides."""
    header = json.dumps({"__metadata__": {"cohort": said.model_dump_json()}}).encode() + b" " * pad
    return len(header).to_bytes(8, "little") + header


def test_the_head_is_read_from_the_first_bytes_whatever_follows() -> None:
    said = state(epochs=9, failed=["b"])
    assert head_of(file_of(said)) == head_of(file_of(said) + b"tensors") == said


def test_a_head_that_is_cut_or_longer_than_the_longest_is_none() -> None:
    whole = file_of(state())
    longest = LONGEST_HEAD + 8 - len(whole)
    assert head_of(file_of(state(), longest)) == state()
    for start in (whole[:-1], whole[:7], b"", bytes(8), file_of(state(), longest + 1)):
        with pytest.raises(ValueError, match="does not begin as a safetensors file does"):
            head_of(start)
