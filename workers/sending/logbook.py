"""What a worker logs while it trains a cohort: kept in few lines, handed on with the reports."""

from __future__ import annotations

import logging
import time
from collections import deque
from types import TracebackType

from service.contract.wire.events import LOG_LINE_LENGTH, LOG_LINES, sendable

FORMAT = "%(asctime)sZ %(levelname)s %(name)s: %(message)s"
TIMES = "%Y-%m-%dT%H:%M:%S"
CHATTY = ("httpx", "httpcore")  # a line per request


class Logbook(logging.Handler):
    """While open: every logger's lines from INFO on, warnings, tracebacks; each line is handed out once.

    The first 200 lines go out as they come; of what follows only the last 200, at the end. So a cohort that
    logs at every step cannot flood the study's log.
    """

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        formatter = logging.Formatter(FORMAT, TIMES)
        formatter.converter = time.gmtime
        self.setFormatter(formatter)
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        self._at_once = LOG_LINES
        self._levels: dict[str, int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Called with the handler's lock held."""
        try:
            lines = self.format(record).splitlines()
        except (TypeError, ValueError, KeyError):
            self.handleError(record)  # as every handler does: a bad format string must not end a training
            return
        self._lines.extend(sendable(line, LOG_LINE_LENGTH) for line in lines if line.strip())

    def new_lines(self, last: bool = False) -> list[str]:
        """The lines since the last call; after many of them none until the `last` one."""
        self.acquire()
        try:
            count = len(self._lines) if last else min(len(self._lines), self._at_once)
            self._at_once -= count
            return [self._lines.popleft() for _ in range(count)]
        finally:
            self.release()

    def __enter__(self) -> Logbook:
        root = logging.getLogger()
        self._levels = {name: logging.getLogger(name).level for name in ("", *CHATTY)}
        root.setLevel(min(root.level or logging.INFO, logging.INFO))
        for name in CHATTY:
            logging.getLogger(name).setLevel(logging.WARNING)
        root.addHandler(self)
        logging.captureWarnings(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.captureWarnings(False)
        logging.getLogger().removeHandler(self)
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
