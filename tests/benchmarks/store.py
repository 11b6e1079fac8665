"""A thousand studies and a million events: how long until the service answers, and how long its list takes.

The first number of each row is what is promised, the second what was measured. The first start has folded nothing yet;
the second finds what the first has kept.
"""

from __future__ import annotations

import statistics
import time
from contextlib import closing
from pathlib import Path

import httpx
import sqlalchemy as sql

from service.store.database import Database
from service.store.schema import events
from tests.benchmarks.dashboard import fill
from tests.benchmarks.row import Row
from tests.processes import Running, service_alone, until

TRIALS = 50  # with 22 events each: a little over a thousand a study
READY_SECONDS, FEW_SECONDS, MANY_SECONDS = 10.0, 0.2, 2.0
TIMES = 5
PATIENCE_SECONDS = 600.0


def multiply(home: Path, url: str | None, study: str, studies: int) -> int:
    """The same study over and over, under other ids, written by the database itself; the number of all events."""
    database = Database(home, url)
    columns = "spec, state, created_at, spec_version, last_seq, lost_events"
    copies = [
        f"INSERT INTO studies (id, {columns}) SELECT :copy, {columns} FROM studies WHERE id = :study",
        "INSERT INTO events (study, seq, uid, at, kind, body) "
        "SELECT :copy, seq, uid, at, kind, body FROM events WHERE study = :study",
    ]
    with closing(database), database.transaction() as connection:
        for i in range(1, studies):
            for statement in copies:
                connection.execute(sql.text(statement), {"copy": f"s{i:010d}", "study": study})
        return int(connection.execute(sql.select(sql.func.count()).select_from(events)).scalar_one())


def listed(service: Running, limit: int, times: int = TIMES) -> float:
    """The median of a few answers, from the request to the last byte."""
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        answer = service.get("/api/studies", limit=limit).json()
        took.append(time.perf_counter() - begun)
        assert len(answer["studies"]) == limit
    return statistics.median(took)


def _all_listed(service: Running, studies: int) -> bool:
    address = f"{service.url}/api/studies"
    answer = httpx.get(address, params={"limit": studies}, timeout=PATIENCE_SECONDS, trust_env=False)
    return answer.status_code == 200


def lists(studies: int, home: Path, settings: dict[str, str]) -> list[Row]:
    """On an empty home, which is full afterwards; the settings may name a database."""
    with service_alone(home, None, **settings) as service:
        made = fill(service, TRIALS)
    count = multiply(home, settings.get("PARETOSCOPE_DATABASE_URL"), made.study, studies)
    size = f"{studies:,} studies, {count:,} events"
    begun = time.perf_counter()
    with service_alone(home, None, **settings) as service:
        first = time.perf_counter() - begun
        few = listed(service, min(50, studies), times=1)
        # Whoever asks for all of them before they were folded once waits for that.
        until(lambda: _all_listed(service, studies), "all", PATIENCE_SECONDS)
    begun = time.perf_counter()
    with service_alone(home, None, **settings) as service:
        again = time.perf_counter() - begun
        few_again, many = listed(service, min(50, studies)), listed(service, studies)
    return [
        Row("store-first-start", "store", f"{size}: promised / first start", READY_SECONDS, first),
        Row("store-first-few", "store", f"{size}: promised / the first list of 50", FEW_SECONDS, few),
        Row("store-start", "store", f"{size}: promised / every later start", READY_SECONDS, again),
        Row("store-few", "store", f"{size}: promised / list of 50", FEW_SECONDS, few_again),
        Row("store-many", "store", f"{size}: promised / list of {studies:,}", MANY_SECONDS, many),
    ]
