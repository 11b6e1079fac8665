"""Waking the event streams: a commit in any thread wakes the asyncio waiters of that study."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator

from starlette.concurrency import run_in_threadpool

from service.contract.wire.errors import NotFound, Unreadable
from service.store.protocol import Logged, Store

log = logging.getLogger("paretoscope.streams")

HEARTBEAT_SECONDS = 15.0
BATCH = 1000


class Wake:
    """One asyncio.Event per waiting stream."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closing = False

    @property
    def streams(self) -> int:
        """How many are open."""
        return sum(map(len, self._waiting.values()))

    def bind(self) -> None:
        self._loop = asyncio.get_running_loop()

    def tell(self, study_id: str) -> None:
        """Called from any thread, after a commit."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._set, study_id)

    def close(self) -> None:
        """End all streams: the service is going down."""
        self.closing = True
        for study_id in list(self._waiting):
            self._set(study_id)

    def _set(self, study_id: str) -> None:
        for event in self._waiting.get(study_id, ()):
            event.set()

    def join(self, study_id: str) -> asyncio.Event:
        event = asyncio.Event()
        self._waiting.setdefault(study_id, set()).add(event)
        return event

    def leave(self, study_id: str, event: asyncio.Event) -> None:
        self._waiting[study_id].discard(event)
        if not self._waiting[study_id]:
            del self._waiting[study_id]


def as_sse(logged: Logged) -> str:
    data = json.dumps(logged.public(), ensure_ascii=False, allow_nan=False)
    return f"id: {logged.seq}\nevent: {logged.event.kind}\ndata: {data}\n\n"


def _batch(store: Store, study_id: str, after: int, limit: int) -> list[Logged]:
    return list(store.read(study_id, after, limit))


async def stream(store: Store, wake: Wake, study_id: str, after: int) -> AsyncGenerator[str, None]:
    """Every event after `after`, once, in order; ends after the last one of a study that has ended."""
    signal = wake.join(study_id)
    last = after
    try:
        yield ": paretoscope\n\n"  # within: whoever leaves at once leaves nothing behind
        while not wake.closing:
            signal.clear()
            try:
                batch = await run_in_threadpool(_batch, store, study_id, last, BATCH)
            except Unreadable as error:
                log.warning("the stream of %s ends: %s", study_id, error.message)
                return
            if batch:
                last = batch[-1].seq
                yield "".join(map(as_sse, batch))
                continue
            try:
                if (await run_in_threadpool(store.study, study_id)).state.is_ended():
                    # Whoever resumes a study that has ended does so with an event: it has ended where none follows.
                    if not await run_in_threadpool(_batch, store, study_id, last, 1):
                        return
                    continue
            except NotFound:
                return
            try:
                await asyncio.wait_for(signal.wait(), HEARTBEAT_SECONDS)
            except TimeoutError:
                yield ": still here\n\n"
    finally:
        wake.leave(study_id, signal)
