"""`up` that is asked to end in the middle of a training: nothing of it is lost, and nothing is left behind; what is
kept of it as docs/operations.md says trains on from its saved states, in another home and on PostgreSQL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from frontends.cli.local_ray import processes_of
from frontends.client import Client
from tests.deployment.test_operations import BLOCKS, follow, shell_of
from tests.end_to_end.test_going_on import SPEC, goes_on_after, saved_after
from tests.end_to_end.test_studies import processes_below
from tests.postgres import postgresql
from tests.processes import free_port, short_home, until, up

pytestmark = pytest.mark.timeout(600)

EPOCHS = 10_000  # the most that a study may have; small batches make it last
LONG: dict[str, Any] = {**SPEC, "training": {**SPEC["training"], "epochs": EPOCHS, "batch_size": 16}}


@contextmanager
def as_written(block: str, folder: Path, home: Path, **variables: str) -> Iterator[Client]:
    """A block of the page that ends with `up`, all of it, until somebody ends that as Ctrl-C would."""
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            ["sh", "-euc", block],
            cwd=folder,
            env=shell_of(folder, **variables),
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    note = home / "service.json"
    try:
        until(lambda: process.poll() is not None or b"/?token=" in (folder / "said").read_bytes(), "up is ready", 200)
        assert process.poll() is None, (folder / "said").read_text()
        with Client(json.loads(note.read_text())["url"], (home / "token").read_text()) as client:
            yield client
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=90)  # of the shell, which need not wait for what it has started
        until(lambda: not note.exists() and not processes_of(home / "ray"), "Ray and the service have ended", 90)


class Left(NamedTuple):
    """What an `up` that ended in mid-training has left: the folder of its user, its study, and the last event seen."""

    folder: Path
    study: str
    seen: int

    @property
    def home(self) -> Path:
        return self.folder / ".paretoscope"


@pytest.fixture(scope="module")
def left() -> Iterator[Left]:
    """By default a state is saved after two minutes, so what is there was saved because of the end."""
    with short_home() as folder:
        home = folder / ".paretoscope"
        with up(home, PARETOSCOPE_LEAVE_SECONDS="60") as running, Client(running.url, running.token) as client:
            study = client.submit(LONG)
            until(lambda: study.read()["counts"]["running"] == 4 and study.read()["progress"] > 0, "reports", 200)
            assert saved_after(client, study) == 0
            seen = study.read()["last_seq"]
            started = set(processes_below(running.process.pid))
            running.process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(timeout=0.2)
            running.process.send_signal(signal.SIGTERM)  # of somebody who is impatient: it changes nothing
            assert running.process.wait(timeout=150) == 0
        assert len(started) > 5 and not {process.pid for process in processes_of(home / "ray")} & started
        yield Left(folder, study.id, seen)


def test_states_and_last_reports_are_kept_and_a_backup_trains_on(left: Left) -> None:
    follow(BLOCKS[0], left.folder)
    with as_written(BLOCKS[1], left.folder, left.folder / "restored") as client:
        trains_on(client, left)


def test_what_moves_to_postgresql_trains_on(left: Left) -> None:
    """The page names a server of this machine, a role and a database; only the port is another, by PostgreSQL's own
    variable."""
    port = free_port()
    with postgresql(port) as server:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE ROLE paretoscope LOGIN")
            connection.execute("CREATE DATABASE paretoscope OWNER paretoscope TEMPLATE template0")
        with as_written(BLOCKS[2], left.folder, left.home, PGPORT=str(port)) as client:
            trains_on(client, left)
            with psycopg.connect(server.url("paretoscope")) as connection:
                assert connection.execute("SELECT id, state FROM studies").fetchall() == [(left.study, "cancelled")]
        assert not (left.home / "paretoscope.db").exists() and (left.home / "paretoscope.db.migrated").is_file()


def trains_on(client: Client, left: Left) -> None:
    """From its saved states, with nothing lost and nothing twice."""
    study = client.study(left.study)
    kept = study.trials()[0]["metrics"]["epoch"]
    until(lambda: all(trial["metrics"]["epoch"] > kept for trial in study.trials()), "it trains on", 200)
    study.cancel()
    events = list(study.events())
    [saved, *others] = goes_on_after(events)
    assert 0 < saved < EPOCHS and others == [saved] * 3
    again = next(i for i, event in enumerate(events) if event["kind"] == "study_started" and event.get("attempt") == 2)
    assert again > left.seen, "the last reports were sent"
    assert set(epochs(events[:again]).values()) == {tuple(range(1, saved + 1))}, "saved after the last report"
    for told in epochs(events).values():
        assert told == tuple(range(1, len(told) + 1)), "each epoch once, none left out"


def epochs(events: list[dict[str, Any]]) -> dict[str, tuple[int, ...]]:
    """Those that each trial reported."""
    reports = [(event["trial"], event["metrics"]["epoch"]) for event in events if event["kind"] == "report"]
    return {trial: tuple(epoch for own, epoch in reports if own == trial) for trial, _ in reports}
