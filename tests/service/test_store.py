from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.contract.errors import Conflict, NotFound
from service.contract.events import StudyState, TrialState
from service.contract.parsing import check_study
from service.store.database import Store
from service.store.views import StudyView, Views


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def plain(spec: dict[str, Any]) -> dict[str, Any]:
    return check_study(spec).model_dump(by_alias=True, mode="json")


def report(trial: str, epoch: int, **metrics: Any) -> tuple[str, str, dict[str, Any]]:
    return f"{trial}:{epoch}", "report", {"trial": trial, "metrics": {"epoch": epoch, **metrics}}


def test_sequence_numbers_have_no_holes_whatever_the_threads_do(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    failures: list[Exception] = []

    def write(worker: int) -> None:
        try:
            for i in range(20):
                store.append("s1", [report(f"t{worker}", i), report("shared", i)])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    events = store.events("s1", after=0)
    assert [event.seq for event in events] == list(range(1, 1 + 1 + 6 * 20 + 20))


def test_sending_twice_changes_nothing(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    batch = [report("t", 1), report("t", 2), report("t", 2)]
    assert store.append("s1", batch) == (2, 1)
    assert store.append("s1", batch) == (0, 3)
    assert len(store.events("s1", after=0)) == 3


def test_an_ended_study_takes_no_new_event_but_knows_the_old(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    store.append("s1", [("end", "study_finished", {}), report("t", 1)])
    assert store.study("s1").state is StudyState.FINISHED
    assert [event.kind for event in store.events("s1", after=0)] == ["study_queued", "study_finished"]
    assert store.append("s1", [("end", "study_finished", {})]) == (0, 1)
    with pytest.raises(Conflict, match="finished"):
        store.append("s1", [report("t", 9)])


def test_an_idempotency_key_makes_one_study(store: Store, plain: dict[str, Any]) -> None:
    assert store.create("s1", plain, "key")[1] is True
    row, created = store.create("s2", plain, "key")
    assert (row.id, created) == ("s1", False)
    with pytest.raises(Conflict, match="another study"):
        store.create("s3", {**plain, "name": "other"}, "key")


def test_studies_are_listed_newest_first_page_by_page(store: Store, plain: dict[str, Any]) -> None:
    for i in range(5):
        store.create(f"s{i}", plain, None)
    assert [row.id for row in store.list_studies(None, 2, None)] == ["s4", "s3"]
    assert [row.id for row in store.list_studies(None, 9, "s3")] == ["s2", "s1", "s0"]
    store.append("s2", [("x", "study_cancelled", {})])
    assert [row.id for row in store.list_studies(StudyState.CANCELLED, 9, None)] == ["s2"]


def test_non_finite_numbers_become_null(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    store.append("s1", [report("t", 1, loss=float("nan"), rate=float("inf"))])
    assert store.events("s1", after=1)[0].body["metrics"] == {"epoch": 1, "loss": None, "rate": None}


def test_the_log_survives_the_process(tmp_path: Path, plain: dict[str, Any]) -> None:
    first = Store(tmp_path)
    first.create("s1", plain, None)
    first.append("s1", [report("t", 1)])
    first.close()
    again = Store(tmp_path)
    again.append("s1", [report("t", 2)])
    assert [event.seq for event in again.events("s1", after=0)] == [1, 2, 3]
    again.close()


def test_deleting_needs_a_study_that_does_not_run(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    store.append("s1", [("a", "study_started", {"job": "s1"})])
    with pytest.raises(Conflict, match="running"):
        store.delete("s1")
    store.append("s1", [("b", "study_cancelled", {})])
    store.delete("s1")
    with pytest.raises(NotFound):
        store.study("s1")


def summary(view: StudyView) -> Any:
    trials = [(t.state, t.reason, t.metrics, t.reports) for t in view.trials.values()]
    return view.state, view.seq, view.counts(), view.progress, trials


def test_a_view_advanced_event_by_event_equals_the_fold_of_the_whole_log(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    live = Views(store)
    with live.read("s1") as view:
        trials = list(view.trials)
    steps: list[tuple[str, str, dict[str, Any]]] = [("go", "study_started", {"job": "s1"})]
    for trial in trials[:4]:
        steps += [(f"{trial}:s", "trial_started", {"trial": trial}), report(trial, 1, i_xz_bits=3.0), report(trial, 2)]
    steps.append(("f", "trial_failed", {"trial": trials[0], "reason": "loss_info became non-finite"}))
    steps.append(("d", "trial_finished", {"trial": trials[1]}))
    for step in steps:
        store.append("s1", [step])
        with live.read("s1") as view, Views(store).read("s1") as fresh:
            assert summary(view) == summary(fresh)
    with live.read("s1") as view:
        assert view.counts() == {"planned": 6, "running": 2, "finished": 1, "failed": 1, "stopped": 0, "collapsed": 0}
        assert view.progress == pytest.approx((1 + 1 + 2 / 3 + 2 / 3) / 6)
    store.append("s1", [("c", "study_cancelled", {})])
    with live.read("s1") as view:
        assert [t.state for t in view.trials.values()].count(TrialState.STOPPED) == 2


def test_a_driver_started_again_finds_its_unfinished_trials_planned(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    views = Views(store)
    with views.read("s1") as view:
        first, second, *_ = view.trials
    store.append("s1", [("1", "study_started", {"job": "s1"}), ("a", "trial_started", {"trial": first})])
    store.append("s1", [("b", "trial_started", {"trial": second}), ("c", "trial_finished", {"trial": second})])
    store.append("s1", [("2", "study_started", {"job": "s1-2"})])
    with views.read("s1") as view:
        assert view.trials[first].state is TrialState.PLANNED
        assert view.trials[second].state is TrialState.FINISHED
        assert (view.job, view.attempt, view.fruitless) == ("s1-2", 2, 1)


def test_a_code_that_carries_nothing_is_called_collapsed(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    views = Views(store)
    with views.read("s1") as view:
        trial = next(iter(view.trials))
    store.append("s1", [report(trial, 3, i_xz_bits=0.04, i_zy_bits=0.0), ("d", "trial_finished", {"trial": trial})])
    with views.read("s1") as view:
        assert view.trials[trial].collapsed and not view.trials[trial].counts_for_front


def test_a_loose_bound_does_not_hide_a_collapse_and_no_rate_is_none(store: Store, plain: dict[str, Any]) -> None:
    store.create("s1", plain, None)
    views = Views(store)
    with views.read("s1") as view:
        nib, none, fine, *_ = view.trials
    ends = [(nib, 0.4, 0.01), (none, None, 0.0), (fine, 0.4, 0.3)]
    for trial, bits, nats in ends:
        done = (f"{trial}:f", "trial_finished", {"trial": trial})
        store.append("s1", [report(trial, 3, i_xz_bits=bits, loss_info=nats), done])
    with views.read("s1") as view:
        assert [view.trials[trial].collapsed for trial, _, _ in ends] == [True, False, False]
