"""What the process that reads a user's code sends back."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from service.contract.methods.own_description import Described
from service.contract.wire.events import Reason
from service.contract.wording.plain_text import one_line


class CodeRefusal(BaseModel):
    """Why code cannot be used."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    message: Reason = Field(description="what is wrong with it, in words for people")
    file: Annotated[str, Field(max_length=1000), AfterValidator(one_line)] | None = Field(
        None, description="of the code"
    )
    line: Annotated[int, Field(ge=1, lt=2**31)] | None = Field(None, description="of that file")


class CodeReading(BaseModel):
    """What is in it, or why it cannot be used."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    problems: list[Described] = Field([], max_length=64, description="what a study may name of it")
    refusal: CodeRefusal | None = Field(None, description="why it cannot be used; none: it can")
