"""The stores that are held to the contract: SQLite and PostgreSQL, both to all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.contract.study.parsing import check_study
from service.contract.wire.events import Report, StudyStarted
from service.store.protocol import Store
from service.store.sql import SqlStore
from tests.postgres import Server

STARTED = StudyStarted(uid="started")
Opened = Callable[[], Store]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The address of an empty database; none for a file in the home."""
    if request.param == "sqlite":
        yield None
        return
    server: Server = request.getfixturevalue("postgres")
    with server.database() as url:
        yield url


@pytest.fixture
def opened(url: str | None, tmp_path: Path) -> Iterator[Opened]:
    """Opens the same database again and again, as another process would."""
    stores: list[Store] = []

    def open_store() -> Store:
        stores.append(SqlStore(tmp_path, url))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


@pytest.fixture
def plain(spec: dict[str, Any]) -> dict[str, Any]:
    return check_study(spec).model_dump(by_alias=True, mode="json")


@pytest.fixture
def store(opened: Opened, plain: dict[str, Any]) -> Store:
    """Holds one study, s1, which waits."""
    store = opened()
    store.create("s1", plain, None)
    return store


@pytest.fixture
def running(store: Store) -> Store:
    """Holds one study, s1, which runs: two events."""
    store.append("s1", [STARTED])
    return store


def report(trial: str, epoch: int, **metrics: float | None) -> Report:
    return Report(uid=f"{trial}:{epoch}", trial=trial, metrics={"epoch": epoch, **metrics})


def kinds(store: Store, study: str = "s1") -> list[str]:
    return [logged.event.kind for logged in store.read(study, after=0)]
