"""The files that a study can be taken home as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from service.contract.wire.answers.answer import Answer


@dataclass(slots=True, kw_only=True)
class Download(Answer):
    """A file of a study."""

    title: Annotated[str, Field(description="what it is, in words for people")]
    address: Annotated[str, Field(description="below the study's own address")]


DOWNLOADS = (
    Download(title="Report (one HTML file)", address="report"),
    Download(title="Trials as CSV", address="export?format=csv"),
    Download(title="Reports as CSV", address="export?format=csv&table=reports"),
    Download(title="Trials as Parquet", address="export?format=parquet"),
    Download(title="Comparison as LaTeX", address="export?format=latex"),
    Download(title="Everything as JSON", address="export?format=json"),
)
