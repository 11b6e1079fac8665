"""Views are folded once and advanced; a list of many studies folds only what is new."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.contract.study.parsing import check_study
from service.contract.wire.errors import NotFound
from service.contract.wire.events import StudyCancelled, StudyStarted
from service.store.protocol import Logged, StudyRow
from service.store.sql import SqlStore
from service.views.cache import KEPT_VIEWS, Views
from service.views.summaries import Summaries
from service.views.unreadable import UnreadableStudy
from service.views.view import MOST_MEMOS, Memo, View


class CountingStore(SqlStore):
    """A store that notes whose log was read from its first event, whose from later on, and whose row was asked for."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.folded: list[str] = []
        self.advanced: list[str] = []
        self.looked_up: list[str] = []

    def read(self, study_id: str, after: int, limit: int | None = None) -> Iterator[Logged]:
        (self.advanced if after else self.folded).append(study_id)
        return super().read(study_id, after, limit)

    def study(self, study_id: str) -> StudyRow:
        self.looked_up.append(study_id)
        return super().study(study_id)

    def untouched(self) -> bool:
        return not (self.folded or self.advanced or self.looked_up)

    def forget_counts(self) -> None:
        for counted in (self.folded, self.advanced, self.looked_up):
            counted.clear()


IDS = [f"s{i}" for i in range(5)]


@pytest.fixture
def store(tmp_path: Path, spec: dict[str, Any]) -> Iterator[CountingStore]:
    """Holds five studies."""
    store = CountingStore(tmp_path)
    for study_id in IDS:
        store.create(study_id, check_study(spec).model_dump(by_alias=True, mode="json"), None)
    yield store
    store.close()


def touch(views: Views, *study_ids: str) -> None:
    for study_id in study_ids:
        with views.read(study_id):
            pass


def test_a_view_in_use_is_folded_once(store: CountingStore) -> None:
    views = Views(store)
    touch(views, "s0", "s0", "s0")
    assert (store.folded, store.advanced) == (["s0"], ["s0", "s0"])


def test_the_least_recently_used_view_leaves(store: CountingStore) -> None:
    views = Views(store, most=2)
    touch(views, "s0", "s1", "s0", "s2")  # s1 was not used for longest
    store.forget_counts()
    touch(views, "s0", "s2")
    assert store.folded == []
    touch(views, "s1")
    assert store.folded == ["s1"]


def test_a_driver_that_asks_for_trial_ids_uses_the_view_too(store: CountingStore) -> None:
    views = Views(store, most=2)
    touch(views, "s0", "s1")
    assert len(views.trial_ids("s0")) == 6
    touch(views, "s2")
    store.forget_counts()
    touch(views, "s0")
    assert store.folded == []


def test_a_forgotten_view_is_folded_anew(store: CountingStore) -> None:
    views = Views(store)
    touch(views, "s0")
    views.forget("s0")
    touch(views, "s0")
    assert store.folded == ["s0", "s0"]


def state_and_seq(view: View) -> tuple[str, int]:
    return view.state.value, view.seq


def unreadable(study: UnreadableStudy) -> tuple[str, int]:
    return f"unreadable: {study.why}", 0


def states(store: CountingStore, most: int = 100) -> tuple[Views, Summaries[tuple[str, int]]]:
    """Far fewer views than studies; of each study its state and the number of its last event."""
    views = Views(store, most=2)
    return views, Summaries(store, views, state_and_seq, unreadable, most)


def test_a_poll_without_new_events_folds_nothing_and_touches_no_view(store: CountingStore) -> None:
    _, summaries = states(store)
    first = summaries.of(IDS)
    assert first == dict.fromkeys(IDS, ("queued", 1))
    assert store.folded == IDS
    store.forget_counts()
    for _ in range(3):
        assert summaries.of(IDS) == first
    assert store.untouched()


