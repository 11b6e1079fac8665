"""The launcher's rounds: how many may start, how long it rests, what wakes it, and which job it looks after."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from service.contract.wire.events import StudyState
from service.launching import launcher as launching
from tests.service.bench import Bench, Cluster


def test_where_more_run_than_are_allowed_none_starts_until_there_is_room(tmp_path: Path) -> None:
    """The limit was lowered, and the service started again."""
    before = Bench(tmp_path, studies_at_once=3)
    studies = [before.submit() for _ in range(6)]
    before.launcher.tick()
    bench = Bench(tmp_path, before.cluster, studies_at_once=1)
    for ended in studies[:2]:
        bench.launcher.tick()
        assert bench.cluster.started() == studies[:3]
        bench.finish(ended)
    bench.launcher.tick()
    assert bench.cluster.started() == studies[:3], "there is one, as there may be"
    bench.finish(studies[2])
    bench.launcher.tick()
    assert bench.cluster.started() == studies[:4]
    before.close()
    bench.close()


def test_a_start_that_names_no_job_is_of_the_job_called_like_the_study(bench: Bench) -> None:
    study = bench.submit()
    bench.report(study, {"uid": "go", "kind": "study_started"})
    bench.cluster.end(study, "RUNNING", None)
    bench.launcher.tick()
    assert bench.kinds(study) == ["study_queued", "study_started"] and bench.cluster.started() == []
    bench.cluster.end(study, "FAILED", "out of memory")
    bench.launcher.tick()
    assert bench.cluster.started() == [f"{study}-2"]


def test_cancelling_wakes_the_launcher_and_a_refusal_does_not(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    study = bench.submit()
    woken: list[str] = []
    monkeypatch.setattr(bench.launcher, "wake", lambda: woken.append("woken"))
    assert (bench.cancel(study).status_code, woken) == (200, ["woken"])
    assert (bench.cancel(study).status_code, woken) == (409, ["woken"])


class Rest(threading.Event):
    """Notes how long the launcher would rest, and does not."""

    def __init__(self) -> None:
        super().__init__()
        self.rested: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.rested.append(timeout)
        return True


def test_it_looks_every_second_while_anything_is_under_way_and_rests_else(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = Rest()
    busy = [True, False, True]

    def step() -> bool:
        if len(busy) == 1:
            bench.launcher._stopping.set()
        return busy.pop(0)

    monkeypatch.setattr(bench.launcher, "_wake", rest)
    monkeypatch.setattr(bench.launcher, "step", step)
    bench.launcher._run()
    assert rest.rested == [launching.TICK_SECONDS, launching.IDLE_SECONDS, launching.TICK_SECONDS] == [1.0, 10.0, 1.0]


def test_what_happens_during_a_round_is_seen_in_the_next_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study submitted while the launcher looks at the queue does not wait out its rest."""
    rounds: list[int] = []

    def step() -> bool:
        rounds.append(len(rounds))
        if len(rounds) == 1:
            bench.launcher.wake()
        else:
            bench.launcher._stopping.set()
            bench.launcher.wake()
        return False

    monkeypatch.setattr(bench.launcher, "step", step)
    monkeypatch.setattr(launching, "IDLE_SECONDS", 600.0)
    bench.launcher.start()
    bench.launcher._thread.join(timeout=60)
    assert rounds == [0, 1], "before its rest was over"


def test_a_start_that_the_log_has_already_is_not_made_again(
    tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two services on one log, for a moment: the second has read the queue before the first one started the study."""
    study = bench.submit()
    other = Bench(tmp_path, Cluster(), studies_at_once=2)
    queue = other.parts.store.in_state(StudyState.QUEUED)
    bench.launcher.tick()
    with other.parts.views.read(study) as view:
        view.attempt = 0  # as it was when it read the queue
    assert queue[0].id == study
    other.launcher._submit(other.cluster, queue[0], reason=None)
    assert other.cluster.started() == [] and bench.kinds(study).count("study_started") == 1
    other.close()
