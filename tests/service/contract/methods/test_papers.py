"""Every method a study may name has its paper, or stands among those that need none."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from service.contract.catalog import catalog
from service.contract.methods.papers import PAPERS, WITHOUT_PAPER, bibtex, entries
from service.contract.methods.problems import Bottleneck
from service.contract.methods.searches import OptunaSearch
from service.contract.study.study import Training

FOLDERS = {
    "data": "data",
    "models": "model",
    "problems": "problem",
    "rates": "rate",
    "weightings": "weighting",
    "searches": "search",
    "attacks": "attack",
    "estimators": "estimator",
}


def choices(part: Any, field: str) -> set[str]:
    """The names that a field of literals takes, however deep the literal stands."""

    def texts(annotation: Any) -> set[str]:
        if isinstance(annotation, str):
            return {annotation}
        return {text for inner in get_args(annotation) for text in texts(inner)}

    return texts(part.model_fields[field].annotation)


def known() -> dict[str, set[str]]:
    found = {kind: {entry.name for entry in getattr(catalog([]), folder)} for folder, kind in FOLDERS.items()}
    return {
        **found,
        "sampler": choices(OptunaSearch, "sampler"),
        "transform": choices(Bottleneck, "transform"),
        "optimizer": choices(Training, "optimizer"),
    }


@pytest.mark.parametrize("kind", [*FOLDERS.values(), "sampler", "transform", "optimizer"])
def test_every_method_has_a_paper_or_a_reason_to_have_none(kind: str) -> None:
    cited, without = set(PAPERS.get(kind, {})), set(WITHOUT_PAPER.get(kind, {}))
    assert cited | without == known()[kind]
    assert not cited & without


def test_every_key_has_an_entry_and_every_entry_is_used() -> None:
    used = {key for names in PAPERS.values() for keys in names.values() for key in keys}
    assert used == set(entries())


@pytest.mark.parametrize("key", entries())
def test_an_entry_says_who_what_where_and_when(key: str) -> None:
    entry = entries()[key]
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.MULTILINE))
    assert {"author", "title", "year"} <= set(fields)
    assert {"journal", "booktitle", "publisher", "howpublished", "institution", "note"} & set(fields)
    assert entry.count("{") == entry.count("}")
    assert fields["year"] in key, "a key ends in its year and a word"
    assert entry.isascii(), "BibTeX of any age reads it"


def test_a_bibliography_names_each_paper_once_in_the_order_asked() -> None:
    text = bibtex(["yu2020pcgrad", "alemi2017deep", "yu2020pcgrad"])
    assert re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE) == ["yu2020pcgrad", "alemi2017deep"]
