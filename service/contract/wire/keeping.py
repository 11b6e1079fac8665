"""What the process that backs up, restores or migrates a home says at its end, in one line on standard output."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class Kept(BaseModel):
    """What it did, in numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    studies: int = Field(description="that were copied")
    events: int = Field(description="of their logs")
    files: int = Field(description="of trials and code")
    bytes: int = Field(description="of the backup, or of the file that was moved")


class NotKept(BaseModel):
    """Why it did nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    error: str = Field(description="in words for people")


SAID: TypeAdapter[Kept | NotKept] = TypeAdapter(Kept | NotKept)
