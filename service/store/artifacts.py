"""Files of a trial: its weights, its latent map."""

from __future__ import annotations

import filecmp
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, Literal, NamedTuple, cast, get_args

from service.contract.wire.latent_map import MapFile

log = logging.getLogger("paretoscope.artifacts")

ArtifactName = Literal["checkpoint.safetensors", "latent-map.json"]
CHECKPOINT: ArtifactName = "checkpoint.safetensors"
LATENT_MAP: ArtifactName = "latent-map.json"


class Draft(NamedTuple):
    """A file on its way in; it takes its place when all of it is there."""

    file: BinaryIO
    place: Path

    def content(self) -> bytes:
        self.file.flush()
        return Path(self.file.name).read_bytes()

    def settle(self) -> None:
        self.file.flush()
        Path(self.file.name).replace(self.place)

    def is_known(self) -> bool:
        """Whether the very same file is in its place already."""
        self.file.flush()
        return self.place.is_file() and filecmp.cmp(self.file.name, self.place, shallow=False)


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
        return {place.stem: place.stat().st_size for place in places if place}

    @contextmanager
    def draft(self, study: str, trial: str, name: ArtifactName) -> Iterator[Draft]:
        """What is not settled leaves nothing behind."""
        folder = self._folder / study / trial
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, prefix=f".{name}.", delete=False) as file:
            try:
                yield Draft(cast(BinaryIO, file), folder / name)
            finally:
                Path(file.name).unlink(missing_ok=True)

    def forget(self, study: str) -> None:
        """All files of a study; one that cannot be removed stays, and the log says so."""
        folder = self._folder / study
        if folder.is_dir():
            shutil.rmtree(folder, onerror=lambda _, path, why: log.warning("%s stays: %s", path, why[1]))
