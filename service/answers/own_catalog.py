"""Problems of code that was sent, as the catalog lists them: by name, beside Paretoscope's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from service.contract.catalog import ProblemEntry
from service.contract.methods.own_description import Described
from service.contract.methods.own_problems import of_study

MOST = 50


class DescribedCode(NamedTuple):
    """What is in code that was sent, and the file that is imported."""

    hash: str
    entry: str
    problems: Sequence[Described]


def own_problems(newest: Iterable[DescribedCode]) -> list[ProblemEntry]:
    """The newest first, at most `MOST`; code that says the same of a problem shares its entry."""
    entries: dict[str, ProblemEntry] = {}
    for code in newest:
        for described in code.problems:
            entry = _entry(described, code.entry)
            same = json.dumps(entry.fields(), sort_keys=True, default=str)
            if same in entries or len(entries) < MOST:
                entries.setdefault(same, entry).code.append(code.hash)
    return list(entries.values())


def _entry(described: Described, file: str) -> ProblemEntry:
    return ProblemEntry(
        name=described.name,
        doc=" ".join(described.doc.split()),
        schema=of_study(described).model_json_schema(),
        often_set=[parameter.name for parameter in described.parameters],
        entry=file,
        terms=list(described.terms),
    )
