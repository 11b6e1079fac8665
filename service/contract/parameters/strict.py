"""The base of every part of a study: strict types, no unknown keys, and errors that list the known ones."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError


def _describe_name(schema: dict[str, Any]) -> None:
    """Says what a `name` is for; which method, data set or model it is, it says itself."""
    name = schema["properties"].get("name", {})
    if "const" in name:
        name.setdefault("description", "selects this one among its kind")


class Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        json_schema_extra=_describe_name,
        defer_build=True,  # a study is checked as a whole: most parts of it are never built by themselves
    )

    @model_validator(mode="before")
    @classmethod
    def _name_the_known_keys(cls, value: Any) -> Any:
        if isinstance(value, dict):
            unknown = [key for key in value if key not in cls.model_fields]
            if unknown:
                raise PydanticCustomError(
                    "unknown_key",
                    "unknown key {key}; known keys: {known}",
                    {"key": str(unknown[0]), "known": ", ".join(cls.model_fields)},
                )
        return value
