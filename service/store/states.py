"""Saved states of cohorts, as files: what is lost with them is time, never a result."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from service.contract.wire.cohort_state import LONGEST_HEAD, CohortState, head_of
from service.store.artifacts import remove
from service.store.incoming import Draft, drafted

log = logging.getLogger("paretoscope.states")


class StateFile(NamedTuple):
    """A state on disk."""

    study: str
    place: Path
    size: int
    saved_at: float

    def head(self) -> CohortState | None:
        """None where it cannot be read."""
        return _head(self.place)


class States:
    """Files below one folder, by study and cohort. Who calls has checked that both may become paths."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, study: str, key: str) -> Path | None:
        place = self._place(study, key)
        return place if place.is_file() else None

    def head(self, study: str, key: str) -> CohortState | None:
        """What is saved of a cohort; none also where that cannot be read."""
        return _head(place) if (place := self.find(study, key)) else None

    @contextmanager
    def draft(self, study: str, key: str) -> Iterator[Draft]:
        with drafted(self._place(study, key)) as draft:
            yield draft

    def of(self, study: str) -> list[CohortState]:
        """What is saved of a study; a file that cannot be read counts as none."""
        files = sorted(self.files(study), key=lambda file: file.place)
        return [state for state in (file.head() for file in files) if state is not None]

    def files(self, study: str | None = None) -> list[StateFile]:
        """Of a study, or of all; the oldest first."""
        files = []
        for place in self._folder.glob(f"{study or '*'}/*.safetensors"):
            with suppress(FileNotFoundError):  # dropped in the meantime
                stat = place.stat()
                files.append(StateFile(place.parent.name, place, stat.st_size, stat.st_mtime_ns / 1e9))
        return sorted(files, key=lambda file: (file.saved_at, file.place))

    def drop_ended(self, study: str, over: Collection[str] | None = None) -> None:
        """Those whose members are all over (none: all, as the study is), but for what the end of a training left."""
        for state in self.of(study):
            if not state.is_final and (over is None or all(trial in over for trial in state.members)):
                self._place(study, state.key).unlink(missing_ok=True)

    def drop_with(self, study: str, trials: Collection[str]) -> None:
        """Those in which one of these lives: it is begun anew, and a state is of all its members."""
        for state in self.of(study):
            if not set(state.living).isdisjoint(trials):
                self._place(study, state.key).unlink(missing_ok=True)

    def drop_older(self, study: str, anew_since: Mapping[str, float]) -> None:
        """Those saved before a trial that lives in them was begun anew: a backup has them, or a service that was killed
        between the two left them. To go on from one would leave out the epochs before it."""
        for file in self.files(study):
            state = file.head()
            if state is not None and any(file.saved_at < anew_since.get(trial, 0.0) for trial in state.living):
                file.place.unlink(missing_ok=True)

    def forget(self, study: str) -> None:
        remove(self._folder / study)

    def _place(self, study: str, key: str) -> Path:
        return self._folder / study / f"{key}.safetensors"


def _head(place: Path) -> CohortState | None:
    try:
        with place.open("rb") as file:
            return head_of(file.read(8 + LONGEST_HEAD))
    except (OSError, ValueError) as error:
        log.warning("%s is passed over: %s", place, error)
        return None
