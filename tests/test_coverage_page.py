"""docs/coverage.md: every row has a status, what it names exists, and every preset of a paper has a row."""

from __future__ import annotations

import re
from pathlib import Path

import optuna
import pytest

from service.contract.methods.papers import entries

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "coverage.md").read_text()
ROWS = [line.strip("|").split("|") for line in TEXT.splitlines() if line.startswith("| ") and "| status |" not in line]
STATUSES = ("here", "in small", "preset only", "differs", "not yet", "cannot here")
LINK = re.compile(r"\]\(([\w.-]+)\.md(?:#[\w-]+)?\)")
OTHERS = (  # presets that are about no paper of these
    "beta-vs-mib-digits beta-vs-mib-fashion gaussian-truth convex-transforms two-garments-front arml-harmful-auxiliary "
    "concave-front-others constrained-search enough-gaussian equal-seconds front-filling halving-digits one-training "
    "which-weighting"
)


def cells(row: list[str]) -> tuple[str, str, str]:
    what, status, where = (cell.strip() for cell in row)
    return what, status, where


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip()[:40])
def test_every_row_has_a_status_and_a_place_and_says_why_unless_it_is_here(row: list[str]) -> None:
    what, status, where = cells(row)
    assert what and status.startswith(STATUSES), status
    assert LINK.search(where) or "`" in where, f"{what}: no place where it is, or what there is in its stead"
    kind, colon, reason = status.partition(": ")
    assert kind in STATUSES and (kind == "here" or (colon and len(reason.split()) > 3)), f"{what}: no reason"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip()[:40])
def test_only_what_was_kept_is_called_run(row: list[str]) -> None:
    what, status, where = cells(row)
    presets = re.findall(r"preset `([\w-]+)`", where)
    kept = [name for name in presets if (ROOT / "docs" / "findings" / f"{name}.json").exists()]
    if status.startswith("in small"):
        pages = [(ROOT / "docs" / f"{page}.md").read_text() for page in LINK.findall(where)]
        assert any("<!--study: " in page for page in pages), f"{what}: no page with numbers of a kept study"
        assert kept == presets or "not kept" in status, f"{what}: no run of {presets} is kept, which is not said"
    if status.startswith("preset only"):
        assert presets and (not kept or "kept runs have" in status), f"{what}: {kept} are kept"


def test_no_sampler_of_optuna_decomposes() -> None:
    """As the page says; where one appears, offer it."""
    assert "MOEA/D is not among" in TEXT
    assert not [name for name in optuna.samplers.__all__ if "moea" in name.lower()]


def test_presets_and_papers_that_are_named_exist() -> None:
    presets = {path.stem for path in (ROOT / "configs").glob("*.yaml")}
    named = set(re.findall(r"preset `([\w-]+)`", TEXT))
    assert named and named <= presets
    assert presets <= named | set(OTHERS.split()), "a new preset: give it a row, or say that it is of no paper"
    assert set(re.findall(r"`([a-z]+\d{4}[a-z]+)`", TEXT)) <= set(entries())
