"""Figures: which there are, what a reader may choose in each, and one as Plotly takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.wire.answers.answer import Answer, AsItIs, two
from service.contract.wire.answers.figure_groups import GroupName
from service.contract.wire.plotly import Layout, Trace


@dataclass(slots=True, kw_only=True)
class FigureEntry(Answer):
    """A figure that a study may have."""

    name: Annotated[str, Field(description="as in the address of the figure")]
    title: Annotated[str, Field(description="its heading")]
    doc: Annotated[str, Field(description="what it shows, in a sentence")]
    group: Annotated[GroupName, Field(description="the tab of the study's page that it stands in")]


@dataclass(slots=True, kw_only=True)
class FigureControl(Answer):
    """A choice beside a figure."""

    param: Annotated[str, Field(description="the parameter of the query that takes it")]
    label: Annotated[str, Field(description="its label")]
    kind: Annotated[Literal["metric", "choice", "number"], Field(description="what it chooses")]
    options: Annotated[list[Annotated[tuple[str, str], two("string")]], Field(description="each value with its label")]
    default: Annotated[str, Field(description="the value without a choice")]


@dataclass(slots=True, kw_only=True)
class OfferedFigure(FigureEntry):
    """A figure that a study has something for."""

    controls: Annotated[list[FigureControl], Field(description="what a reader may choose in it")]


@dataclass(slots=True, kw_only=True)
class FigureList(Answer):
    """Every figure there is."""

    figures: Annotated[list[FigureEntry], Field(description="in the order of the page")]


@dataclass(slots=True, kw_only=True)
class FigureAnswer(Answer):
    """A figure as Plotly takes it."""

    data: Annotated[list[Trace], AsItIs(), Field(description="Plotly's traces")]
    layout: Annotated[Layout, AsItIs(), Field(description="Plotly's layout; its meta has our own words")]
