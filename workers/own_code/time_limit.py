"""A limit in seconds on what a process does, also where that is somebody's own code."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TookTooLong(BaseException):
    """Not an Exception: the code that is run must not catch it."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """TookTooLong where it takes longer; in the main thread of a process."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
