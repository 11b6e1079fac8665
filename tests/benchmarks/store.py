"""A thousand studies and a million events: how long until the service answers, and how long its list takes.

The first number of each row is what is promised, the second what was measured. The first start has folded nothing yet;
the second finds what the first has kept.
"""

from __future__ import annotations

import sqlite3
import statistics
import time
from contextlib import closing
from pathlib import Path

from service.store.database import FILE
from service.store.sql import SqlStore
from tests.benchmarks.dashboard import fill
from tests.benchmarks.row import Row
from tests.processes import Running, service_alone, short_home, until

TRIALS = 50  # with 22 events each: a little over a thousand a study
READY_SECONDS, FEW_SECONDS, MANY_SECONDS = 10.0, 0.2, 2.0
TIMES = 5
PATIENCE_SECONDS = 600.0


def multiply(home: Path, study: str, studies: int) -> int:
    """The same study over and over, under other ids; the number of all events."""
    with closing(sqlite3.connect(home / FILE)) as database, database:
        for i in range(1, studies):
            copy = f"s{i:010d}"
            database.execute(
                "INSERT INTO studies (id, spec, state, created_at, spec_version, last_seq, lost_events) "
                "SELECT ?, spec, state, created_at, spec_version, last_seq, lost_events FROM studies WHERE id = ?",
                (copy, study),
            )
            database.execute(
                "INSERT INTO events SELECT ?, seq, uid, at, kind, body FROM events WHERE study = ?", (copy, study)
            )
        (count,) = database.execute("SELECT COUNT(*) FROM events").fetchone()
    return int(count)


def listed(service: Running, limit: int, times: int = TIMES) -> float:
    """The median of a few answers, from the request to the last byte."""
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        answer = service.get("/api/studies", limit=limit).json()
        took.append(time.perf_counter() - begun)
        assert len(answer["studies"]) == limit
    return statistics.median(took)


def lists(studies: int) -> list[Row]:
    with short_home() as home:
        with service_alone(home) as service:
            made = fill(service, TRIALS)
        events = multiply(home, made.study, studies)
        SqlStore(home).close()
        size = f"{studies:,} studies, {events:,} events"
        begun = time.perf_counter()
        with service_alone(home) as service:
            first = time.perf_counter() - begun
            few = listed(service, min(50, studies), times=1)
            # Whoever asks for all of them before they were folded once waits for that.
            until(lambda: service.get("/api/studies", limit=studies).status_code == 200, "all", PATIENCE_SECONDS)
        begun = time.perf_counter()
        with service_alone(home) as service:
            again = time.perf_counter() - begun
            few_again, many = listed(service, min(50, studies)), listed(service, studies)
    return [
        Row("store-first-start", "store", f"{size}: promised / first start", READY_SECONDS, first),
        Row("store-first-few", "store", f"{size}: promised / the first list of 50", FEW_SECONDS, few),
        Row("store-start", "store", f"{size}: promised / every later start", READY_SECONDS, again),
        Row("store-few", "store", f"{size}: promised / list of 50", FEW_SECONDS, few_again),
        Row("store-many", "store", f"{size}: promised / list of {studies:,}", MANY_SECONDS, many),
    ]
