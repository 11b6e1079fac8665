"""A database that another process holds: every call says so, and works again when it is let go."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.contract.wire.errors import Unavailable
from service.contract.wire.events import StudyPaused, StudyState
from service.store.protocol import Store
from service.store.sql import SqlStore
from tests.service.bench import SPEC, Bench
from tests.service.store.conftest import STARTED, kinds, report

Call = Callable[[Store, dict[str, Any]], object]

WRITES: dict[str, Call] = {
    "create": lambda store, spec: store.create("s2", spec, None),
    "append": lambda store, spec: store.append("s1", [report("t", 1)]),
    "delete": lambda store, spec: store.delete("s1"),
}
READS: dict[str, Call] = {
    "study": lambda store, spec: store.study("s1"),
    "list_studies": lambda store, spec: store.list_studies(None, 9, None),
    "in_state": lambda store, spec: store.in_state(StudyState.QUEUED),
    "last_seqs": lambda store, spec: store.last_seqs(["s1"]),
    "read": lambda store, spec: list(store.read("s1", after=0)),
    "check": lambda store, spec: store.check(),
    "has_key": lambda store, spec: store.has_key("k"),
    "using_code": lambda store, spec: store.using_code(),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.database.PATIENCE_SECONDS", 0.02)


@pytest.fixture
def store(tmp_path: Path, plain: dict[str, Any]) -> Iterator[Store]:
    store = SqlStore(tmp_path)
    store.create("s1", plain, None)
    store.append("s1", [STARTED, StudyPaused(uid="paused")])
    yield store
    store.close()


@contextmanager
def held(home: Path, *statements: str) -> Iterator[None]:
    """Another process's connection, which has the lock that these statements take."""
    with closing(sqlite3.connect(home / "paretoscope.db", isolation_level=None)) as other:
        for statement in statements:
            other.execute(statement)
        yield


def test_every_call_of_a_store_is_tried() -> None:
    calls = {name for name, value in vars(Store).items() if callable(value) and not name.startswith("_")}
    assert WRITES.keys() | READS.keys() == calls - {"close", "size_bytes", "leads"}


@pytest.mark.parametrize("call", WRITES)
def test_who_cannot_write_is_told_and_changes_nothing(
    store: Store, tmp_path: Path, plain: dict[str, Any], call: str
) -> None:
    with held(tmp_path, "BEGIN IMMEDIATE"):
        with pytest.raises(Unavailable, match="the store does not answer: database is locked"):
            WRITES[call](store, plain)
        assert [row.id for row in store.list_studies(None, 9, None)] == ["s1"] and kinds(store)[2:] == ["study_paused"]
    WRITES[call](store, plain)


@pytest.mark.parametrize("call", WRITES | READS)
def test_who_cannot_even_read_is_told(store: Store, tmp_path: Path, plain: dict[str, Any], call: str) -> None:
    store.close()  # what is open already would keep the other process out
    with (
        held(tmp_path, "PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE"),
        pytest.raises(Unavailable, match="the store does not answer: database is locked"),
    ):
        (WRITES | READS)[call](store, plain)
    (WRITES | READS)[call](store, plain)


def test_who_finds_every_connection_taken_is_told(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    pool: Any = store._database.engine.pool
    monkeypatch.setattr(pool, "_timeout", 0.02)
    taken = [store._database.engine.connect() for _ in range(pool.size() + pool._max_overflow)]
    with pytest.raises(Unavailable, match="the store does not answer"):
        store.study("s1")
    for connection in taken:
        connection.close()
    assert store.study("s1").id == "s1"


def test_the_service_answers_503_while_another_process_writes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with held(tmp_path, "BEGIN IMMEDIATE"):
        refused = bench.ask("POST", "/api/studies", json=SPEC)
        assert bench.get("/api/studies")["studies"] == []
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
    assert "database is locked" in refused.json()["error"]["message"]
    assert bench.ask("POST", "/api/studies", json=SPEC).status_code == 201
    bench.close()


def test_the_launcher_waits_for_the_store_and_says_that_it_is_the_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(tmp_path)
    study = bench.submit()
    with held(tmp_path, "BEGIN IMMEDIATE"):
        assert bench.launcher.step() is True
    assert [record.message for record in caplog.records] == [
        "studies wait: the store does not answer: database is locked"
    ]
    bench.launcher.step()
    assert bench.cluster.started() == [study]
    bench.close()
