"""Prints the table of the README. `make bench` (all), `make bench ARGS=steps`, `make bench ARGS="grid 48"`,
`make bench ARGS="dashboard 1000"`, `make bench ARGS=log`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from frontends.client import Client
from tests.benchmarks.dashboard import fronts
from tests.benchmarks.grid import study
from tests.benchmarks.log import folds
from tests.benchmarks.steps import ratios
from tests.processes import short_home, up


def ours(client: Client, trials: int) -> float:
    """Submit to finished, Ray and service up."""
    begun = time.perf_counter()
    handle = client.submit(study(trials))
    handle.wait(timeout=1800)
    seconds = time.perf_counter() - begun
    counts = handle.read()["counts"]
    assert counts["finished"] == trials, counts
    return seconds


def plain(ray: dict[str, str], trials: int, mode: str) -> float:
    """The whole plain script, from its start to its end, on the same Ray."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "tests.benchmarks.plain_tune", str(trials), mode]
    subprocess.run(
        command,
        env={**os.environ, **ray},
        check=True,
        timeout=3600,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - begun


def grids(sizes: list[int]) -> list[tuple[str, float, str]]:
    rows = []
    with short_home() as home, up(home) as running, Client(running.url) as client:
        note: dict[str, Any] = json.loads((home / "service.json").read_text())
        ray = {
            "BENCH_RAY": note["ray_address"],
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # keeps 127.0.0.1 as it is
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": note["ray_token_path"],
        }
        for trials in sizes:
            own = ours(client, trials)
            reused = plain(ray, trials, "reuse")
            rows.append(
                (
                    f"{trials} trials: plain Ray Tune, actors reused / Paretoscope",
                    reused / own,
                    f"{reused:.0f} s / {own:.0f} s",
                )
            )
            if trials <= 48:
                default = plain(ray, trials, "default")
                rows.append(
                    (
                        f"{trials} trials: plain Ray Tune, defaults / Paretoscope",
                        default / own,
                        f"{default:.0f} s / {own:.0f} s",
                    )
                )
    return rows


def main(arguments: list[str]) -> None:
    rows: list[tuple[str, float, str]] = []
    if not arguments or arguments[0] == "steps":
        rows += [(name, value, "") for name, value in ratios().items()]
    if not arguments or arguments[0] == "grid":
        rows += grids([int(n) for n in arguments[1:]] or [48, 480])
    if not arguments or arguments[0] == "dashboard":
        for trials in [int(n) for n in arguments[1:]] or [1000, 10_000]:
            rows += fronts(trials)
    if not arguments or arguments[0] == "log":
        for trials in [int(n) for n in arguments[1:]] or [10_000]:
            rows += folds(trials)
    cores = len(os.sched_getaffinity(0))
    print(f"\n{time.strftime('%Y-%m-%d')}, {cores} cores, {_processor()}\n")
    for name, value, seconds in rows:
        print(f"{name:70s} {value:6.2f}   {seconds}")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


if __name__ == "__main__":
    main(sys.argv[1:])
