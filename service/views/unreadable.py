"""What is left of a study where no view can be made of it."""

from __future__ import annotations

from typing import NamedTuple

from service.contract.wire.events import StudyState
from service.store.protocol import Spec, StudyRow


class UnreadableStudy(NamedTuple):
    """What is stored of it, and why this version cannot read it."""

    id: str
    spec: Spec
    state: StudyState
    created_at: str
    lost_events: int
    why: str

    @classmethod
    def of(cls, row: StudyRow, why: str) -> UnreadableStudy:
        return cls(row.id, row.spec, row.state, row.created_at, row.lost_events, why)
