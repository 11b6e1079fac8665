"""Saved states are dropped when nobody can go on from them, and not before."""

from __future__ import annotations

from pathlib import Path

from service.contract.wire.cohort_state import key_of
from service.store.states import States
from tests.service.routes.test_cohorts import content


def test_a_state_stays_while_one_of_its_members_is_not_over(tmp_path: Path) -> None:
    members: dict[str, dict[str, bool | int | float | str]] = {"a": {}, "b": {}}
    states = States(tmp_path)
    with states.draft("s1", key_of(members)) as draft:
        draft.file.write(content(members))
        draft.settle()
    states.drop_ended("s1", {"a"})
    assert [list(state.members) for state in states.of("s1")] == [["a", "b"]]
    states.drop_ended("s1", {"a", "b"})
    assert states.of("s1") == []
