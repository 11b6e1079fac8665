"""Brings Ray back when it has ended by itself."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from frontends.cli.local_ray import LocalRay, RayDidNotStart
from frontends.home import has_no_room

log = logging.getLogger("paretoscope.ray")

LOOK_SECONDS = 0.5
ROOM_LOOK_SECONDS = 5.0  # between two starts while its disk is full
ENDS = 5
ENDS_WITHIN_SECONDS = 600.0


class RayKeeper(threading.Thread):
    """Starts Ray again when it dies, where the service knows it: the log on disk is the truth, a study goes on.

    It lives as long as `up`, as Linux ends Ray together with the thread that started it.
    """

    def __init__(self, ray: LocalRay, home: Path, cpus: int | None) -> None:
        super().__init__(name="ray-keeper", daemon=True)
        self._ray, self._home, self._cpus = ray, home, cpus
        self._ending = threading.Event()
        self.given_up: str | None = None

    def run(self) -> None:
        ends: list[float] = []
        told = False  # that there is no room
        while not self._ending.wait(LOOK_SECONDS):
            if self._ray.alive():
                continue
            ends = [end for end in ends if time.monotonic() - end < ENDS_WITHIN_SECONDS] + [time.monotonic()]
            if len(ends) > ENDS:
                self.given_up = f"Ray ended {len(ends)} times in ten minutes; see {self._home / 'ray.log'}"
                return
            if not told:
                log.warning("Ray ended by itself and is started again; studies go on")
            self._ray.stop()  # what outlived it
            try:
                self._ray = self._ray.again(self._home, self._cpus, self._ending)
                told = False
            except (RayDidNotStart, OSError) as error:
                if not has_no_room(self._home, error):
                    self.given_up = f"Ray ended by itself and could not be started again: {error}"
                    return
                ends.pop()
                if not told:
                    log.error("the disk of %s is full: Ray is started again when there is room", self._home)
                told = True
                self._ending.wait(ROOM_LOOK_SECONDS)

    def end(self) -> None:
        """Bounded: a start that is under way sees that it is no longer wanted."""
        self._ending.set()
        self.join(timeout=20)
        self._ray.stop()
