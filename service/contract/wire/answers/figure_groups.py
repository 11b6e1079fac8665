"""Where figures stand on a page: the main ones above, the others in a tab for each group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from service.contract.wire.answers.answer import Answer

GroupName = Literal["main", "cost", "sensitivity", "robustness", "curves", "weights", "codes", "runs"]

FRONT = "pareto-front"
BESIDE_THE_FRONT = "accuracy-by-method"
ROW_PER_ARM = ("accuracy-by-method", "convergence")


@dataclass(slots=True, kw_only=True)
class FigureGroup(Answer):
    """A group of figures."""

    name: Annotated[GroupName, Field(description="as the figures' `group`")]
    title: Annotated[str, Field(description="of its tab")]
    is_tab: Annotated[bool, Field(description="whether it is a tab; the others stand above the tabs")] = True


GROUPS = (
    FigureGroup(name="main", title="Main figures", is_tab=False),
    FigureGroup(name="cost", title="Cost"),
    FigureGroup(name="sensitivity", title="Sensitivity"),
    FigureGroup(name="robustness", title="Robustness"),
    FigureGroup(name="curves", title="Curves"),
    FigureGroup(name="weights", title="Weights"),
    FigureGroup(name="codes", title="Codes"),
    FigureGroup(name="runs", title="Runs"),
)
