"""What a user takes home as JSON: everything about a study, and the methods in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from service.contract.wire.answers.answer import Answer
from service.contract.wire.answers.comparison import ComparisonAnswer
from service.contract.wire.answers.studies import StudyAnswer
from service.contract.wire.answers.trials import TrialWithReports


@dataclass(slots=True, kw_only=True)
class WholeStudy(Answer):
    """Everything about a study."""

    paretoscope: Annotated[str, Field(description="the version that wrote this")]
    study: Annotated[StudyAnswer, Field(description="with its spec")]
    comparison: Annotated[ComparisonAnswer, Field(description="its arms side by side")]
    trials: Annotated[list[TrialWithReports], Field(description="all of them, in the order of the spec")]


@dataclass(slots=True, kw_only=True)
class CitedPaper(Answer):
    """A paper, and what of the study it is for."""

    key: Annotated[str, Field(description="of its BibTeX entry")]
    reason: Annotated[str, Field(alias="for", description="what of the study it is for, as: weighting mib")]


@dataclass(slots=True, kw_only=True)
class MethodsAnswer(Answer):
    """What was done, in words that can go into a paper."""

    paragraph: Annotated[str, Field(description="with citations, as [@key]")]
    bibtex: Annotated[str, Field(description="the entries of all keys")]
    citations: Annotated[list[CitedPaper], Field(description="in the order of the paragraph")]
