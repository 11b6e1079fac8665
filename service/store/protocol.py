"""What the service needs of a store: studies, and an append-only log of events for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from service.contract.wire.events import Event, StudyState, body_of

Spec = dict[str, Any]  # a checked study as the contract dumps it: JSON, of any depth
Unless = Callable[[StudyState], str | None]


class StudyRow(NamedTuple):
    """A study as it was submitted, and the state that its log leads to."""

    id: str
    spec: Spec
    state: StudyState
    created_at: str


class Logged(NamedTuple):
    """An event with its place in the study's log: 1, 2, 3 … without holes."""

    seq: int
    at: str
    event: Event

    def public(self) -> dict[str, object]:
        """As watchers of the study get it."""
        return {"seq": self.seq, "at": self.at, "kind": self.event.kind, **body_of(self.event)}


class Appended(NamedTuple):
    accepted: int
    duplicates: int


class Store(Protocol):
    """`append` is the only way anything changes in a study; listeners hear of it after the commit.

    Several processes may write at once: sequence numbers come from the store itself. Every call raises Unavailable
    while the store does not answer. `tests/service/store` holds every implementation to the same behaviour.
    """

    listeners: list[Callable[[str], None]]  # each is given the study's id

    def create(self, study_id: str, spec: Spec, key: str | None) -> tuple[StudyRow, bool]:
        """A new study, or the one that this idempotency key made before: then False, and Conflict for another spec."""
        ...

    def study(self, study_id: str) -> StudyRow:
        """NotFound when there is none."""
        ...

    def list_studies(self, state: StudyState | None, limit: int, after: str | None) -> list[StudyRow]:
        """Newest first; `after` is the id of the last one seen."""
        ...

    def in_state(self, state: StudyState) -> list[StudyRow]:
        """All studies in a state, oldest first."""
        ...

    def last_seqs(self, study_ids: Sequence[str]) -> dict[str, int]:
        """The number of each study's last event."""
        ...

    def append(self, study_id: str, events: Sequence[Event], unless: Unless = lambda state: None) -> Appended:
        """Add events; those whose uid is known change nothing.

        Conflict when the study has ended, or when `unless` gives a reason against its state; nothing is added after an
        event that ends the study.
        """
        ...

    def read(self, study_id: str, after: int, limit: int | None = None) -> Iterator[Logged]:
        """The events after a number, in order, one by one."""
        ...

    def delete(self, study_id: str) -> None:
        """The study with its log; Conflict while it runs."""
        ...

    def check(self) -> None:
        """Raise when the store cannot be read."""
        ...

    def close(self) -> None: ...
