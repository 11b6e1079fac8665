"""Summaries that outlive the process: what an ended study shows in the list is not folded again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.contract.wire.answers.studies import StudySummary
from service.store.protocol import Logged
from service.views.kept import KeptSummaries, Made, code
from tests.service.bench import Bench

Opening = Callable[[], Bench]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opening]:
    """The service, started again and again on one home."""
    benches: list[Bench] = []

    def open_bench() -> Bench:
        benches.append(Bench(tmp_path, studies_at_once=9))
        return benches[-1]

    yield open_bench
    for bench in benches:
        bench.close()


def finished(bench: Bench) -> str:
    study = bench.submit()
    bench.launcher.tick()
    bench.finish_trial(study, 0)
    bench.finish(study)
    return study


def reads(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose log is read from now on."""
    ids: list[str] = []
    plain = bench.parts.store.read

    def read(study_id: str, after: int, limit: int | None = None) -> Iterator[Logged]:
        ids.append(study_id)
        return plain(study_id, after, limit)

    monkeypatch.setattr(bench.parts.store, "read", read)
    return ids


def test_after_a_restart_the_list_folds_no_ended_study(opened: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened()
    ended, waiting = [finished(first) for _ in range(3)], first.submit()
    before = first.get("/api/studies")
    again = opened()
    folded = reads(again, monkeypatch)
    assert again.get("/api/studies") == before and set(folded) <= {waiting}
    assert again.read(ended[0])["state"] == "finished", "the study itself is read from its log"


def test_what_is_made_ahead_is_made_once(opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened()
    ended = [finished(first) for _ in range(2)]
    (tmp_path / "summaries.db").unlink()
    again = opened()
    folded = reads(again, monkeypatch)
    again.parts.summaries.make_all(threading.Event())
    assert folded == ended, "the newest last"
    third = opened()
    folded = reads(third, monkeypatch)
    third.parts.summaries.make_all(threading.Event())
    assert folded == []


def test_who_is_asked_to_stop_stops(opened: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened()
    for _ in range(3):
        finished(first)
    (tmp_path / "summaries.db").unlink()
    again, stopping = opened(), threading.Event()
    folded = reads(again, monkeypatch)
    stopping.set()
    again.parts.summaries.make_all(stopping)
    assert len(folded) == 1


def test_a_log_that_has_grown_is_folded_again(opened: Opening, tmp_path: Path) -> None:
    first = opened()
    study = finished(first)
    summary = first.parts.summaries.of([study])[study]
    kept = KeptSummaries(tmp_path / "summaries.db", StudySummary, lambda _: True)
    kept.keep(study, Made(summary.last_seq - 1, summary))
    assert opened().get("/api/studies")["studies"][0]["last_seq"] == summary.last_seq


def test_what_other_code_made_is_not_shown(tmp_path: Path) -> None:
    def kept(made_by: str) -> KeptSummaries[dict[str, Any]]:
        return KeptSummaries(tmp_path / "kept.db", dict[str, Any], bool, made_by)

    kept("older").keep("s1", Made(3, {"name": "a"}))
    kept("newer").keep("s2", Made(0, {}))
    assert kept("older").read(["s1", "s2"]) == {"s1": Made(3, {"name": "a"})}
    assert kept("newer").read(["s1", "s2"]) == {}
    assert len(code()) == 64 and code() == code()


def test_a_spoilt_file_is_told_once_and_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "kept.db").write_text("no database" * 99)
    kept = KeptSummaries(tmp_path / "kept.db", dict[str, Any], lambda _: True, "x")
    for _ in range(3):
        kept.keep("s1", Made(1, {}))
        assert kept.read(["s1"]) == {}
    assert len(caplog.records) == 1 and "are not kept in" in caplog.text
