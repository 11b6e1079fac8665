"""A trial as a user's training function is given it: its seed and values, and how it tells what it has reached."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Said(NamedTuple):
    """One report of the function."""

    epoch: int
    seconds: float
    metrics: dict[str, float]
    file: str  # where the function reported
    line: int


class Saved(NamedTuple):
    """What the function saved last, and how far it was then."""

    content: bytes | None
    epoch: int
    seconds: float


class Stopped(BaseException):
    """Raised in a function that reports when nobody takes it any more. Not an Exception, so that it is not caught."""


class Trial:
    """`seed`, `config` (its parameters), `folder` (for files, gone after it), `saved` (by an earlier run, or none)."""

    def __init__(
        self,
        seed: int,
        config: dict[str, Any],
        folder: Path,
        metrics: Sequence[str],
        saved: Saved,
        say: Callable[[Said], None],
        clock: Callable[[], float],
    ) -> None:
        self.seed, self.config, self.folder, self.saved = seed, config, folder, saved.content
        self.saved_at = saved
        self.reported = saved.epoch > 0
        self.knows = False  # whether the function has seen that it is to stop
        self._metrics, self._say, self._clock = metrics, say, clock
        self._epoch, self._before, self._start = saved.epoch, saved.seconds, clock()
        self._stop, self._closed, self._next = threading.Event(), threading.Event(), threading.Semaphore(0)

    def report(self, *, epoch: int | None = None, **metrics: Any) -> None:
        """Tell the metrics that were declared, once or after every epoch; returns when they were taken."""
        if self._closed.is_set():
            self.knows = True
            raise Stopped
        checked = self._checked(metrics)
        if epoch is not None and (isinstance(epoch, bool) or not isinstance(epoch, int) or epoch <= self._epoch):
            raise ValueError(
                f"epoch must be a whole number above {self._epoch}, that of the last report, got {epoch!r}"
            )
        self._epoch = self._epoch + 1 if epoch is None else epoch
        self._before, self.reported = self.seconds, True
        caller = sys._getframe(1)
        self._say(Said(self._epoch, self._before, checked, caller.f_code.co_filename, caller.f_lineno))
        self._next.acquire()
        self._start = self._clock()  # waiting is no training

    def save(self, content: bytes) -> None:
        """Keep this so that a killed trial goes on from here: it is then `trial.saved`."""
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise TypeError(f"trial.save takes bytes, got {type(content).__name__}")
        self.saved_at = Saved(bytes(content), self._epoch, self.seconds)

    @property
    def should_stop(self) -> bool:
        """Whether nobody waits for more: the study is paused, or Ray ends. One more report is taken, and all saves."""
        self.knows = self.knows or self._stop.is_set()
        return self.knows

    @property
    def seconds(self) -> float:
        """Of training so far, with that before an interruption."""
        return self._before + self._clock() - self._start

    def go_on(self) -> None:
        """The report was taken."""
        self._next.release()

    def stop(self) -> None:
        """The function sees it when it looks."""
        self._stop.set()

    def close(self) -> None:
        """And a report from now on ends it."""
        self._stop.set()
        self._closed.set()
        self._next.release()

    def _checked(self, metrics: Mapping[str, object]) -> dict[str, float]:
        declared = ", ".join(self._metrics)
        if unknown := [name for name in metrics if name not in self._metrics]:
            raise ValueError(f"trial.report got {unknown[0]!r}, which is none of the declared metrics: {declared}")
        if missing := [name for name in self._metrics if name not in metrics]:
            raise ValueError(f"trial.report lacks {missing[0]!r}: every report has all declared metrics: {declared}")
        return {name: _number(name, value) for name, value in metrics.items()}


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"metric {name!r} must be a number, got {type(value).__name__}") from None