def test_a_poll_folds_only_the_study_that_has_new_events(store: CountingStore) -> None:
    _, summaries = states(store)
    summaries.of(IDS)
    store.forget_counts()
    store.append("s4", [StudyStarted(uid="go", job="j")])
    assert summaries.of(IDS)["s4"] == ("running", 2)
    assert store.folded + store.advanced == ["s4"]
    store.append("s4", [StudyCancelled(uid="end")])
    assert summaries.of(IDS)["s4"] == ("cancelled", 3)
    store.forget_counts()
    assert summaries.of(IDS)["s4"] == ("cancelled", 3)
    assert store.untouched()


def test_a_list_of_more_studies_than_there_are_views_is_folded_once_and_then_where_something_happened(
    tmp_path: Path, spec: dict[str, Any]
) -> None:
    """As a list of thousands: without summaries each poll would fold all of them again, view by view."""
    store, ids = CountingStore(tmp_path), [f"s{i}" for i in range(KEPT_VIEWS + 20)]
    played = check_study({**spec, "seeds": [0], "arms": spec["arms"][1:]}).model_dump(by_alias=True, mode="json")
    for study_id in ids:
        store.create(study_id, played, None)
    summaries = Summaries(store, Views(store), state_and_seq, unreadable, most=len(ids))
    first = summaries.of(ids)
    assert len(first) == len(ids) and store.folded == ids
    store.forget_counts()
    assert summaries.of(ids) == first and store.untouched()
    for study_id in ("s0", ids[-1]):  # one whose view has left, and one whose view is there
        store.append(study_id, [StudyStarted(uid="go", job="j")])
    now = summaries.of(ids)
    assert now == {**first, "s0": ("running", 2), ids[-1]: ("running", 2)}
    assert store.folded == ["s0"] and store.advanced == [ids[-1]]
    store.close()


def test_summaries_come_in_the_order_asked_for(store: CountingStore) -> None:
    _, summaries = states(store)
    assert list(summaries.of(["s3", "s1", "s2"])) == ["s3", "s1", "s2"]


def test_the_least_recently_used_summary_leaves(store: CountingStore) -> None:
    _, summaries = states(store, most=3)
    summaries.of(["s0", "s1", "s2"])
    summaries.of(["s0"])
    summaries.of(["s3"])
    store.forget_counts()
    summaries.of(["s0", "s2", "s3"])
    assert store.untouched()
    summaries.of(["s1"])
    assert store.folded == ["s1"]


def test_a_deleted_study_has_no_summary(store: CountingStore) -> None:
    """Also when its view is still there: another process may have deleted it."""
    views, summaries = states(store)
    summaries.of(IDS)
    store.delete("s4")
    assert list(summaries.of(IDS)) == IDS[:4]
    views.forget("s4")
    with pytest.raises(NotFound):
        touch(views, "s4")


def test_a_deleted_study_has_no_trials_though_its_view_is_there(store: CountingStore) -> None:
    views = Views(store)
    touch(views, "s0")
    store.delete("s0")
    with pytest.raises(NotFound):
        views.trial_ids("s0")


def test_the_newest_studies_are_folded_before_anyone_asks(store: CountingStore) -> None:
    views = Views(store)
    views.warm(2, threading.Event())
    assert store.folded == ["s4", "s3"]
    touch(views, "s3", "s4")
    assert store.folded == ["s4", "s3"]


def test_folding_ahead_ends_with_the_service(store: CountingStore) -> None:
    stopping = threading.Event()
    stopping.set()
    Views(store).warm(5, stopping)
    assert store.folded == []


# Several at once, and deleted in the meantime


class EventfulStore(CountingStore):
    """Something happens right after a study was first looked up."""

    meanwhile: Callable[[], None] | None = None

    def study(self, study_id: str) -> StudyRow:
        row = super().study(study_id)
        if self.meanwhile is not None:
            happens, self.meanwhile = self.meanwhile, None
            happens()
        return row


@pytest.fixture
def eventful(tmp_path: Path, store: CountingStore) -> Iterator[EventfulStore]:
    """The same five studies."""
    eventful = EventfulStore(tmp_path)
    yield eventful
    eventful.close()


def test_a_study_deleted_while_its_view_begins_does_not_stay(eventful: EventfulStore) -> None:
    views = Views(eventful)
    eventful.meanwhile = lambda: eventful.delete("s0")
    for _ in range(2):
        with pytest.raises(NotFound, match="s0"):
            touch(views, "s0")
        with pytest.raises(NotFound, match="s0"):
            views.trial_ids("s0")


