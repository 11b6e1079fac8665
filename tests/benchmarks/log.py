"""Restart and fold: how long a service takes to know a long log again, in units of parsing the log's own JSON.

The unit makes it a ratio within one run. The study is the dashboard benchmark's: 22 events a trial.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import orjson
import sqlalchemy as sql

from service.store.sql import SqlStore
from service.views.cache import Views
from tests.benchmarks.dashboard import fill
from tests.benchmarks.row import Row
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


def spent(pid: int) -> float:
    """CPU seconds of a process so far, of all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime, stime


class Restart(NamedTuple):
    wall: float  # until the study answers
    study: float  # CPU seconds until then
    front: float  # until its front has answered too


def _restart(home: Path, study: str) -> Restart:
    begun = time.perf_counter()
    with service_alone(home) as service:
        service.get(f"/api/studies/{study}").raise_for_status()
        wall, answered = time.perf_counter() - begun, spent(service.process.pid)
        service.get(f"/api/studies/{study}/front").raise_for_status()
        return Restart(wall, answered, spent(service.process.pid))


def folds(trials: int) -> list[Row]:
    with short_home() as home:
        with service_alone(home) as service:
            made = fill(service, trials)
        store = SqlStore(home)
        events = _fold(store, made.study)
        fold, parse = _seconds(lambda: _fold(store, made.study)), _seconds(lambda: _parse(home, made.study))
        store.close()
        each = [_restart(home, made.study) for _ in range(TIMES)]
    again = Restart(*(statistics.median(column) for column in zip(*each, strict=True)))
    log, answers = f"a log of {events:,} events", f"restart until a study of {events:,} events answers"

    def row(key: str, what: str, first: float, second: float, unit: str) -> Row:
        return Row(f"{key}-{trials}", "log", what, first, second, unit)

    return [
        row("fold", f"the fold of {log} / parsing its JSON", fold, parse, "CPU s"),
        row("restart", f"{answers}, CPU time / that of the fold of its log", again.study, fold, "CPU s"),
        row("restart-front", f"{answers} with its front / without it", again.front, again.study, "CPU s"),
        row("restart-wall", f"{answers}, wall time / CPU time of the service", again.wall, again.study, "s"),
    ]
