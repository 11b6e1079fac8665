"""How long `paretoscope up` takes on a home full of studies, Ray included, against the same on an empty one.

Once with the summaries of a service before it, and once with nothing kept, as after an upgrade or a restore.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx

from tests.benchmarks.store import MANY_SECONDS, PATIENCE_SECONDS, READY_SECONDS
from tests.processes import Running, short_home, up

KEPT = "summaries.db"


class Measured(NamedTuple):
    """Seconds, and in how many it was promised; none: what must be folded first was never promised."""

    what: str
    seconds: float
    promised: float | None = None

    @property
    def holds(self) -> bool:
        return self.promised is None or self.seconds <= self.promised

    @property
    def words(self) -> str:
        return f"{self.seconds:.2f} s" + ("" if self.promised is None else f" of {self.promised:g} s")


@contextmanager
def timed_up(home: Path, settings: dict[str, str]) -> Iterator[tuple[Running, float]]:
    """With the seconds from the command to the line that says it is ready."""
    begun = time.perf_counter()
    with up(home, **settings) as running:
        taken = time.perf_counter() - begun
        assert running.get("/readyz").status_code == 200
        yield running, taken


def seconds_of_list(running: Running, limit: int) -> float:
    """From the request to the last byte, however long it folds."""
    begun = time.perf_counter()
    answer = httpx.get(
        f"{running.url}/api/studies",
        params={"limit": limit},
        headers=running.headers,
        timeout=PATIENCE_SECONDS,
        trust_env=False,
        verify=False,
    )
    assert len(answer.raise_for_status().json()["studies"]) == limit
    return time.perf_counter() - begun


def ready(home: Path, studies: int, settings: dict[str, str]) -> list[Measured]:
    with short_home() as empty, timed_up(empty, {}) as (_, bare):  # first: Ray's files come from the disk once
        pass
    (home / KEPT).unlink(missing_ok=True)
    with timed_up(home, settings) as (running, cold):
        cold_list = seconds_of_list(running, studies)
    with timed_up(home, settings) as (running, warm):
        warm_list = seconds_of_list(running, studies)
    size = f"{studies:,} studies"
    return [
        Measured("`up` with Ray is ready, no study", bare, READY_SECONDS),
        Measured(f"`up` with Ray is ready, {size}, nothing kept", cold, READY_SECONDS),
        Measured(f"… its first list of {size}, each folded for it", cold_list),
        Measured(f"`up` with Ray is ready, {size}", warm, READY_SECONDS),
        Measured(f"… its first list of {size}", warm_list, MANY_SECONDS),
    ]