def test_two_that_begin_at_once_share_one_view(eventful: EventfulStore) -> None:
    views = Views(eventful)
    other: list[View] = []

    def read_too() -> None:
        with views.read("s0") as view:
            other.append(view)

    eventful.meanwhile = read_too
    with views.read("s0") as view:
        assert [view] == other
    assert eventful.folded == ["s0"]


def test_a_study_deleted_while_views_are_warmed_does_not_stop_the_others(
    store: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = store.list_studies(None, 9, None)
    store.delete("s3")
    monkeypatch.setattr(store, "list_studies", lambda *asked: rows)
    Views(store).warm(9, threading.Event())
    assert store.folded == ["s4", "s2", "s1", "s0"]


def elsewhere(do: Callable[[], object]) -> list[object]:
    """What it gives in another thread; nothing when it has to wait."""
    given: list[object] = []
    thread = threading.Thread(target=lambda: given.append(do()), daemon=True)
    thread.start()
    thread.join(timeout=60)
    return given


def test_a_view_is_held_still_while_it_is_read_and_let_go_after(store: CountingStore) -> None:
    views = Views(store)
    with views.read("s0"):
        entry = views._entries["s0"]
        assert elsewhere(lambda: entry.lock.acquire(blocking=False)) == [False]
        assert elsewhere(lambda: touch(views, "s1")) == [None], "each has a lock of its own"
    assert elsewhere(lambda: touch(views, "s0")) == [None]


def test_drivers_do_not_wait_for_readers(store: CountingStore) -> None:
    views = Views(store)
    with views.read("s0") as view:
        assert elsewhere(lambda: views.trial_ids("s0")) == [view.arms]


def test_a_summary_is_of_the_events_in_it_and_forgotten_when_told(store: CountingStore) -> None:
    views, summaries = states(store)
    summaries.of(["s0"])
    store.append("s0", [StudyStarted(uid="go", job="j")])
    touch(views, "s0")  # the view is newer than the summary
    assert summaries.of(["s0"]) == {"s0": ("running", 2)}
    summaries.forget("s0")
    summaries.forget("never there")
    store.forget_counts()
    assert summaries.of(["s0"]) == {"s0": ("running", 2)}
    assert store.advanced == ["s0"]


def test_what_was_computed_is_kept_until_there_is_too_much_of_it() -> None:
    memo, computed = Memo(), list[int]()

    def afresh(i: int) -> int:
        computed.append(i)
        return i

    def compute(i: int) -> int:
        return memo(str(i), lambda: afresh(i))

    assert [compute(i) for i in (*range(MOST_MEMOS), 0, 1)] == [*range(MOST_MEMOS), 0, 1]
    assert computed == list(range(MOST_MEMOS)), "each once"
    assert [compute(-1), compute(0), compute(-1)] == [-1, 0, -1]
    assert computed[MOST_MEMOS:] == [-1, 0], "room was made for it, and it is kept"
    memo.clear()
    assert (compute(0), computed[-1]) == (0, 0)


def test_while_a_log_is_folded_nobody_looks_for_cycles_and_afterwards_again(tmp_path: Path) -> None:
    seen: list[bool] = []

    class Watched(SqlStore):
        def read(self, study_id: str, after: int, limit: int | None = None) -> Iterator[Logged]:
            seen.append(gc.isenabled())
            if len(seen) > 1:
                raise OSError("the disk is gone")
            return super().read(study_id, after, limit)

    store = Watched(tmp_path)
    spec = {"name": "s", "arms": [{"name": "a", "weighting": {"name": "mib"}}]}
    store.create("s1", check_study(spec).model_dump(by_alias=True, mode="json"), None)
    views = Views(store)
    with views.read("s1"):
        assert gc.isenabled()
    with pytest.raises(OSError, match="the disk is gone"), views.read("s1"):
        pass
    assert (seen, gc.isenabled()) == ([False, False], True)
    store.close()
