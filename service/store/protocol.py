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
    unreadable: str | None = None  # why its spec cannot be read; it is then as it was stored, or empty
    lost_events: int = 0  # that its log once had, and has no more


class Logged(NamedTuple):
    """An event with its place in the study's log: 1, 2, 3 … without holes."""

    seq: int
    at: str
    event: Event

    def public(self) -> dict[str, object]:
        """As watchers of the study get it."""
        return {"seq": self.seq, "at": self.at, "kind": self.event.kind, **body_of(self.event)}


class Refused(NamedTuple):
    """An event that was not taken, and why."""

    uid: str
    reason: str


class Appended(NamedTuple):
    accepted: int
    duplicates: int
    refused: tuple[Refused, ...] = ()


class Store(Protocol):
    """`append` is the only way anything changes in a study; listeners hear of it after the commit.

    Several processes may write at once: sequence numbers come from the store itself. Every call raises Unavailable
    while the store does not answer, NoSpace while its disk is full, Unreadable where it is damaged.
    `tests/service/store` holds every implementation to the same behaviour.
    """

    listeners: list[Callable[[str], None]]  # each is given the study's id
    # Told of what another process has written to the same database: the study, and its new state, `deleted`, or
    # nothing where its state is the same. The listeners above hear of it too.
    from_others: list[Callable[[str, str], None]]

    def leads(self) -> bool:
        """Whether this process, of all that serve the database, is the one that hands studies to Ray."""
        ...

    def create(self, study_id: str, spec: Spec, key: str | None) -> tuple[StudyRow, bool]:
        """A new study, or the one that this idempotency key made before: then False, and Conflict for another spec."""
        ...

    def has_key(self, key: str) -> bool:
        """Whether a study was made with this idempotency key."""
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

    def using_code(self) -> dict[str, list[str]]:
        """Studies that run code of their own, oldest first, by its hash."""
        ...

    def last_seqs(self, study_ids: Sequence[str]) -> dict[str, int]:
        """The number of each study's last event."""
        ...

    def append(
        self,
        study_id: str,
        events: Sequence[Event],
        unless: Unless = lambda state: None,
        job: str | None = None,
    ) -> Appended:
        """Add events; those whose uid is known change nothing, and those that may not follow are refused one by one.

        `service.contract.wire.transitions` says what may follow. Conflict when the state of the study allows none of
        them, when `unless` gives a reason against it, or when `job`, which sends them, has been replaced by another.
        """
        ...

    def read(self, study_id: str, after: int, limit: int | None = None) -> Iterator[Logged]:
        """The events after a number, in order, one by one; Unreadable at one that this version does not know."""
        ...

    def delete(self, study_id: str) -> None:
        """The study with its log; Conflict while it runs."""
        ...

    def check(self) -> None:
        """Raise when the store cannot be read."""
        ...

    def size_bytes(self) -> int:
        """How large it is on disk."""
        ...

    def close(self) -> None: ...
