"""Prints what is faster than what, and keeps it for the README.

`make bench` measures all groups of rows but `before`, which needs an older checkout (`before --older FOLDER`);
`make bench ARGS="steps log"` some of them, `make bench ARGS="grid --size 48"` one size. With `--keep` what was measured
takes the place of the same rows of `docs/findings/speed.json`; the others stay as they are, each with its own date.
`make findings` then writes the README.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from findings.commit import commit_of
from findings.folder import ROOT, SPEED
from findings.running import machine_words
from findings.speed import GROUPS, Group, Timing, load_speed, renewed, speed_text
from frontends.client import Client
from paretoscope import __version__
from tests.benchmarks.before import PARTS, compared
from tests.benchmarks.cohort import cohorts
from tests.benchmarks.dashboard import curves, fronts
from tests.benchmarks.every import prices
from tests.benchmarks.grid import study
from tests.benchmarks.log import folds
from tests.benchmarks.own_code import MEMBERS, check_row, foreign_rows, own_rows, tune_rows
from tests.benchmarks.row import Row
from tests.benchmarks.steps import steps
from tests.benchmarks.store import lists
from tests.processes import short_home, up

SIZES = {"grid": [48, 480], "dashboard": [1000, 10_000], "curves": [300, 1000, 7200], "log": [10_000], "store": [1000]}


def ours(client: Client, trials: int) -> float:
    """Submit to finished, Ray and service up."""
    begun = time.perf_counter()
    handle = client.submit(study(trials))
    handle.wait(timeout=1800)
    seconds = time.perf_counter() - begun
    counts = handle.read()["counts"]
    assert counts["finished"] == trials, counts
    return seconds


def plain(ray: dict[str, str], *script: str) -> float:
    """A whole plain script, from its start to its end, on the same Ray."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", *script]
    subprocess.run(
        command,
        env={**os.environ, **ray},
        check=True,
        timeout=3600,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - begun


@contextmanager
def running_ray() -> Iterator[tuple[Client, dict[str, str]]]:
    """A service, and what a script needs to use its Ray."""
    with short_home() as home, up(home) as running, Client(running.url, running.token) as client:
        note: dict[str, Any] = json.loads((home / "service.json").read_text())
        yield (
            client,
            {
                "BENCH_RAY": note["ray_address"],
                "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # keeps 127.0.0.1 as it is
                "RAY_AUTH_MODE": "token",
                "RAY_AUTH_TOKEN_PATH": note["ray_token_path"],
            },
        )


def own_code() -> list[Row]:
    rows = own_rows()
    with running_ray() as (client, ray):
        script = ("tests.benchmarks.own_files.tune_two_heads", str(MEMBERS))
        return [*rows, *tune_rows(client, lambda: plain(ray, *script)), check_row(client)]


def grids(sizes: Sequence[int]) -> list[Row]:
    rows = []
    with running_ray() as (client, ray):
        for trials in sizes:
            own = ours(client, trials)
            modes = {"reuse": "actors reused", **({"default": "defaults"} if trials <= 48 else {})}
            for mode, words in modes.items():
                what = f"{trials} trials: plain Ray Tune ({words}) / Paretoscope"
                rows.append(
                    Row(
                        f"grid-{trials}-{mode}",
                        "grid",
                        what,
                        plain(ray, "tests.benchmarks.plain_tune", str(trials), mode),
                        own,
                    )
                )
    return rows


def _stored(studies: int) -> list[Row]:
    with short_home() as home:
        return lists(studies, home, {})


def measured(group: Group, sizes: Sequence[int]) -> list[Row]:
    whole = {"steps": steps, "every": prices, "cohort": cohorts, "own": own_code, "models": foreign_rows}
    if group in whole:
        return whole[group]()
    sizes = sizes or SIZES[group]
    if group == "store":
        return [row for studies in sizes for row in _stored(studies)]
    if group == "grid":
        return grids(sizes)
    rows_of = {"dashboard": fronts, "curves": curves, "log": folds}[group]
    return [row for trials in sizes for row in rows_of(trials)]


def before(asked: argparse.Namespace) -> list[Row]:
    with short_home() as home:
        return compared(asked.older.resolve(), asked.homes or home, asked.part, asked.rounds)


def kept(row: Row, machine: str) -> Timing:
    return Timing(
        group=row.group,
        what=row.what,
        ratio=row.ratio,
        values=None if row.second is None else (row.first, row.second),
        unit=row.unit,
        date=time.strftime("%Y-%m-%d"),
        machine=machine,
        paretoscope=__version__,
        commit=commit_of(ROOT),
        between=row.between,
        stacking=row.stacking,
        apart=row.apart,
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="of rows; all without one")
    parser.add_argument(
        "--size",
        type=int,
        action="append",
        default=[],
        help="trials of grid, dashboard, curves and log, studies of store",
    )
    parser.add_argument("--older", type=Path, help="a checkout with an environment of its own, for `before`")
    parser.add_argument("--homes", type=Path, help="a folder that keeps the logs of both trees, for `before` again")
    parser.add_argument("--part", choices=PARTS, action="append", default=[], help="of `before`")
    parser.add_argument("--rounds", type=int, help="of `before`")
    parser.add_argument("--keep", action="store_true", help=f"in docs/findings/{SPEED.name}")
    asked = parser.parse_args(arguments)
    if ("before" in asked.groups) != (asked.older is not None):
        parser.error("before and --older belong together")
    machine = f"{machine_words()}, {_processor()}"
    rows = []
    for group in asked.groups or [group for group in GROUPS if group != "before"]:
        own = before(asked) if group == "before" else measured(group, asked.size)
        rows += own
        if asked.keep:  # what comes next may fail, and this took minutes
            SPEED.write_text(speed_text(renewed(load_speed(), {row.key: kept(row, machine) for row in own})))
    print(f"\n{time.strftime('%Y-%m-%d')}, {machine}\n")
    for row in rows:
        spread = f" ({row.between[0]:.2f} to {row.between[1]:.2f})" if row.between else ""
        ratio, second = (math.nan if each is None else each for each in (row.ratio, row.second))
        words = f"; {row.stacking}; largest difference {row.apart}" if row.stacking else ""
        print(f"{row.what:90s} {ratio:6.2f}{spread}   {row.first:.3g} {row.unit} / {second:.3g} {row.unit}{words}")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


if __name__ == "__main__":
    main(sys.argv[1:])
