"""docs/coverage.md: every row has a status, what it names exists, and every preset of a paper has a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.contract.methods.papers import entries

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "coverage.md").read_text()
ROWS = [line.strip("|").split("|") for line in TEXT.splitlines() if line.startswith("| ") and "| status |" not in line]
STATUSES = ("here", "in small", "differs", "not yet", "cannot here")
OTHERS = (  # presets that are about no paper of these
    "beta-vs-mib-digits beta-vs-mib-fashion gaussian-truth convex-transforms two-garments-front arml-harmful-auxiliary "
    "concave-front-others constrained-search enough-gaussian equal-seconds front-filling halving-digits one-training "
    "which-weighting"
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip()[:40])
def test_every_row_has_a_status_and_a_place_unless_nothing_runs(row: list[str]) -> None:
    what, status, where = (cell.strip() for cell in row)
    assert what and status.startswith(STATUSES), status
    assert where or status.startswith("not yet"), what


def test_presets_and_papers_that_are_named_exist() -> None:
    presets = {path.stem for path in (ROOT / "configs").glob("*.yaml")}
    named = set(re.findall(r"preset `([\w-]+)`", TEXT))
    assert named and named <= presets
    assert presets <= named | set(OTHERS.split()), "a new preset: give it a row, or say that it is of no paper"
    assert set(re.findall(r"`([a-z]+\d{4}[a-z]+)`", TEXT)) <= set(entries())
