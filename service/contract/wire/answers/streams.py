"""What the stream of a study's events is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from service.contract.wire.answers.answer import Answer

Json = Annotated[str, Field(json_schema_extra={"contentMediaType": "application/json"})]


@dataclass(slots=True, kw_only=True)
class SentEvent(Answer):
    """An event of a study's log, as Server-Sent Events have it."""

    id: Annotated[str, Field(description="its number: 1, 2, 3 … without holes; `Last-Event-ID` takes it")]
    event: Annotated[str, Field(description="its kind")]
    data: Annotated[Json, Field(description="seq, at, kind, and what an event of this kind says")]
