"""The list of studies, polled: it reads the logs that have grown, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from service.answers.studies import up_to_now
from service.contract.wire.answers.studies import StudySummary, TrialCounts
from service.contract.wire.events import StudyState
from service.store.protocol import Logged
from tests.service.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.parts.store.close()


@pytest.fixture
def logs_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose log was read, in order."""
    ids: list[str] = []
    plain = bench.parts.store.read

    def read(study_id: str, after: int, limit: int | None = None) -> Iterator[Logged]:
        ids.append(study_id)
        return plain(study_id, after, limit)

    monkeypatch.setattr(bench.parts.store, "read", read)
    return ids


def listed(bench: Bench) -> dict[str, dict[str, Any]]:
    return {study["id"]: study for study in bench.get("/api/studies")["studies"]}


def start(bench: Bench, study: str) -> str:
    """Its first trial reports the last epoch; the second waits."""
    bench.launcher.tick()
    trial, _ = bench.trials(study)
    bench.report(study, {"uid": "r", "kind": "report", "trial": trial, "metrics": {"epoch": 1}})
    return trial


def test_a_poll_without_news_reads_no_log(bench: Bench, logs_read: list[str]) -> None:
    studies = [bench.submit(name=f"study {i}") for i in range(4)]
    first = listed(bench)
    assert list(first) == studies[::-1]
    logs_read.clear()
    assert listed(bench) == listed(bench) == first
    assert logs_read == []


def test_a_poll_reads_the_log_that_has_grown(bench: Bench, logs_read: list[str]) -> None:
    quiet, busy = bench.submit(), bench.submit()
    listed(bench)
    bench.cancel(busy)
    logs_read.clear()
    states = {study: row["state"] for study, row in listed(bench).items()}
    assert states == {busy: "cancelled", quiet: "queued"}
    assert set(logs_read) <= {busy}


def test_the_time_left_of_a_running_study_moves_without_an_event(bench: Bench, logs_read: list[str]) -> None:
    study = bench.submit()
    start(bench, study)
    early = listed(bench)[study]
    logs_read.clear()
    late = listed(bench)[study]
    assert logs_read == [] and early["progress"] == 0.5
    assert 0 < early["eta_seconds"] < late["eta_seconds"]
    assert {**early, "eta_seconds": None} == {**late, "eta_seconds": None}
    bench.finish(study)
    assert listed(bench)[study]["eta_seconds"] is None


def test_the_time_left_is_reckoned_from_what_it_ran_not_from_the_submission() -> None:
    at = {"created_at": "2026-01-01T00:00:00Z", "started_at": "2026-01-01T00:00:00Z", "ended_at": None}
    counts = TrialCounts(planned=2, running=1, finished=0, failed=0, stopped=0, collapsed=0)
    more: dict[str, Any] = {
        "reason": None,
        "interrupted": None,
        "counts": counts,
        "eta_seconds": None,
        "arms": [],
        "spark": [],
        "last_seq": 3,
        "running_since": "2026-01-01T01:00:00Z",
        "ran_seconds": 20.0,
        **at,
    }
    row = StudySummary(id="s", name="n", state=StudyState.RUNNING, progress=0.25, **more)
    assert up_to_now(row, datetime(2026, 1, 1, 1, 0, 10, tzinfo=UTC)).eta_seconds == 90.0


def test_a_row_is_what_the_study_itself_says(bench: Bench) -> None:
    study = bench.submit()
    start(bench, study)
    bench.finish(study)
    row, whole = listed(bench)[study], bench.read(study)
    assert row == {key: whole[key] for key in row} and row["counts"]["finished"] == 0
    assert "spec" not in row and "spec" in whole


def test_a_deleted_study_is_gone_from_the_list(bench: Bench) -> None:
    kept, deleted = bench.submit(), bench.submit()
    assert list(listed(bench)) == [deleted, kept]
    assert bench.delete(deleted).status_code == 204
    assert list(listed(bench)) == [kept]
