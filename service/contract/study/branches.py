"""A choice of weightings: a search chooses one of them first, then values for what that one alone has."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, field_validator

from service.contract.methods.weightings import OfCurves, Weighting
from service.contract.parameters.axes import Keyed
from service.contract.parameters.with_axes import TakesAxes

MOST_BRANCHES = 64


def _is_no_choice(value: Any) -> Any:
    if isinstance(value, dict) and "choice" in value:
        raise ValueError("a choice of weightings holds weightings, not another choice: list them all in one")
    return value


def _is_one_point(weighting: Weighting) -> Weighting:
    if isinstance(weighting, OfCurves):
        rule = "a search is told one point per trial, and this weighting has a curve of them: give it an arm of its own"
        raise ValueError(f"{rule}, got {weighting.name!r}")
    return weighting


Branch = Annotated[Weighting, TakesAxes(), BeforeValidator(_is_no_choice), AfterValidator(_is_one_point)]


class WeightingChoice(Keyed):
    """Several weightings with ranges and choices of their own, of which a search tries one in each trial."""

    known = ("choice",)
    name: ClassVar[str] = "choice"

    choice: list[Branch] = Field(
        max_length=MOST_BRANCHES, description="two weightings or more, each by its name and what is searched in it"
    )

    @field_validator("choice")
    @classmethod
    def _can_be_told_apart(cls, branches: list[Weighting]) -> list[Weighting]:
        names = [branch.name for branch in branches]
        if len(names) < 2:
            raise ValueError(f"a choice needs two weightings at least, got {', '.join(names) or 'none'}")
        if twice := [name for i, name in enumerate(names) if name in names[:i]]:
            raise ValueError(f"the weightings of a choice are told apart by their names, {twice[0]!r} appears twice")
        return branches

    @property
    def needs_gram(self) -> bool:
        """Whether one of them does."""
        return any(branch.needs_gram for branch in self.choice)

    @property
    def metrics(self) -> tuple[str, ...]:
        """What one of them adds to a trial's metrics."""
        return tuple(dict.fromkeys(name for branch in self.choice for name in getattr(branch, "metrics", ())))


def _kind(value: Any) -> str:
    chosen = isinstance(value, WeightingChoice) or (isinstance(value, dict) and "choice" in value)
    return "branches" if chosen else "weighting"


Weighed = Annotated[
    Annotated[Weighting, TakesAxes(), Tag("weighting")] | Annotated[WeightingChoice, Tag("branches")],
    Discriminator(_kind),
]
