"""`make load`: 200 clients of streams and 10 writers, then a thousand studies with a million events.

`make load ARGS=--postgresql` does it on a PostgreSQL of its own. It ends by itself, prints a table as the page
docs/operations.md has it, and with `--keep` writes it there. The exit code is 1 where a client missed an event, a call
failed or a promise was not kept.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from findings.running import machine_words
from tests.benchmarks.store import lists
from tests.load.ready import Measured, ready
from tests.load.storm import Storm, Weather, weather
from tests.operations_page import tell
from tests.postgres import MISSING, binaries, postgresql
from tests.processes import service_alone, short_home

STUDIES = 1000
STORMS = {
    "10 studies, 20 clients each": Storm(clients=200, writers=10, studies=10, epochs=30, pause=1.0),
    "one study, 200 clients": Storm(clients=200, writers=10, studies=1, epochs=30, pause=1.0),
}


@contextmanager
def database(wanted: bool) -> Iterator[dict[str, str]]:
    """The setting that names one; none for SQLite."""
    if not wanted:
        yield {}
        return
    if binaries() is None:
        sys.exit(MISSING)
    with postgresql() as server, server.database() as url:
        yield {"PARETOSCOPE_DATABASE_URL": url}


def told(name: str, storm: Storm, seen: Weather) -> list[tuple[str, str]]:
    before, highest, after = seen.megabytes
    return [
        (f"{name}, {storm.writers} writers: events, delivered", f"{seen.events:,}, {seen.deliveries:,}"),
        ("… not heard once and in order, or failed", str(len(seen.faults))),
        ("… from a writer's request to a client's line: median, p99", f"{seen.median:.2f} s, {seen.late(0.99):.2f} s"),
        ("… memory of the service: before, at most, after", f"{before:.0f}, {highest:.0f}, {after:.0f} MB"),
    ]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--postgresql", action="store_true", help="as the store, started for this")
    parser.add_argument("--studies", type=int, default=STUDIES, help="of about a thousand events each")
    parser.add_argument("--only", choices=["streams", "studies"], help="one half of it")
    parser.add_argument("--keep", action="store_true", help="write what was measured into docs/operations.md")
    asked = parser.parse_args(arguments)
    rows: list[tuple[str, str]] = []
    is_well = True
    for name, storm in STORMS.items() if asked.only != "studies" else ():
        with (
            database(asked.postgresql) as settings,
            short_home() as home,
            service_alone(home, None, **settings) as service,
        ):
            seen = weather(service, storm)
        rows += told(name, storm, seen)
        is_well &= not seen.faults
        print(*seen.faults, sep="\n")
    if asked.only != "streams":
        with database(asked.postgresql) as settings, short_home() as home:
            alone = lists(asked.studies, home, settings)
            measured = [
                Measured(row.what.replace("promised / ", "the service alone, "), row.second, row.first)
                for row in alone
                if row.second is not None  # as all have that are promised
            ]
            measured += ready(home, asked.studies, settings)
        rows += [(each.what, each.words) for each in measured]
        is_well &= all(each.holds for each in measured)
    store = "PostgreSQL" if asked.postgresql else "SQLite"
    busy = " ".join(f"{load:.0f}" for load in os.getloadavg())
    begun = f"{store}, {machine_words()}, load {busy} at the end; seconds are measured, then of how many were promised."
    table = ["| what | |", "|---|---|", *(f"| {what} | {value} |" for what, value in rows)]
    command = "make load ARGS=--postgresql" if asked.postgresql else "make load"
    tell(command, [begun, "", *table], asked.keep)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
