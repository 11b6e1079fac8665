"""How long `paretoscope up` takes on a home full of studies, Ray included, against the same on an empty one."""

from __future__ import annotations

import time
from pathlib import Path

from tests.benchmarks.row import Row
from tests.benchmarks.store import READY_SECONDS
from tests.processes import short_home, up


def seconds_of(home: Path, settings: dict[str, str]) -> float:
    """From the command to the line that says it is ready."""
    begun = time.perf_counter()
    with up(home, **settings) as running:
        taken = time.perf_counter() - begun
        assert running.get("/readyz").status_code == 200
    return taken


def ready(home: Path, studies: int, settings: dict[str, str]) -> list[Row]:
    with short_home() as empty:  # first: whoever starts Ray after a while reads its files from the disk
        bare = seconds_of(empty, {})
    full = seconds_of(home, settings)
    return [
        Row("up-ready", "store", f"`up` with Ray is ready, {studies:,} studies", READY_SECONDS, full),
        Row("up-ready-empty", "store", "`up` with Ray is ready, no study", READY_SECONDS, bare),
    ]
