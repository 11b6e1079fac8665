"""What every store does with studies: listed, found again by their keys, told apart, deleted."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from service.contract.wire.errors import Conflict, NotFound
from service.contract.wire.events import KINDS, Event, StudyCancelled, StudyEvent, StudyStarted, StudyState
from service.store.protocol import Store
from tests.service.store.conftest import STARTED, kinds, report


def test_an_idempotency_key_makes_one_study(store: Store, plain: dict[str, Any]) -> None:
    assert store.create("k1", plain, "key")[1] is True
    row, created = store.create("k2", plain, "key")
    assert (row.id, created) == ("k1", False) and kinds(store, "k1") == ["study_queued"]
    assert store.create("k2", dict(reversed(plain.items())), "key")[0].id == "k1", "the order of keys says nothing"
    with pytest.raises(Conflict, match="another study"):
        store.create("k3", {**plain, "name": "other"}, "key")
    with pytest.raises(NotFound, match="k3"):
        store.study("k3")
    assert store.create("k4", plain, None)[1] and store.create("k5", plain, None)[1], "no key, no claim"


def test_studies_are_listed_newest_first_page_by_page(store: Store, plain: dict[str, Any]) -> None:
    for i in range(2, 6):
        store.create(f"s{i}", plain, None)
    assert [row.id for row in store.list_studies(None, 2, None)] == ["s5", "s4"]
    assert [row.id for row in store.list_studies(None, 9, "s4")] == ["s3", "s2", "s1"]
    store.append("s2", [StudyCancelled(uid="x")])
    assert [row.id for row in store.list_studies(StudyState.CANCELLED, 9, None)] == ["s2"]
    assert [row.id for row in store.in_state(StudyState.QUEUED)] == ["s1", "s3", "s4", "s5"], "oldest first"


def test_the_last_number_of_many_logs_is_one_question(store: Store, plain: dict[str, Any]) -> None:
    store.create("s2", plain, None)
    store.append("s2", [STARTED, report("t", 1), report("t", 2)])
    assert store.last_seqs(["s1", "s2", "gone"]) == {"s1": 1, "s2": 4}
    assert store.last_seqs([]) == {}


def test_deleting_needs_a_study_that_does_not_run(store: Store) -> None:
    store.append("s1", [StudyStarted(uid="a", job="s1")])
    with pytest.raises(Conflict, match="running"):
        store.delete("s1")
    store.append("s1", [StudyCancelled(uid="b")])
    store.delete("s1")
    assert list(store.read("s1", after=0)) == []
    for call in (store.study, store.delete, lambda study: store.append(study, [report("t", 1)])):
        with pytest.raises(NotFound, match="s1"):
            call("s1")


def test_listeners_hear_of_what_changed_and_of_nothing_else(store: Store, plain: dict[str, Any]) -> None:
    heard: list[tuple[str, int]] = []
    store.listeners.append(lambda study: heard.append((study, len(list(store.read(study, after=0))))))
    store.create("s2", plain, "key")
    store.create("s3", plain, "key")
    store.append("s2", [STARTED, report("t", 1)])
    store.append("s2", [report("t", 1)])
    store.append("s2", [report("t", 0)])
    store.append("s2", [StudyCancelled(uid="end")])
    store.delete("s2")
    assert heard == [("s2", 1), ("s2", 3), ("s2", 4), ("s2", 0)], "after the commit: what is heard of can be read"


def test_the_state_of_one_study_is_not_that_of_another(store: Store, plain: dict[str, Any]) -> None:
    store.create("s2", plain, None)
    store.append("s1", [StudyStarted(uid="go", job="s1"), report("t", 1)])
    assert [store.study(study).state for study in ("s1", "s2")] == [StudyState.RUNNING, StudyState.QUEUED]
    assert [row.id for row in store.in_state(StudyState.RUNNING)] == ["s1"]


@pytest.mark.parametrize("state", [StudyState.QUEUED, StudyState.PAUSED, StudyState.FINISHED, StudyState.FAILED])
def test_whatever_does_not_run_can_be_deleted_and_the_others_stay(
    store: Store, plain: dict[str, Any], state: StudyState
) -> None:
    store.create("s2", plain, None)
    store.append("s2", [STARTED, report("t", 1)])
    ends: dict[StudyState, Callable[..., Event]] = {
        kind.leads_to: kind for kind in KINDS.values() if issubclass(kind, StudyEvent)
    }
    if state is not StudyState.QUEUED:
        reason = {"reason": "r"} if state is StudyState.FAILED else {}
        store.append("s1", [STARTED, ends[state](uid="to", **reason)])
    store.delete("s1")
    assert [row.id for row in store.list_studies(None, 9, None)] == ["s2"]
    assert kinds(store) == [] and kinds(store, "s2") == ["study_queued", "study_started", "report"]


def test_a_running_study_says_that_it_cannot_be_deleted_yet(store: Store) -> None:
    store.append("s1", [StudyStarted(uid="a", job="s1"), report("t", 1)])
    with pytest.raises(Conflict, match="study s1 is running: cancel it before deleting it") as refused:
        store.delete("s1")
    assert [(d.path, d.message) for d in refused.value.details] == [("state", "running")]
    assert len(kinds(store)) == 3


def test_the_key_of_a_deleted_study_is_free_again(store: Store, plain: dict[str, Any]) -> None:
    store.create("k1", plain, "key")
    store.delete("k1")
    assert store.create("k2", {**plain, "name": "other"}, "key")[1] is True


def test_a_page_behind_what_is_not_there_is_empty(store: Store) -> None:
    assert store.list_studies(None, 9, "nope") == []


def test_more_studies_than_fit_in_a_query_have_their_last_numbers(
    store: Store, plain: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.store.sql.IN_CHUNK", 2)
    names = [f"n{i}" for i in range(5)]
    for name in names:
        store.create(name, plain, None)
    assert store.last_seqs([*names, "s1"]) == dict.fromkeys([*names, "s1"], 1)


def test_times_are_those_of_the_world_to_the_millisecond(store: Store, plain: dict[str, Any]) -> None:
    before = datetime.now(UTC)
    row, _ = store.create("s2", plain, None)
    (logged,) = store.read("s2", after=0)
    for at in (row.created_at, logged.at):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", at)
        assert before - timedelta(milliseconds=1) <= datetime.fromisoformat(at) <= datetime.now(UTC)


def test_a_row_is_what_was_submitted(store: Store, plain: dict[str, Any]) -> None:
    row, _ = store.create("s2", {**plain, "name": "β"}, None)
    assert row == store.study("s2") == store.list_studies(None, 1, None)[0]
    assert (row.id, row.spec, row.state) == ("s2", {**plain, "name": "β"}, StudyState.QUEUED)


def test_a_store_that_can_be_read_says_so(store: Store) -> None:
    store.check()
