"""Files of a trial: its weights, its latent map."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, get_args

from service.contract.wire.latent_map import MapFile
from service.store.incoming import MARK, Draft, drafted

log = logging.getLogger("paretoscope.artifacts")

ArtifactName = Literal["checkpoint.safetensors", "latent-map.json"]
CHECKPOINT: ArtifactName = "checkpoint.safetensors"
LATENT_MAP: ArtifactName = "latent-map.json"


class Artifacts:
    """Files below one folder, by study, trial and name. Who calls has checked that study and trial exist."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, study: str, trial: str, name: ArtifactName) -> Path | None:
        place = self._folder / study / trial / name
        return place if place.is_file() else None

    def latent_map(self, study: str, trial: str) -> MapFile | None:
        place = self.find(study, trial, LATENT_MAP)
        return MapFile.model_validate_json(place.read_bytes()) if place else None

    def sizes(self, study: str, trial: str) -> dict[str, int]:
        """Bytes of what is there, by name without its ending."""
        places = [self.find(study, trial, name) for name in get_args(ArtifactName)]
        sizes = {}
        for place in filter(None, places):
            with suppress(FileNotFoundError):  # deleted in the meantime
                sizes[place.stem] = place.stat().st_size
        return sizes

    @contextmanager
    def draft(self, study: str, trial: str, name: ArtifactName) -> Iterator[Draft]:
        """What is not settled leaves nothing behind."""
        with drafted(self._folder / study / trial / name) as draft:
            yield draft

    def bytes_of(self, study: str) -> int:
        """Of all its trials together."""
        return size_below(self._folder / study)

    def forget(self, study: str) -> None:
        """All files of a study."""
        remove(self._folder / study)


def size_below(folder: Path) -> int:
    """Bytes of the files in a folder; of those that are removed meanwhile or still on their way in, none."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in (name for name in names if MARK not in name):
            with suppress(FileNotFoundError):
                size += (Path(place) / name).stat().st_size
    return size


def remove(folder: Path) -> None:
    """A folder with all that is in it; what cannot be removed stays, and the log says so."""
    if folder.is_dir():
        shutil.rmtree(folder, onerror=lambda _, path, why: log.warning("%s stays: %s", path, why[1]))
