"""Packages that a study's own code asks for: names and versions, nothing that pip reads as an option or address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

FILE = "requirements.txt"
MOST_REQUIREMENTS = 64

_NAME = r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"
_EXTRAS = rf"(\[{_NAME}(, ?{_NAME})*\])?"
_VERSION = r"(===|==|~=|!=|<=|>=|<|>) ?[A-Za-z0-9.*+!_-]+"
_WHOLE = rf"^{_NAME}{_EXTRAS}( ?{_VERSION}( ?, ?{_VERSION})*)?$"  # PEP 508 without addresses and markers


def _checked(requirement: str) -> str:
    if not re.fullmatch(_WHOLE, requirement) or requirement.endswith("\n"):
        rule = "must be the name of a package with its version, as einops==0.8.1; no option, address, file or marker"
        raise ValueError(f"{rule}, got {requirement[:80]!r}")
    return requirement


# Next year it is the same package only where its exact version is asked for.
Requirement = Annotated[
    str,
    Field(max_length=200, json_schema_extra={"pattern": _WHOLE, "examples": ["einops==0.8.1"]}),
    AfterValidator(_checked),
]
_LIST = TypeAdapter(Annotated[list[Requirement], Field(max_length=MOST_REQUIREMENTS)])


def asked_for(requirements: object) -> list[str]:
    """The packages that a study names; none also where they are wrong: then their own field says so."""
    try:
        return _LIST.validate_python(requirements, strict=True) if requirements else []
    except ValidationError:
        return []


def lines_of(text: str) -> list[str]:
    """What a requirements.txt asks for, without its comments."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def joined(content: bytes, asked: Sequence[str]) -> bytes:
    """A requirements.txt that also asks for these; as it is where it does already."""
    there = lines_of(content.decode(errors="replace"))
    missing = [each for each in dict.fromkeys(asked) if each not in there]
    if not missing:
        return content
    begun = content if not content or content.endswith(b"\n") else content + b"\n"
    return begun + "".join(f"{each}\n" for each in missing).encode()
