"""Saved states of cohorts under way, as files: what is lost with them is time, never a result."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from service.contract.wire.cohort_state import LONGEST_HEAD, CohortState, head_of
from service.store.artifacts import remove
from service.store.drafts import Draft, drafted

log = logging.getLogger("paretoscope.states")


class States:
    """Files below one folder, by study and cohort. Who calls has checked that both may become paths."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, study: str, key: str) -> Path | None:
        place = self._place(study, key)
        return place if place.is_file() else None

    @contextmanager
    def draft(self, study: str, key: str) -> Iterator[Draft]:
        with drafted(self._place(study, key)) as draft:
            yield draft

    def of(self, study: str) -> list[CohortState]:
        """What is saved of a study; a file that cannot be read counts as none."""
        states = []
        for place in sorted((self._folder / study).glob("*.safetensors")):
            try:
                with place.open("rb") as file:
                    states.append(head_of(file.read(8 + LONGEST_HEAD)))
            except (OSError, ValueError) as error:
                log.warning("%s is passed over: %s", place, error)
        return states

    def drop_ended(self, study: str, over: Collection[str]) -> None:
        """Those whose members are all over."""
        if (self._folder / study).is_dir():
            for state in self.of(study):
                if all(trial in over for trial in state.members):
                    self._place(study, state.key).unlink(missing_ok=True)

    def drop_with(self, study: str, trials: Collection[str]) -> None:
        """Those that have one of these members: it is begun anew, and a state is of all its members."""
        for state in self.of(study):
            if not state.members.keys().isdisjoint(trials):
                self._place(study, state.key).unlink(missing_ok=True)

    def forget(self, study: str) -> None:
        remove(self._folder / study)

    def _place(self, study: str, key: str) -> Path:
        return self._folder / study / f"{key}.safetensors"
