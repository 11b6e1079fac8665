"""`make faults`: one study undisturbed, then the same under kills, stops, full disks and restarts, and what held.

`make faults ARGS="--seed 7"` draws other faults. Exit code 1 if anything did not hold.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from findings.running import machine_words
from tests.faults.disk import Disk, small_disk
from tests.faults.disturbed import study
from tests.faults.disturbing import Disturbing, Fault, drawn
from tests.faults.holding import Held, Told, ended_only_when_killed, held
from tests.faults.leftovers import leftovers
from tests.faults.stack import running
from tests.postgres import MISSING, Server, binaries

SAVE_SECONDS = 5.0
LONGEST_SECONDS = 7200.0


def say(line: str) -> None:
    print(line, flush=True)


@contextmanager
def database_on(disk: Disk, programs: Path) -> Iterator[tuple[Server, str]]:
    """A server whose files lie on this disk, and an empty database of it."""
    folder = disk.folder / "pg"
    folder.mkdir()
    server = Server(programs, folder)
    try:
        with server.database() as url:
            yield server, url
    finally:
        if server.process.poll() is None:
            server.stop()


def disturbed(seed: int, epochs: int, faults: list[list[Fault]], disk: Disk, programs: Path) -> list[Held]:
    """What held, and what did not."""
    spec, home = study(epochs), disk.folder / "home"
    with (
        database_on(disk, programs) as database,
        running(home, SAVE_SECONDS, database) as stack,
        stack.client() as client,
    ):
        begun = time.monotonic()
        undisturbed = Told.of(client.submit(spec).wait(timeout=LONGEST_SECONDS))
        say(f"undisturbed: {len(undisturbed.trials)} trials in {time.monotonic() - begun:.0f} s")
        say("fault  begun  progress")
        handle = client.submit(spec)
        begun = time.monotonic()
        disturbing = Disturbing(stack, disk, handle.id, seed, say)
        disturbing.all(faults)
        handle.wait(timeout=LONGEST_SECONDS)
        say(f"disturbed: ended after {time.monotonic() - begun:.0f} s, {disturbing.kills} processes killed")
        rows = list(held(Told.of(handle), undisturbed, epochs, SAVE_SECONDS))
    codes, left = disturbing.codes, list(leftovers(home, stack.drivers))
    log = (home / "service.log").read_text(errors="replace")
    killed = sum((fault.kind, fault.part) == ("kill", "up") for group in faults for fault in group)
    rows.append(ended_only_when_killed(stack.ends, killed))
    rows.append(Held("orderly restarts ended with 0", not any(codes), f"{codes}"))
    rows.append(Held("nothing left behind", not left, "; ".join(left) or "nothing"))
    rows.append(Held("no traceback of the service", "Traceback" not in log, str(log.count("Traceback"))))
    return rows


def main() -> int:
    reader = argparse.ArgumentParser(prog="make faults", description=__doc__)
    reader.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    for name, count in {"epochs": 1500, "kills": 21, "stops": 7, "fills": 2, "restarts": 3}.items():
        reader.add_argument(f"--{name}", type=int, default=count)
    reader.add_argument("--keep", type=Path, help="a folder for the logs of service and Ray")
    given = reader.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends it leaves no process and no disk behind
    programs = binaries()
    if programs is None:
        say(MISSING)
        return 1
    faults = drawn(given.seed, given.kills, given.stops, given.fills, given.restarts)
    kinds = Counter(f"{fault.kind} {fault.part}" for group in faults for fault in group)
    say(f"seed {given.seed}, {given.epochs} epochs, a save every {SAVE_SECONDS:g} s")
    say(f"{time.strftime('%Y-%m-%d', time.gmtime())}, {machine_words()}")
    say(", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items())))
    with small_disk() as disk:
        if not disk.mounted:
            say("no small disk can be mounted here: the disk is not filled")
            faults = [group for group in faults if group[0].kind != "fill"]
        try:
            rows = disturbed(given.seed, given.epochs, faults, disk, programs)
        finally:
            if given.keep is not None:
                shutil.copytree(disk.folder, given.keep, ignore=shutil.ignore_patterns("pg", "sockets", "artifacts"))
    for row in rows:
        say(f"{'held' if row.holds else 'NOT HELD':8s}  {row.what:46s}  {row.figure}")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
