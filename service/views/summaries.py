"""What a list of studies shows of each: kept for far more studies than views are, made again when a log has grown."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from service.contract.wire.errors import NotFound, Unreadable
from service.contract.wire.events import StudyState
from service.store.protocol import Store
from service.views.cache import Views
from service.views.kept import KeptSummaries, Made
from service.views.unreadable import UnreadableStudy
from service.views.view import View

KEPT_SUMMARIES = 10_000
BREATH_SECONDS = 0.005  # between two studies, in which others are answered
T = TypeVar("T")


class Summaries(Generic[T]):
    """A summary of each study's view. Where no events came, asking again folds nothing and touches no view.

    A summary stands until the next event: whoever reads it brings what depends on the clock up to date.
    """

    def __init__(
        self,
        store: Store,
        views: Views,
        make: Callable[[View], T],
        make_unreadable: Callable[[UnreadableStudy], T],
        most: int = KEPT_SUMMARIES,
        kept: KeptSummaries[T] | None = None,
    ) -> None:
        self._store, self._views, self._most = store, views, most
        self._make, self._make_unreadable, self._kept_before = make, make_unreadable, kept
        self._lock = threading.Lock()
        self._made: OrderedDict[str, Made[T]] = OrderedDict()

    def of(self, study_ids: Sequence[str]) -> dict[str, T]:
        """By id, in their order; without those deleted in the meantime."""
        lasts = self._store.last_seqs(study_ids)
        self._recall(lasts)
        summaries: dict[str, T] = {}
        for study_id in study_ids:
            if study_id in lasts:
                with suppress(NotFound):
                    summaries[study_id] = self._up_to(lasts[study_id], study_id)
            else:
                self.forget(study_id)
        return summaries

    def make_all(self, stopping: threading.Event) -> None:
        """Of every study that has ended, the newest last, whose views then stay: the first list need not wait."""
        ended = [row.id for state in StudyState if state.is_ended() for row in self._store.in_state(state)]
        self._recall(self._store.last_seqs(ended))
        for study_id in ended:
            if not self._knows(study_id):
                self.of([study_id])
                if stopping.wait(BREATH_SECONDS):
                    return

    def _knows(self, study_id: str) -> bool:
        with self._lock:
            return study_id in self._made

    def _recall(self, lasts: Mapping[str, int]) -> None:
        """What was made before this process was."""
        if self._kept_before is not None and (unknown := [each for each in lasts if not self._knows(each)]):
            recalled = self._kept_before.read(unknown)
            with self._lock:
                for study_id, made in recalled.items():
                    if made.seq == lasts[study_id]:
                        self._made.setdefault(study_id, made)

    def _up_to(self, last: int, study_id: str) -> T:
        """With the event of this number in it."""
        with self._lock:
            made = self._made.get(study_id)
            if made is not None and made.seq >= last:
                self._made.move_to_end(study_id)
                return made.summary
        try:
            with self._views.read(study_id) as view:
                made = Made(view.seq, self._make(view))
            if self._kept_before is not None:
                self._kept_before.keep(study_id, made)
        except Unreadable as error:
            made = Made(last, self._make_unreadable(UnreadableStudy.of(self._store.study(study_id), error.message)))
        with self._lock:
            self._made[study_id] = made
            self._made.move_to_end(study_id)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return made.summary

    def forget(self, study_id: str) -> None:
        with self._lock:
            self._made.pop(study_id, None)
