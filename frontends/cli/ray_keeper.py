"""Brings Ray back when it has ended by itself."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from frontends.cli.local_ray import LocalRay, RayDidNotStart

log = logging.getLogger("paretoscope.ray")

LOOK_SECONDS = 0.5
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
        while not self._ending.wait(LOOK_SECONDS):
            if self._ray.alive():
                continue
            ends = [end for end in ends if time.monotonic() - end < ENDS_WITHIN_SECONDS] + [time.monotonic()]
            if len(ends) > ENDS:
                self.given_up = f"Ray ended {len(ends)} times in ten minutes; see {self._home / 'ray.log'}"
                return
            log.warning("Ray ended by itself and is started again; studies go on")
            self._ray.stop()  # what outlived it
            try:
                self._ray = self._ray.again(self._home, self._cpus, self._ending)
            except (RayDidNotStart, OSError) as error:
                self.given_up = f"Ray ended by itself and could not be started again: {error}"
                return

    def end(self) -> None:
        """Bounded: a start that is under way sees that it is no longer wanted."""
        self._ending.set()
        self.join(timeout=20)
        self._ray.stop()
