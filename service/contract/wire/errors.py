"""The error tree, and the one shape in which errors are answered. Domain code raises; `service.web.errors` answers.

ParetoscopeError
├── InvalidInput      422  the request breaks a rule of the contract
├── NotFound          404  no such study, trial, figure
├── Conflict          409  the state of the study does not allow it
│   └── Unreadable    409  what is stored of the study cannot be read by this version
├── OtherVersion      412  who asks has a version that the service does not work with
├── TooLarge          413  the body is over the limit
├── TooSlow           408  the body did not arrive in time
├── UnsupportedType   415  the body is of a type that the route does not take
├── Unauthorized      401  token missing or wrong
├── Forbidden         403  the token does not allow it, or a stranger's page asked
├── TooManyRequests   429  too often in a short time
├── Unavailable       503  Ray or the store cannot be reached
└── NoSpace           507  the disk of the store is full
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.wire.answers.answer import Answer

Code = Literal[
    "invalid_input",
    "not_found",
    "conflict",
    "other_version",
    "too_large",
    "too_slow",
    "unsupported_type",
    "unauthorized",
    "forbidden",
    "too_many_requests",
    "unavailable",
    "unreadable",
    "no_space",
    "method_not_allowed",
    "internal",
]


@dataclass(slots=True, kw_only=True)
class Detail(Answer):
    """One broken rule."""

    path: Annotated[str, Field(description="where, as arms[0].weighting.beta; empty: the whole")]
    message: Annotated[str, Field(description="what the rule says, and the value that breaks it")]
    line: Annotated[
        int | None, Field(exclude_if=lambda line: line is None, description="of the YAML text; only where there is one")
    ] = None


@dataclass(slots=True, kw_only=True)
class ErrorBody(Answer):
    """What went wrong."""

    code: Annotated[Code, Field(description="for programs")]
    message: Annotated[str, Field(description="for people: names the parameter, the rule and the value")]
    details: Annotated[
        list[Detail], Field(description="every broken rule, where there are several or they have a place")
    ]


@dataclass(slots=True, kw_only=True)
class ErrorAnswer(Answer):
    """The shape of every error."""

    error: Annotated[ErrorBody, Field(description="what went wrong")]


class ParetoscopeError(Exception):
    """Base of every error a user can act on."""

    code: Code = "internal"
    status = 500

    def __init__(self, message: str, details: list[Detail] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or []

    def public(self) -> ErrorBody:
        """What stands under "error" in every error answer."""
        return ErrorBody(code=self.code, message=self.message, details=self.details)


class InvalidInput(ParetoscopeError):
    """The request breaks a rule of the contract."""

    code, status = "invalid_input", 422


class NotFound(ParetoscopeError):
    """There is no such thing."""

    code, status = "not_found", 404


class Conflict(ParetoscopeError):
    """The state of the study does not allow it."""

    code: Code = "conflict"
    status = 409


class Unreadable(Conflict):
    """What is stored of the study cannot be read by this version, or is damaged."""

    code = "unreadable"


class OtherVersion(ParetoscopeError):
    """Who asks said to have a version that the service does not work with."""

    code, status = "other_version", 412


class TooLarge(ParetoscopeError):
    """The body is over the limit of its route."""

    code, status = "too_large", 413


class TooSlow(ParetoscopeError):
    """The body did not arrive in time."""

    code, status = "too_slow", 408


class UnsupportedType(ParetoscopeError):
    """The body is of a type that the route does not take."""

    code, status = "unsupported_type", 415


class Unauthorized(ParetoscopeError):
    """The token is missing or wrong."""

    code, status = "unauthorized", 401


class Forbidden(ParetoscopeError):
    """The token does not allow it, or a page of another site asked for it."""

    code, status = "forbidden", 403


class TooManyRequests(ParetoscopeError):
    """Too often in a short time; the header Retry-After says when to try again."""

    code, status = "too_many_requests", 429

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(f"{message}: try again in {seconds} s")
        self.seconds = seconds


class Unavailable(ParetoscopeError):
    """Ray or the store cannot be reached, for now."""

    code, status = "unavailable", 503


class NoSpace(ParetoscopeError):
    """The disk of the store is full, for now."""

    code, status = "no_space", 507
