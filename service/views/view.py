"""What every reader reads: a study, or several as one, at one state of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar, cast

from service.contract.study.study import Study
from service.contract.wire.events import StudyState
from service.store.protocol import Spec
from service.views.clock import Clock
from service.views.notes import Notes
from service.views.trial import TrialView

MOST_MEMOS = 64
T = TypeVar("T")


class Memo:
    """What was computed from one state of the log; the next event makes it old."""

    def __init__(self) -> None:
        self._kept: dict[str, object] = {}

    def __call__(self, name: str, compute: Callable[[], T]) -> T:
        if name not in self._kept:
            if len(self._kept) >= MOST_MEMOS:
                self._kept.clear()
            self._kept[name] = compute()
        return cast(T, self._kept[name])

    def clear(self) -> None:
        self._kept.clear()


class View(Protocol):
    """A study as the log tells it, or an overlay of several. `seq` is the last event in it."""

    id: str
    spec: Spec
    study: Study
    metrics: list[str]  # whatever some trial reports
    state: StudyState
    reason: str | None
    interrupted: str | None  # why nobody trains it just now, though it runs
    created_at: str
    started_at: str | None
    ended_at: str | None
    clock: Clock
    lost_events: int  # that the log once had
    notes: Notes
    seq: int
    alike: bool  # every trial was measured on the same data
    attacked_alike: bool  # and under the same attacks
    memo: Memo

    @property
    def trials(self) -> Mapping[str, TrialView]:
        """Those that are compared, in the order of the spec."""
        ...

    @property
    def all_trials(self) -> Mapping[str, TrialView]:
        """Also those that verify a curve, and count for no front."""
        ...

    @property
    def ended(self) -> Sequence[str]:
        """Those that are compared, in the order in which they ended."""
        ...
