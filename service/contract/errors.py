"""The error tree. Domain code raises these; `service.app` turns them into the one HTTP shape.

ParetoscopeError
├── InvalidInput      422  the request breaks a rule of the contract
├── NotFound          404  no such study, trial, figure
├── Conflict          409  the state of the study does not allow it
├── TooLarge          413  the body is over the limit
├── Unauthorized      401  token missing or wrong
└── Unavailable       503  Ray or the store cannot be reached
"""

from __future__ import annotations

from pydantic import BaseModel


class Detail(BaseModel):
    """One broken rule: where it is, what the rule says, and the line when the source was YAML."""

    path: str
    message: str
    line: int | None = None


class ParetoscopeError(Exception):
    """Base of every error a user can act on."""

    code = "error"
    status = 500

    def __init__(self, message: str, details: list[Detail] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or []

    def public(self) -> dict[str, object]:
        """What stands under "error" in every error answer."""
        details = [detail.model_dump(exclude_none=True) for detail in self.details]
        return {"code": self.code, "message": self.message, "details": details}


class InvalidInput(ParetoscopeError):
    code, status = "invalid_input", 422


class NotFound(ParetoscopeError):
    code, status = "not_found", 404


class Conflict(ParetoscopeError):
    code, status = "conflict", 409


class TooLarge(ParetoscopeError):
    code, status = "too_large", 413


class Unauthorized(ParetoscopeError):
    code, status = "unauthorized", 401


class Unavailable(ParetoscopeError):
    code, status = "unavailable", 503
