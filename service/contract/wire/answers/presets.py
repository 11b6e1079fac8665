"""Presets: studies that come with Paretoscope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from service.contract.wire.answers.answer import Answer, SentSpec


@dataclass(slots=True, kw_only=True)
class Preset(Answer):
    """A study in a YAML file that opens with a comment."""

    name: Annotated[str, Field(description="of its file")]
    doc: Annotated[str, Field(description="the comment: what it asks, what to expect, how long it takes")]
    text: Annotated[str, Field(description="the file as it is")]
    spec: Annotated[SentSpec, Field(description="the study in it, before any default")]


@dataclass(slots=True, kw_only=True)
class PresetList(Answer):
    """Every preset there is."""

    presets: Annotated[list[Preset], Field(description="by name")]
