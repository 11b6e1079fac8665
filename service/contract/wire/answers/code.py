"""Code of your own, as the service knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.wire.answers.answer import Answer

CodeState = Literal["waiting", "described", "refused"]


@dataclass(slots=True, kw_only=True)
class OwnParameterAnswer(Answer):
    """A parameter of a problem or script."""

    name: Annotated[str, Field(description="as a study writes it")]
    kind: Annotated[Literal["bool", "int", "float", "str"], Field(description="the type of its values")]
    choices: Annotated[list[bool | int | float | str] | None, Field(description="the only values it takes")]
    default: Annotated[bool | int | float | str | None, Field(description="its value where a study gives none")]
    required: Annotated[bool, Field(description="whether a study has to give it")]
    optional: Annotated[bool, Field(description="whether it may be null")]
    at_least: Annotated[float | None, Field(description="its least value")]
    above: Annotated[float | None, Field(description="it is larger than this")]
    at_most: Annotated[float | None, Field(description="its largest value")]
    below: Annotated[float | None, Field(description="it is smaller than this")]
    doc: Annotated[str, Field(description="what it means")]


@dataclass(slots=True, kw_only=True)
class OwnMetricAnswer(Answer):
    """A metric that the code declares."""

    name: Annotated[str, Field(description="as it is reported")]
    goal: Annotated[Literal["minimize", "maximize"], Field(description="which way is better")]
    unit: Annotated[str, Field(description="shown behind its values")]
    reference: Annotated[float | None, Field(description="its part of the hypervolume's reference point")]
    doc: Annotated[str, Field(description="what it measures")]
    low: Annotated[float | None, Field(description="the least it can be")]
    high: Annotated[float | None, Field(description="the most it can be")]


@dataclass(slots=True, kw_only=True)
class OwnProblemAnswer(Answer):
    """A problem or a script of the code."""

    name: Annotated[str, Field(description="of the class or function: as a study writes it")]
    kind: Annotated[
        Literal["problem", "script"], Field(description="problem: loss terms; script: a function that trains by itself")
    ]
    doc: Annotated[str, Field(description="its documentation")]
    file: Annotated[str, Field(description="where it stands in the code")]
    line: Annotated[int, Field(description="the line it begins at")]
    terms: Annotated[list[str], Field(description="its loss terms, the main one first")]
    metrics: Annotated[list[OwnMetricAnswer], Field(description="what its trials report")]
    parameters: Annotated[list[OwnParameterAnswer], Field(description="what a study may set")]
    hooks: Annotated[list[str], Field(description="which of the optional methods it has")]
    stacks: Annotated[bool | None, Field(description="whether its members train together; none: not tried")]
    stacking: Annotated[str, Field(description="why they do not, or how much it pays")]


@dataclass(slots=True, kw_only=True)
class CodeAnswer(Answer):
    """Code that was sent, and what is in it once Ray has described it."""

    hash: Annotated[str, Field(description="of its files: what a study names it by")]
    state: Annotated[CodeState, Field(description="waiting: nobody has read it yet; described; refused: see reason")]
    entry: Annotated[str, Field(description="the file that is imported")]
    requirements: Annotated[list[str], Field(description="packages that are installed where it runs")]
    problems: Annotated[list[OwnProblemAnswer], Field(description="what a study may name of it")]
    reason: Annotated[str | None, Field(description="why it was refused, with file and line")]
    file: Annotated[str | None, Field(description="of the code, where it was refused")]
    line: Annotated[int | None, Field(description="of that file")]


@dataclass(slots=True, kw_only=True)
class KeptCode(Answer):
    """Code that the service keeps."""

    hash: Annotated[str, Field(description="of its files: what a study names it by")]
    state: Annotated[CodeState, Field(description="waiting: nobody has read it yet; described; refused")]
    entry: Annotated[str, Field(description="the file that is imported")]
    bytes: Annotated[int, Field(description="on disk")]
    studies: Annotated[list[str], Field(description="that run it, oldest first; where there is none it may be deleted")]


@dataclass(slots=True, kw_only=True)
class CodeList(Answer):
    """All code that was sent and not deleted."""

    code: Annotated[list[KeptCode], Field(description="by hash")]
