"""What every answer is made of."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


@dataclass(slots=True, kw_only=True)
class Answer:
    """The base of every answer: nothing is sent that is not described.

    Answers are plain dataclasses, which pydantic documents and writes: ten thousand trials are made in milliseconds.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", defer_build=True)

    def fields(self) -> dict[str, Any]:
        """By name, for an answer that says the same and more."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class AsItIs:
    """Sent as it is. The log and the contract have checked it; ten thousand trials are not checked again to be read."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        self._described = handler(source)
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(self._described)


def two(kind: str) -> WithJsonSchema:
    """A pair, in words that every reader of schemas knows: few know `prefixItems`."""
    return WithJsonSchema({"type": "array", "items": {"type": kind}, "minItems": 2, "maxItems": 2})


# The maps among the answers: their keys are not known beforehand.
SentMetrics = Annotated[dict[str, int | float | None], AsItIs()]
SentConfig = Annotated[dict[str, object], AsItIs()]
Intervals = Annotated[dict[str, Annotated[tuple[float, float], two("number")]], AsItIs()]
WrittenSpec = Annotated[dict[str, Any], AsItIs()]

# The JSON of a study that the contract has accepted: its schema is the one that a study is submitted by.
DESCRIBED_BY = "x-described-by"
SentSpec = Annotated[dict[str, Any], AsItIs(), WithJsonSchema({DESCRIBED_BY: "Study"})]

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
