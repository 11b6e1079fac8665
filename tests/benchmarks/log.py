"""Restart and fold: how long a service takes to know a long log again, in units of parsing the log's own JSON.

The unit makes it a ratio within one run. The study is the dashboard benchmark's: 22 events a trial.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import sqlalchemy as sql

from service.store.sql import SqlStore
from service.views.cache import Views
from tests.benchmarks.dashboard import fill
from tests.processes import service_alone, short_home

TIMES = 3


def _seconds(work: Callable[[], object]) -> float:
    """The median of a few runs, in this process's own time."""
    took = []
    for _ in range(TIMES):
        begun = time.process_time()
        work()
        took.append(time.process_time() - begun)
    return statistics.median(took)


def _parse(home: Path, study: str) -> int:
    """The least that anyone who reads the log has to do."""
    engine = sql.create_engine(f"sqlite:///{home / 'paretoscope.db'}")
    with engine.connect() as connection:
        query = sql.text("SELECT body FROM events WHERE study = :study ORDER BY seq")
        return sum(bool(orjson.loads(body)) for (body,) in connection.execute(query, {"study": study}))


def _fold(store: SqlStore, study: str) -> int:
    with Views(store).read(study) as view:
        return view.seq


def folds(trials: int) -> list[tuple[str, float, str]]:
    with short_home() as home:
        with service_alone(home) as service:
            made = fill(service, trials)
        store = SqlStore(home)
        events = _fold(store, made.study)
        fold, parse = _seconds(lambda: _fold(store, made.study)), _seconds(lambda: _parse(home, made.study))
        store.close()
        begun = time.perf_counter()
        with service_alone(home) as service:
            service.get(f"/api/studies/{made.study}").raise_for_status()
            restart = time.perf_counter() - begun
    return [
        (f"fold of {events:,} events / parsing their JSON", fold / parse, f"{fold:.2f} s / {parse:.2f} s"),
        (f"restart until that study answers / its fold, {trials:,} trials", restart / fold, f"{restart:.1f} s"),
    ]
