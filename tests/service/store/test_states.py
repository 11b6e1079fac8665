"""Saved states are dropped when nobody can go on from them, and not before."""

from __future__ import annotations

import os
import time
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


def test_when_a_state_was_saved_is_told_by_the_clock_of_the_service_not_of_the_disk(tmp_path: Path) -> None:
    """A network file system says when a file was written by a clock of its own, which may be behind."""
    members: dict[str, dict[str, bool | int | float | str]] = {"a": {}}
    states, begun = States(tmp_path), time.time()
    with states.draft("s1", key_of(members)) as draft:
        draft.file.write(content(members))
        draft.file.flush()
        os.utime(draft.file.name, (begun - 3600, begun - 3600))
        draft.settle()
    states.drop_older("s1", {"a": begun})
    assert [list(state.members) for state in states.of("s1")] == [["a"]]
    states.drop_older("s1", {"a": time.time() + 1})
    assert states.of("s1") == [], "it was saved before its trial was begun anew"
