"""The views in use: each folded once, advanced by the events that came since; the least recently used leaves."""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple

from service.contract.wire.errors import NotFound, Unreadable
from service.contract.wire.events import StudyState
from service.store.protocol import Store
from service.views.fold import StudyView

KEPT_VIEWS = 256


class _Entry(NamedTuple):
    """A view, and the lock that keeps it still while it is read."""

    lock: threading.RLock
    view: StudyView


@contextmanager
def _uncollected() -> Iterator[None]:
    """A long log makes many objects and no cycles; to look for cycles among them takes a sixth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Views:
    """At most this many views, one lock for each so that a fold never runs twice."""

    def __init__(self, store: Store, most: int = KEPT_VIEWS) -> None:
        self._store, self._most = store, most
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    @contextmanager
    def read(self, study_id: str) -> Iterator[StudyView]:
        """The up-to-date view, held still while it is read."""
        lock, view = self._known(study_id) or self._begun(study_id)
        with lock:
            try:
                with _uncollected():
                    for logged in self._store.read(study_id, after=view.seq):
                        view.apply(logged)
            except Unreadable:  # half of a log must not pass for all of it when somebody asks again
                self.forget(study_id)
                raise
            yield view

    def _known(self, study_id: str) -> _Entry | None:
        with self._lock:
            entry = self._entries.get(study_id)
            if entry is not None:
                self._entries.move_to_end(study_id)
        return entry

    def _begun(self, study_id: str) -> _Entry:
        """A view with nothing folded in yet; what was not used for longest makes room for it."""
        with _uncollected():
            begun = _Entry(threading.RLock(), StudyView(self._store.study(study_id)))
        with self._lock:
            entry = self._entries.setdefault(study_id, begun)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        try:
            self._store.study(study_id)
        except NotFound:  # deleted while it was read: it must not stay as if it were there
            self.forget(study_id)
            raise
        return entry

    def warm(self, count: int, stopping: threading.Event) -> None:
        """Fold the newest studies before anyone asks: after a restart a large log takes seconds."""
        for row in self._store.list_studies(None, count, None):
            if stopping.is_set():
                return
            with suppress(NotFound, Unreadable), self.read(row.id):  # deleted in the meantime
                pass

    def finished(self, most: int, fits: Callable[[Mapping[str, object]], bool]) -> list[str]:
        """Of so many studies that finished last those whose spec fits, as it was kept; newest first."""
        return [row.id for row in self._store.list_studies(StudyState.FINISHED, most, None) if fits(row.spec)]

    def forget(self, study_id: str) -> None:
        with self._lock:
            self._entries.pop(study_id, None)

    def trial_ids(self, study_id: str) -> dict[str, str]:
        """Arm by trial id, which no event changes: drivers need not wait for whoever reads the view just now."""
        entry = self._known(study_id)
        if entry is None:
            with self.read(study_id) as view:
                return view.arms
        self._store.study(study_id)
        return entry.view.arms

    def names(self, study_id: str) -> frozenset[str]:
        """Of metrics that were reported, as far as the view has been folded: more may have come since."""
        entry = self._known(study_id)
        return frozenset() if entry is None else frozenset(entry.view.names.copy())

    def arms_elsewhere(self, study_id: str) -> frozenset[str]:
        """Arms whose trials are trained elsewhere, which no event changes either."""
        entry = self._known(study_id)
        if entry is not None:
            return entry.view.study.arms_elsewhere
        with self.read(study_id) as view:
            return view.study.arms_elsewhere

    def epochs(self, study_id: str) -> dict[str, int]:
        """By arm, as far as the view has been folded: an extension may have added some since."""
        entry = self._known(study_id)
        if entry is not None:
            return entry.view.epochs
        with self.read(study_id) as view:
            return view.epochs
