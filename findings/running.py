"""A study run for a finding, through the product: submitted to a service, followed to its end, exported, kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from findings.finding import Finding, kept
from findings.folder import Asked
from frontends.cli.follow import follow
from frontends.client import Client, ClientError, Study
from paretoscope import __version__
from service.contract.wording.numbers import plural


def machine_words() -> str:
    """`2 cores, no GPU`."""
    cards = len(list(Path("/dev").glob("nvidia[0-9]*")))
    return f"{plural(len(os.sched_getaffinity(0)), 'core')}, {plural(cards, 'GPU') if cards else 'no GPU'}"


class Note(NamedTuple):
    """Which study is run for a finding, by which version, from which commit."""

    study: str
    paretoscope: str
    commit: str | None = None


class Notes:
    """Kept beside the service's files, so that a run that was broken off goes on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def read(self, name: str) -> Note | None:
        return Note(**json.loads(self._path(name).read_text())) if self._path(name).is_file() else None

    def write(self, name: str, note: Note) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path(name).write_text(json.dumps(note._asdict()))


def begun(client: Client, notes: Notes, name: str, asked: Asked, again: bool, commit: str | None) -> tuple[Study, Note]:
    """The study that was begun for this finding, or a new one; a changed study is begun anew."""
    spec = asked.study.model_dump(by_alias=True, mode="json")
    known = None if again else notes.read(name)
    if known is not None:
        try:
            study = client.study(known.study)
            if _submitted(study.read()["spec"]) == spec:
                return study, known
        except ClientError as error:
            if error.status != 404:
                raise
    study = client.submit(spec)
    notes.write(name, note := Note(study.id, __version__, commit))
    return study, note


def _submitted(spec: dict[str, Any]) -> dict[str, Any]:
    """Without what the service found in earlier studies for its searches."""
    for arm in spec["arms"]:
        arm["search"].pop("told", None)
    return spec


def ended(study: Study) -> None:
    """Followed to its end; a study that failed or was cancelled is no finding."""
    state = follow(study, as_json=False)
    if state["state"] != "finished":
        raise ClientError(f"study {study.id} is {state['state']}: {state['reason']}")


def measured(study: Study, asked: Asked, machine: str, note: Note) -> Finding:
    export = json.loads(study.export("json"))
    return kept(export, machine, asked.curves, note.paretoscope, note.commit, asked.metrics)
