"""A limit in seconds on what a process does, also where that is somebody's own code."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_SECONDS = 1.0  # after which code that caught the interruption is interrupted again
TIMES = 5  # that it is, before it counts as hopeless


class TookTooLong(BaseException):
    """Not an Exception: the code that is run must not catch it. A bare `except:` does, and is interrupted again."""


def start(seconds: float) -> None:
    """The time within the limit begins anew."""
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)


@contextmanager
def within(seconds: float, hopeless: Callable[[TookTooLong], None] | None = None) -> Iterator[None]:
    """TookTooLong where it takes longer, also if it was caught; in the main thread of a process.

    `hopeless` is told the first one when the last of them was due: it is to end the process.
    """
    raised: list[TookTooLong] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        raised.append(TookTooLong())
        if hopeless and len(raised) >= TIMES:
            signal.setitimer(signal.ITIMER_REAL, 0)  # the last word is not interrupted
            hopeless(raised[0])
        raise raised[-1]

    previous = signal.signal(signal.SIGALRM, interrupt)
    start(seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    if raised:
        raise raised[0]
