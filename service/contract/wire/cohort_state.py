"""The saved state of a cohort: what stands in the head of its file, and what a driver is told of those that exist.

The file is safetensors: tensors, and this as JSON in its metadata under `cohort`. Nothing of it is ever executed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from service.contract.wire.events import Setting, TrialId

METADATA = "cohort"  # the key of the safetensors metadata
LONGEST_HEAD = 4_000_000
Members = Mapping[str, Mapping[str, Setting]]


def key_of(members: Members) -> str:
    """A state belongs to exactly one composition: these trials, in this order, with these suggested values."""
    text = json.dumps([[trial, sorted(values.items())] for trial, values in members.items()], ensure_ascii=False)
    return "c" + hashlib.sha256(text.encode()).hexdigest()[:16]


class CohortState(BaseModel):
    """How far a cohort had come when it was saved."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    members: dict[TrialId, dict[Annotated[str, Field(max_length=100)], Setting]] = Field(
        min_length=1, max_length=1024, description="its trials in their order, with what a search suggested for each"
    )
    epoch: int = Field(ge=0, lt=2**31, description="the last epoch in it; 0: a script that has not reported yet")
    epochs: int | None = Field(None, ge=1, lt=2**31, description="how many its trials were to have when it was saved")
    seconds: float = Field(ge=0, description="of training until then, all members together")
    failed: list[TrialId] = Field([], description="members that had failed by then")

    @property
    def key(self) -> str:
        return key_of(self.members)

    @property
    def living(self) -> list[str]:
        """Members that had not failed: only they go on from it."""
        return [trial for trial in self.members if trial not in self.failed]

    @property
    def is_final(self) -> bool:
        """Whether it is from the end of the training, and of use only for more epochs."""
        return self.epochs is not None and self.epoch >= self.epochs


class CohortStates(BaseModel):
    """The saved states of a study."""

    model_config = ConfigDict(extra="forbid")
    cohorts: list[CohortState] = Field(description="of cohorts that have not ended")


def head_of(start: bytes) -> CohortState:
    """From the first bytes of a file; ValueError when it is no saved state."""
    length = int.from_bytes(start[:8], "little")
    if not 0 < length <= LONGEST_HEAD or len(start) < 8 + length:
        raise ValueError("it does not begin as a safetensors file does")
    header = json.loads(start[8 : 8 + length])
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get(METADATA), str):
        raise ValueError(f"its metadata has no text {METADATA!r}")
    return CohortState.model_validate_json(metadata[METADATA])
