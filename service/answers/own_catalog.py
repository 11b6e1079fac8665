"""Problems of code that was sent, as the catalog lists them: by name, beside Paretoscope's own."""

from __future__ import annotations

import json
from collections.abc import Mapping

from service.contract.catalog import ProblemEntry
from service.contract.methods.own_description import Described
from service.contract.methods.own_problems import of_study
from service.store.code import Reading

MOST = 50


def own_problems(kept: Mapping[str, Reading], newest: list[str]) -> list[ProblemEntry]:
    """What is described, newest first, at most `MOST`; code that says the same of a problem shares its entry."""
    entries: dict[str, ProblemEntry] = {}
    for code_hash in newest:
        reading = kept.get(code_hash)
        for described in reading.problems if reading else ():
            entry = _entry(described, reading.entry if reading else "")
            same = json.dumps(entry.fields(), sort_keys=True, default=str)
            if same in entries or len(entries) < MOST:
                entries.setdefault(same, entry).code.append(code_hash)
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
