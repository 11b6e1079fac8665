"""Whether the service is there and can work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.wire.answers.answer import Answer


@dataclass(slots=True, kw_only=True)
class Alive(Answer):
    """The process answers."""

    status: Annotated[Literal["ok"], Field(description="always ok: otherwise there is no answer")]


@dataclass(slots=True, kw_only=True)
class Ready(Answer):
    """A study would run."""

    status: Annotated[Literal["ready"], Field(description="always ready: otherwise the answer is an error")]
