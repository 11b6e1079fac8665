"""What people ask to be written about a study or a trial; what they leave out stays as it is."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from service.contract.wire.events import Notes, StudyName, StudyNoted, Tags, TrialNoted


class _Note(BaseModel):
    """What can be said of a study and of a trial alike."""

    model_config = ConfigDict(extra="forbid")
    notes: Annotated[Notes | None, Field(description="in Markdown; an empty text removes them")] = None
    tags: Annotated[Tags | None, Field(description="all of them; an empty list removes them")] = None

    @model_validator(mode="after")
    def _says_something(self) -> _Note:
        if not self.model_dump(exclude_none=True):
            names = ", ".join(type(self).model_fields)
            raise ValueError(f"there is nothing to change: give one of {names}")
        return self


class TrialNote(_Note):
    """Notes and tags of a trial."""

    def noted(self, uid: str, trial: str) -> TrialNoted:
        return TrialNoted(uid=uid, trial=trial, **self.model_dump(exclude_none=True))


class StudyNote(_Note):
    """Name, notes, tags and place in the list of a study."""

    name: Annotated[StudyName | None, Field(description="what it is called from now on")] = None
    pinned: Annotated[bool | None, Field(description="whether it is marked as pinned")] = None
    archived: Annotated[bool | None, Field(description="whether lists leave it out unless they are asked")] = None

    def noted(self, uid: str) -> StudyNoted:
        return StudyNoted(uid=uid, **self.model_dump(exclude_none=True))
