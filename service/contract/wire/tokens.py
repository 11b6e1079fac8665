"""Tokens: what each may do, for how long, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from service.contract.wire.answers.answer import Answer, Time
from service.contract.wording.plain_text import PlainText

Scope = Literal["read", "write", "code", "ingest", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

SHORTEST = 16  # characters of a token that somebody chose
TOO_SHORT = f"must have at least {SHORTEST} characters, or it can be guessed; `openssl rand -hex 32` makes a good one"

Days = Annotated[float, Field(gt=0, le=3650)]
Most = Annotated[int, Field(ge=0, lt=2**31)]


class NewToken(BaseModel):
    """A token to be made."""

    model_config = ConfigDict(extra="forbid", strict=True)
    name: PlainText = Field(min_length=1, max_length=80, description="who or what it is for")
    scopes: list[Scope] = Field(min_length=1, max_length=len(SCOPES), description="what it may do")
    days: Days | None = Field(None, description="how long it is good for; none: until it is revoked")
    studies_at_once: Most | None = Field(None, description="studies of it that have not ended; none: any number")
    trials: Most | None = Field(None, description="trials of those studies together; none: any number")
    bytes: Annotated[int, Field(ge=0, lt=2**53)] | None = Field(
        None, description="files of all its studies and its code together; none: as much as there is room for"
    )


@dataclass(slots=True, kw_only=True)
class TokenAnswer(Answer):
    """A token without its secret, which only its owner has."""

    id: Annotated[str, Field(description="by which it is revoked")]
    name: Annotated[str, Field(description="who or what it is for")]
    scopes: Annotated[list[Scope], Field(description="what it may do")]
    created_at: Annotated[Time, Field(description="when it was made")]
    expires_at: Annotated[Time | None, Field(description="from when it is refused; none: never")]
    studies_at_once: Annotated[int | None, Field(description="studies of it that have not ended; none: any number")]
    trials: Annotated[int | None, Field(description="trials of those studies together; none: any number")]
    bytes: Annotated[int | None, Field(description="files of all its studies and its code together; none: no limit")]


@dataclass(slots=True, kw_only=True)
class TokenList(Answer):
    """All that have not expired, oldest first; not those of studies under way."""

    tokens: Annotated[list[TokenAnswer], Field(description="without their secrets")]


@dataclass(slots=True, kw_only=True)
class CreatedToken(TokenAnswer):
    """A new token; this answer is the only place where its secret is ever shown."""

    token: Annotated[str, Field(description="the secret: sent as 'Authorization: Bearer …'")]


@dataclass(slots=True, kw_only=True)
class HandedToken(Answer):
    """What a driver gets for its code: a token for its study alone."""

    token: Annotated[str, Field(description="reads this study, and sends its reports and files")]
