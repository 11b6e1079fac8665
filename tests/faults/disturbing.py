"""What is done to a study under way, drawn from a seed: kills, stops, full disks, orderly restarts."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from tests.faults.disk import Disk
from tests.faults.stack import PARTS, Stack, has_ended
from tests.processes import until

PATIENCE_SECONDS = 400.0  # for reports to go on
FIRST, LAST = 0.01, 0.93  # of the study's progress
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


class Suffered(NamedTuple):
    fault: Fault
    begun: float  # seconds since the first
    seconds: float | None  # from the fault to the next report that the log did not have; none: there was none in time


def drawn(seed: int, kills: int, stops: int, fills: int, restarts: int, parts: Sequence[str] = PARTS) -> list[Fault]:
    """Every part in turn, in an order of its own; the first stop of the service is a long one."""
    draw = random.Random(seed)
    faults = [
        Fault("kill", part, round(draw.uniform(0.5, 8.0)) if part == "PostgreSQL" else 0.0)
        for part in (parts[i % len(parts)] for i in range(kills))
    ]
    stopped = [parts[i % len(parts)] for i in range(stops)]
    faults += [Fault("stop", part, round(draw.uniform(3.0, 12.0))) for part in stopped]
    longest = next((i for i, fault in enumerate(faults) if (fault.kind, fault.part) == ("stop", "service")), None)
    if longest is not None and stops >= len(parts):
        faults[longest] = faults[longest]._replace(seconds=LONG_STOP)
    faults += [Fault("fill", "the disk", round(draw.uniform(5.0, 10.0))) for _ in range(fills)]
    faults += [Fault("restart", "in order") for _ in range(restarts)]
    draw.shuffle(faults)
    places = sorted(draw.uniform(FIRST, LAST) for _ in faults)
    return [fault._replace(at=place) for fault, place in zip(faults, places, strict=True)]


class Disturbing:
    """One fault at a time on one study; the next comes when reports have gone on."""

    def __init__(self, stack: Stack, disk: Disk, study: str, seed: int, tell: Callable[[str], None]) -> None:
        self._stack, self._disk, self._path = stack, disk, f"/api/studies/{study}"
        self._draw = random.Random(f"{seed}: which of several")
        self._tell, self._begin = tell, time.monotonic()
        self.suffered: list[Suffered] = []
        self.codes: list[int] = []  # of orderly ends

    def all(self, faults: Sequence[Fault]) -> None:
        for number, fault in enumerate(faults, 1):
            self._gone_on(fault.at)
            known = until(self._progress, "the service answers", PATIENCE_SECONDS)
            if known[1] != "running":
                raise AssertionError(f"the study was {known[1]} before fault {number} of {len(faults)}")
            driver = self._stack.find("driver", self._draw)
            at = time.monotonic()
            self._do(fault)
            ended = time.monotonic()
            if driver is not None and fault.ends_drivers():
                until(partial(has_ended, driver), "its driver is gone", PATIENCE_SECONDS)
            went_on = self._gone_on(self._known(known[0]))
            self.suffered.append(Suffered(fault, at - self._begin, time.monotonic() - ended if went_on else None))
            took = f"reports after {self.suffered[-1].seconds:5.1f} s" if went_on else "NO REPORTS"
            self._tell(f"{number:3d}  {at - self._begin:6.0f} s  {known[0]:4.0%}  {fault!s:32s} {took}")
            if not went_on:
                raise AssertionError(f"no report within {PATIENCE_SECONDS:.0f} s of: {fault}")

    def _do(self, fault: Fault) -> None:
        if fault.kind == "restart":
            self.codes.append(self._stack.restart())
        elif fault.kind == "fill":
            self._fill(fault.seconds)
        elif fault.kind == "kill" and fault.part == "PostgreSQL":
            self._stack.stop_database(fault.seconds)
        elif fault.kind == "kill":
            os.kill(self._process(fault.part), signal.SIGKILL)
        else:
            process = self._process(fault.part)
            os.kill(process, signal.SIGSTOP)
            time.sleep(fault.seconds)
            os.kill(process, signal.SIGCONT)

    def _fill(self, seconds: float) -> None:
        """While it is full a driver and the service die: neither note nor token can be written for their successors."""
        self._disk.fill()
        try:
            time.sleep(seconds / 2)
            for part in ("driver", "service"):
                if process := self._stack.find(part, self._draw):
                    os.kill(process, signal.SIGKILL)
            time.sleep(seconds / 2)
        finally:
            self._disk.free()

    def _process(self, part: str) -> int:
        return int(until(lambda: self._stack.find(part, self._draw), f"there is a {part}", PATIENCE_SECONDS))

    def _progress(self) -> tuple[float, str] | None:
        known = self._stack.ask(self._path)
        return None if known is None else (float(known["progress"]), str(known["state"]))

    def _known(self, before: float) -> float:
        """What was on its way when it happened is no sign that anything goes on."""
        now = self._progress()
        return before if now is None else max(before, now[0])

    def _gone_on(self, before: float) -> bool:
        def further() -> bool:
            self._stack.tend()
            self._stack.find("driver", self._draw)  # its number is kept
            now = self._progress()
            return now is not None and (now[0] > before or now[1] != "running")

        try:
            until(further, "reports go on", PATIENCE_SECONDS)
        except AssertionError:
            return False
        return True
