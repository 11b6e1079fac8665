"""What has to be done to its end, however often somebody asks for the end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """SIGTERM and Ctrl-C do nothing meanwhile: the end that they ask for is under way. Not inherited by processes."""
    if threading.current_thread() is not threading.main_thread():  # it gets no signals
        yield
        return
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
