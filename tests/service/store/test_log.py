"""What every store does with the log of a study: numbered without holes, each event once, read back as written."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from service.contract.wire.errors import Conflict
from service.contract.wire.events import (
    KINDS,
    Event,
    Report,
    StudyCancelled,
    StudyFailed,
    StudyFinished,
    StudyPaused,
    StudyQueued,
    StudyStarted,
    StudyState,
    TrialFailed,
    TrialLeased,
    TrialStarted,
)
from service.store.protocol import Appended, Store
from service.store.sql import SqlStore
from tests.service.store.conftest import STARTED, Opened, kinds, report


def write_from_many(stores: list[Store]) -> list[int]:
    """Twenty events of its own and twenty that all share, from each; the numbers in the log."""
    failures: list[Exception] = []

    def write(worker: int, store: Store) -> None:
        try:
            for i in range(20):
                store.append("s1", [report(f"t{worker}", i), report("shared", i)])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=pair) for pair in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    return [logged.seq for logged in stores[0].read("s1", after=0)]


def test_sequence_numbers_have_no_holes_whatever_the_threads_do(running: Store) -> None:
    assert write_from_many([running] * 6) == list(range(1, 1 + 2 + 6 * 20 + 20))


def test_sequence_numbers_do_not_rely_on_a_lock_of_the_process(running: Store, opened: Opened) -> None:
    """Stores that know nothing of each other, as in several processes."""
    assert write_from_many([running, *(opened() for _ in range(3))]) == list(range(1, 1 + 2 + 4 * 20 + 20))


def test_two_processes_number_one_log_together(running: Store, tmp_path: Path, url: str | None) -> None:
    code = (
        "import sys, pathlib\n"
        "from service.contract.wire.events import Report\n"
        "from service.store.sql import SqlStore\n"
        "home, name, *url = sys.argv[1:]\n"
        "store = SqlStore(pathlib.Path(home), *url)\n"
        "for i in range(40):\n"
        "    store.append('s1', [Report(uid=f'{name}:{i}', trial=name, metrics={'epoch': i})])\n"
        "store.close()\n"
    )
    given = [] if url is None else [url]
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name, *given]) for name in "ab"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert [logged.seq for logged in running.read("s1", after=0)] == list(range(1, 83))


def test_sending_twice_changes_nothing(running: Store) -> None:
    batch = [report("t", 1), report("t", 2), report("t", 2)]
    assert running.append("s1", batch) == Appended(accepted=2, duplicates=1)
    assert running.append("s1", batch) == Appended(accepted=0, duplicates=3)
    assert [logged.event.uid for logged in running.read("s1", after=2)] == ["t:1", "t:2"]


def test_what_is_refused_is_no_duplicate(running: Store) -> None:
    running.append("s1", [report("t", 2)])
    appended = running.append("s1", [report("t", 2), report("t", 1), report("t", 3)])
    assert (appended.accepted, appended.duplicates, [each.uid for each in appended.refused]) == (1, 1, ["t:1"])


def test_of_two_events_with_one_uid_the_first_counts(running: Store) -> None:
    running.append("s1", [report("t", 1, accuracy=0.1), report("t", 1, accuracy=0.9)])
    (logged,) = running.read("s1", after=2)
    assert isinstance(logged.event, Report) and logged.event.metrics["accuracy"] == 0.1


def test_more_events_than_fit_in_a_query_are_known_again(running: Store) -> None:
    batch = [report("t", i) for i in range(1200)]
    assert running.append("s1", batch) == Appended(1200, 0)
    assert running.append("s1", [*batch, report("t", 1200)]) == Appended(1, 1200)


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (StudyFinished(uid="end", reason="the time was up"), StudyState.FINISHED),
        (StudyFailed(uid="end", reason="why"), StudyState.FAILED),
        (StudyCancelled(uid="end"), StudyState.CANCELLED),
    ],
)
def test_an_ended_study_takes_no_new_event_but_knows_the_old(running: Store, end: Event, state: StudyState) -> None:
    running.append("s1", [end, report("t", 1)])
    assert running.study("s1").state is state
    assert kinds(running) == ["study_queued", "study_started", end.kind]
    assert running.append("s1", [end]) == Appended(0, 1)
    with pytest.raises(Conflict, match=state.value) as refused:
        running.append("s1", [report("t", 9)])
    assert [(d.path, d.message) for d in refused.value.details] == [("state", state.value)]


def test_an_event_may_be_refused_by_the_state_it_meets(store: Store) -> None:
    def only_running(state: StudyState) -> str | None:
        return None if state is StudyState.RUNNING else f"it is {state.value}"

    with pytest.raises(Conflict, match="it is queued"):
        store.append("s1", [report("t", 1)], only_running)
    store.append("s1", [StudyStarted(uid="go", job="s1")])
    assert store.append("s1", [report("t", 1)], only_running).accepted == 1


def test_every_event_comes_back_as_it_was_written(store: Store, plain: dict[str, Any]) -> None:
    said: dict[str, Any] = {
        "study_started": {"job": "s1", "attempt": 2, "reason": "started again"},
        "trial_started": {
            "trial": "t",
            "arm": "β",
            "host": "box",
            "config": {"weighting.beta": 0.1, "x": 3, "y": True},
        },
        "report": {"trial": "t", "arm": "β", "metrics": {"epoch": 1, "a": None, "b": 0.5}, "log": ["a line", "ü"]},
        "trial_finished": {"trial": "t", "log": ["end"]},
        "trial_failed": {"trial": "t", "reason": "why"},
        "trial_stopped": {"trial": "t", "epoch": 5, "reason": "place 3 of 4"},
        "trial_suggested": {"trial": "t", "config": {"problem.depth": 3}},
        "trial_leased": {"trial": "t", "lease": "l", "holder": "laptop", "seconds": 30.0},
        "trial_alive": {"trial": "t", "lease": "l"},
        "trial_returned": {"trial": "t", "lease": "l", "heard": 0, "reason": "silent"},
        "study_finished": {"reason": "r"},
        "study_failed": {"reason": "r"},
        "study_interrupted": {"reason": "r"},
        "study_retried": {"trials": ["t"], "wait_seconds": 2.0},
        "study_extended": {"spec": plain, "version": 2, "trials": ["t"]},
        "study_noted": {"notes": "# Why\n\tβ", "tags": ["paper"], "name": "β", "pinned": True, "archived": False},
        "trial_noted": {"notes": "odd", "trial": "t"},
    }
    before: dict[str, Event] = dict.fromkeys(
        ("study_resumed", "study_retried", "study_extended"), StudyPaused(uid="paused")
    )
    leased = TrialLeased(uid="l", trial="t", lease="l", holder="laptop", seconds=30.0)
    before |= dict.fromkeys(("trial_alive", "trial_returned"), leased)
    for i, (kind, event) in enumerate(KINDS.items()):
        study = f"k{i}"
        store.create(study, plain, None)
        if event is StudyQueued:
            (logged,) = store.read(study, after=0)
            assert logged.event == StudyQueued(uid="service:queued")
            continue
        store.append(study, [STARTED, before.get(kind, TrialStarted(uid="t", trial="other"))])
        written = event(uid="u", **said.get(kind, {}))
        assert store.append(study, [written]).accepted == 1
        (logged,) = store.read(study, after=3)
        assert (logged.seq, logged.event) == (4, written)
        assert logged.public() == {"seq": 4, "at": logged.at, "kind": kind, **said.get(kind, {})}
        assert type(logged.event) is event


def test_integers_stay_integers(running: Store) -> None:
    running.append("s1", [report("t", 3, test_examples=360, accuracy=1.0)])
    (logged,) = running.read("s1", after=2)
    assert isinstance(logged.event, Report)
    assert [type(value) for value in logged.event.metrics.values()] == [int, int, float]


def test_counts_become_integers_whoever_sent_them(running: Store) -> None:
    running.append("s1", [Report(uid="u", trial="t", metrics={"epoch": 3.0, "accuracy": 1.0, "robust_images": 2.5})])
    (logged,) = running.read("s1", after=2)
    assert isinstance(logged.event, Report)
    assert [repr(value) for value in logged.event.metrics.values()] == ["3", "1.0", "2.5"], "what is no count stays"


def test_non_finite_numbers_become_null(running: Store) -> None:
    running.append("s1", [report("t", 1, loss=float("nan"), rate=float("inf"), low=float("-inf"))])
    (logged,) = running.read("s1", after=2)
    assert isinstance(logged.event, Report)
    assert logged.event.metrics == {"epoch": 1, "loss": None, "rate": None, "low": None}


@pytest.mark.parametrize(
    "event",
    [
        TrialFailed(uid="u", trial="t", reason="x" * 4001),
        TrialStarted(uid="", trial="t"),
        Report(uid="u", trial="t", metrics={str(i): 0.0 for i in range(501)}),
        Report(uid="u", trial="t", metrics={}, log=["x" * 501]),
    ],
)
def test_what_breaks_the_contract_is_not_written(running: Store, event: Event) -> None:
    with pytest.raises(ValidationError):
        running.append("s1", [event])
    assert kinds(running) == ["study_queued", "study_started"]


def test_events_are_read_after_a_number_and_so_many(running: Store) -> None:
    running.append("s1", [report("t", i) for i in range(5)])
    assert [logged.seq for logged in running.read("s1", after=3, limit=3)] == [4, 5, 6]
    assert list(running.read("s1", after=7)) == [] and list(running.read("other", after=0)) == []


def test_the_log_survives_the_process(running: Store, opened: Opened) -> None:
    running.append("s1", [report("t", 1)])
    running.close()
    again = opened()
    again.append("s1", [report("t", 2)])
    assert [logged.seq for logged in again.read("s1", after=0)] == [1, 2, 3, 4]
    assert again.study("s1").spec["name"] == "small"


def test_a_resend_is_known_before_its_state_is_asked_about(running: Store) -> None:
    """The driver whose answer was lost sends again; that the study has moved on is no reason to refuse it."""
    batch = [report("t", 1), report("t", 2)]
    running.append("s1", batch)
    assert running.append("s1", batch, lambda state: "never") == Appended(0, 2)
    with pytest.raises(Conflict, match="never") as refused:
        running.append("s1", [*batch, report("t", 3)], lambda state: "never")
    assert [(d.path, d.message) for d in refused.value.details] == [("state", "running")]
    assert len(kinds(running)) == 4


def test_uids_belong_to_their_study(running: Store, plain: dict[str, Any]) -> None:
    running.create("s2", plain, None)
    running.append("s2", [STARTED])
    running.append("s1", [report("t", 1, accuracy=0.1)])
    assert running.append("s2", [report("t", 1, accuracy=0.2)]) == Appended(1, 0)
    assert [logged.seq for logged in running.read("s2", after=0)] == [1, 2, 3]


def test_a_long_log_is_read_whole_and_in_order(running: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.sql.READ_AT_ONCE", 2)
    running.append("s1", [report("t", i) for i in range(6)])
    assert [logged.seq for logged in running.read("s1", after=0)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [logged.seq for logged in running.read("s1", after=1, limit=5)] == [2, 3, 4, 5, 6]


def test_sqlite_survives_a_crash_waits_for_other_writers_and_keeps_logs_with_their_studies(tmp_path: Path) -> None:
    store = SqlStore(tmp_path / "new" / "home")
    pragmas = {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 30_000}
    with store._database.engine.connect() as connection:
        assert {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas} == pragmas
    store.close()
