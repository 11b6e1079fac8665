"""What a list of studies shows of each: kept for far more studies than views are, made again when a log has grown."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

from service.contract.wire.errors import NotFound
from service.store.protocol import Store
from service.views.cache import Views
from service.views.view import View

KEPT_SUMMARIES = 10_000
T = TypeVar("T")


class _Made(NamedTuple, Generic[T]):
    seq: int  # the last event in it
    summary: T


class Summaries(Generic[T]):
    """A summary of each study's view. Where no events came, asking again folds nothing and touches no view.

    A summary stands until the next event: whoever reads it brings what depends on the clock up to date.
    """

    def __init__(self, store: Store, views: Views, make: Callable[[View], T], most: int = KEPT_SUMMARIES) -> None:
        self._store, self._views, self._make, self._most = store, views, make, most
        self._lock = threading.Lock()
        self._made: OrderedDict[str, _Made[T]] = OrderedDict()

    def of(self, study_ids: Sequence[str]) -> dict[str, T]:
        """By id, in their order; without those deleted in the meantime."""
        lasts = self._store.last_seqs(study_ids)
        summaries: dict[str, T] = {}
        for study_id in study_ids:
            if study_id in lasts:
                with suppress(NotFound):
                    summaries[study_id] = self._up_to(lasts[study_id], study_id)
            else:
                self.forget(study_id)
        return summaries

    def _up_to(self, last: int, study_id: str) -> T:
        """With the event of this number in it."""
        with self._lock:
            made = self._made.get(study_id)
            if made is not None and made.seq >= last:
                self._made.move_to_end(study_id)
                return made.summary
        with self._views.read(study_id) as view:
            made = _Made(view.seq, self._make(view))
        with self._lock:
            self._made[study_id] = made
            self._made.move_to_end(study_id)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return made.summary

    def forget(self, study_id: str) -> None:
        with self._lock:
            self._made.pop(study_id, None)
