"""What is done to a study under way, drawn from a seed: kills, stops, full disks, orderly restarts."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import NamedTuple

from tests.faults.disk import Disk
from tests.faults.paced import Pace
from tests.faults.stack import PARTS, Stack, has_ended
from tests.processes import until

PATIENCE_SECONDS = 400.0  # for reports to go on
MOST_AT_ONCE, AT_ONCE = 3, 0.8  # kills, and how likely one comes with the one before
FIRST, LAST = 0.01, 0.8  # of the study's progress, which goes on while a service is stopped
LONG_STOP = 40.0  # longer than any client waits for an answer


TAKE_THE_DRIVER = ("driver", "raylet", "gcs", "up")


class Fault(NamedTuple):
    """At a progress of the study, so that it outlasts them all on any machine; `seconds` is how long it lasts."""

    kind: str
    part: str
    seconds: float = 0.0
    at: float = 0.0

    def ends_drivers(self) -> bool:
        """Whether reports come from another driver afterwards, or from none."""
        return self.kind in ("fill", "restart") or (self.kind == "kill" and self.part in TAKE_THE_DRIVER)

    def __str__(self) -> str:
        return f"{self.kind} {self.part}" + (f" for {self.seconds:.0f} s" if self.seconds else "")


def drawn(seed: int, kills: int, stops: int, fills: int, restarts: int) -> list[list[Fault]]:
    """Every part in turn, in an order of its own, some at once; the first stop of the service is a long one."""
    draw = random.Random(seed)
    faults = [
        Fault("kill", part, round(draw.uniform(0.5, 8.0)) if part == "PostgreSQL" else 0.0)
        for part in (PARTS[i % len(PARTS)] for i in range(kills))
    ]
    stopped = [PARTS[i % len(PARTS)] for i in range(stops)]
    faults += [Fault("stop", part, round(draw.uniform(3.0, 12.0))) for part in stopped]
    longest = next((i for i, fault in enumerate(faults) if (fault.kind, fault.part) == ("stop", "service")), None)
    if longest is not None and stops >= len(PARTS):
        faults[longest] = faults[longest]._replace(seconds=LONG_STOP)
    faults += [Fault("fill", "the disk", round(draw.uniform(5.0, 10.0))) for _ in range(fills)]
    faults += [Fault("restart", "in order") for _ in range(restarts)]
    draw.shuffle(faults)
    groups = _together(faults, draw)
    places = sorted(draw.uniform(FIRST, LAST) for _ in groups)
    return [[fault._replace(at=at) for fault in group] for group, at in zip(groups, places, strict=True)]


def _together(faults: Sequence[Fault], draw: random.Random) -> list[list[Fault]]:
    """Kills that follow each other may come at once, of different parts, up to three."""
    groups: list[list[Fault]] = []
    for fault in faults:
        last = groups[-1] if groups else []
        others = all(each.kind == "kill" and each.part != fault.part for each in last)
        if fault.kind == "kill" and last and others and len(last) < MOST_AT_ONCE and draw.random() < AT_ONCE:
            last.append(fault)
        else:
            groups.append([fault])
    return groups


class Disturbing:
    """One fault at a time on one study; the next comes when reports have gone on.

    With a pace trials train slowly from a fault until reports have gone on: the next is not missed.
    """

    def __init__(
        self, stack: Stack, disk: Disk, study: str, seed: int, tell: Callable[[str], None], pace: Pace | None = None
    ) -> None:
        self._slow = pace.slow if pace else nullcontext[None]
        self._stack, self._disk, self._path = stack, disk, f"/api/studies/{study}"
        self._draw = random.Random(f"{seed}: which of several")
        self._tell, self._begin = tell, time.monotonic()
        self.codes: list[int] = []  # of orderly ends
        self.kills = 0  # that met a process

    def all(self, groups: Sequence[Sequence[Fault]]) -> None:
        for number, group in enumerate(groups, 1):
            self._gone_on(group[0].at)
            with self._slow():
                progress, state = until(self._progress, "the service answers", PATIENCE_SECONDS)
                if state != "running":
                    raise AssertionError(f"the study was {state} before fault {number} of {len(groups)}")
                at = time.monotonic()
                took = self._one(group, progress)
            words = " + ".join(map(str, group))
            said = "NO REPORTS" if took is None else f"reports went on after {took:.0f} s"
            self._tell(f"{number:3d}  {at - self._begin:6.0f} s  {progress:4.0%}  {words:50s} {said}")
            if took is None:
                raise AssertionError(f"no report within {PATIENCE_SECONDS:.0f} s of: {words}")

    def _one(self, group: Sequence[Fault], progress: float) -> float | None:
        """After how many seconds reports went on; none if they did not."""
        driver = self._stack.find("driver", self._draw)
        victims = {fault.part: self._process(fault.part) for fault in group if fault.kind in ("kill", "stop")}
        for fault in sorted(group, key=lambda fault: fault.seconds):  # what lasts comes last
            self._do(fault, victims)
        ended = time.monotonic()
        if driver is not None and any(fault.ends_drivers() for fault in group):
            until(partial(has_ended, driver), "its driver is gone", PATIENCE_SECONDS)
            progress = self._known()
        return time.monotonic() - ended if self._gone_on(progress) else None

    def _do(self, fault: Fault, victims: Mapping[str, int]) -> None:
        if fault.kind == "restart":
            self.codes.append(self._stack.restart())
        elif fault.kind == "fill":
            self._fill(fault.seconds)
        elif fault.kind == "kill" and fault.part == "PostgreSQL":
            self._stack.stop_database(fault.seconds)
            self.kills += 1
        elif fault.kind == "kill":
            with suppress(ProcessLookupError):  # it ended with another that was killed just before
                os.kill(victims[fault.part], signal.SIGKILL)
                self.kills += 1
        else:
            os.kill(victims[fault.part], signal.SIGSTOP)
            time.sleep(fault.seconds)
            os.kill(victims[fault.part], signal.SIGCONT)

    def _fill(self, seconds: float) -> None:
        """While it is full a driver and the service die: neither note nor token can be written for their successors."""
        self._disk.fill()
        try:
            time.sleep(seconds / 2)
            for part in ("driver", "service"):
                if process := self._stack.find(part, self._draw):
                    os.kill(process, signal.SIGKILL)
                    self.kills += 1
            time.sleep(seconds / 2)
        finally:
            self._disk.free()

    def _process(self, part: str) -> int:
        return int(until(lambda: self._stack.find(part, self._draw), f"there is a {part}", PATIENCE_SECONDS))

    def _progress(self) -> tuple[float, str] | None:
        known = self._stack.ask(self._path)
        return None if known is None else (float(known["progress"]), str(known["state"]))

    def _known(self) -> float:
        """With what was on its way when it happened, which is no sign that anything goes on."""

        def answered() -> tuple[float, str] | None:
            self._stack.tend()
            return self._progress()

        return float(until(answered, "the service answers", PATIENCE_SECONDS)[0])

    def _gone_on(self, before: float) -> bool:
        def further() -> bool:
            self._stack.tend()
            self._stack.find("driver", self._draw)  # its number is kept
            now = self._progress()
            return now is not None and (now[0] > before or now[1] not in ("queued", "running"))

        try:
            until(further, "reports go on", PATIENCE_SECONDS)
        except AssertionError:
            return False
        return True
