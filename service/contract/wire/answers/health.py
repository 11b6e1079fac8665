"""Whether the service is there and can work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.wire.answers.answer import Answer

INSTANCE = "Paretoscope-Instance"  # the header of every answer that says which service gave it


@dataclass(slots=True, kw_only=True)
class Alive(Answer):
    """The process answers."""

    status: Annotated[Literal["ok"], Field(description="always ok: otherwise there is no answer")]


@dataclass(slots=True, kw_only=True)
class Ready(Answer):
    """A study would run."""

    status: Annotated[Literal["ready"], Field(description="always ready: otherwise the answer is an error")]
    instance: Annotated[str, Field(description="which service this is: that of its database, also after a restart")]
