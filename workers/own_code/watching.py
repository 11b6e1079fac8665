"""Ends user code that does not come to an end by itself, at the line where it is: once nobody waits for it any more, or
where a batch takes longer than any may."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from types import TracebackType

from service.contract.wording.numbers import number, setting

LOOK_SECONDS = 0.5
LEAST_SECONDS = 10.0  # without a report, before which nothing is taken to hang
TIMES_LONGEST = 3  # as long as the longest time between two reports so far
SETTING = "PARETOSCOPE_CODE_SILENT_SECONDS"
SILENT_SECONDS = 1800.0  # that a batch of a user's problem may take, where nothing is set


class Watch:
    """While it is on. `unwanted` says why no more reports are waited for; none: they are. `most` is how many seconds
    may pass without a sign of life; none: any.

    Python raises in a thread between two of its own instructions: a call into C that never returns is not ended.
    """

    def __init__(
        self,
        unwanted: Callable[[], str | None],
        clock: Callable[[], float] = time.monotonic,
        least: float = LEAST_SECONDS,
        most: float | None = None,
    ) -> None:
        self._thread = threading.get_ident()
        self._unwanted, self._clock, self._least, self._most = unwanted, clock, least, most
        self._heard = self._alive = clock()
        self._longest = 0.0
        self._off = threading.Event()
        self.ended: str | None = None  # why the code was ended, if it was
        self._watching = threading.Thread(target=self._run, name="watching", daemon=True)

    def follow(self, thread: int) -> None:
        """The thread that runs the user's code, where it is not the one that made this."""
        self._thread = thread

    def heard(self) -> None:
        """A report has come."""
        now = self._clock()
        self._longest, self._heard = max(self._longest, now - self._heard), now

    def alive(self) -> None:
        """A batch begins."""
        self._alive = self._clock()

    def __enter__(self) -> Watch:
        self._watching.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._off.set()
        self._watching.join()

    def _run(self) -> None:
        """Again and again, as the code may catch what is raised."""
        while not self._off.wait(LOOK_SECONDS):
            now = self._clock()
            silent, still = now - self._heard, now - max(self._heard, self._alive)
            if silent > max(self._least, TIMES_LONGEST * self._longest) and (why := self._unwanted()):
                self.ended = why
                raise_in(self._thread, f"{why}, and this had run for {number(silent)} s without a report")
            elif self._most is not None and still > self._most:
                self.ended = f"this had run for {number(still)} s, and {SETTING} is {setting(self._most)}"
                raise_in(self._thread, self.ended)


def raise_in(thread: int, words: str) -> None:
    """An exception at the instruction where a thread is; it takes a class, so there is one for these words."""
    kind = type("StillRunning", (Exception,), {"__str__": lambda self: words, "__module__": "builtins"})
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
