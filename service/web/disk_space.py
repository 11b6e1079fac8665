"""Room for files: on the disk, in the home, for a token. What finished trials left for more epochs goes first, as only
time is lost with it."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Sequence

from service.contract.wire.errors import NoSpace, NotFound, TooLarge, Unreadable
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.code import CodeStore
from service.store.states import StateFile, States
from service.store.tokens import TokenRow, Tokens
from service.views.cache import Views

log = logging.getLogger("paretoscope.room")


class Room:
    """Asked before a file is taken in. TooLarge says which limit leaves none, NoSpace that the disk has none for now:
    whoever sends it tries again."""

    def __init__(
        self,
        settings: Settings,
        views: Views,
        tokens: Tokens,
        artifacts: Artifacts,
        states: States,
        code: CodeStore,
    ) -> None:
        self._settings, self._views, self._tokens = settings, views, tokens
        self._artifacts, self._states, self._code = artifacts, states, code

    def for_file(self, study_id: str, announced: int | None) -> None:
        """A trial's file."""
        size = self._size(announced)
        self._on_disk(size)
        self._for_study(study_id, size)

    def for_code(self, token: TokenRow | None, size: int) -> None:
        """Code of your own."""
        self._on_disk(size)
        if token is not None:
            self._for_token(token, self._tokens.studies_of(token.id), size)

    def for_state(self, study_id: str, key: str, announced: int | None) -> None:
        """A cohort's state, which takes the place of its earlier one."""
        size = self._size(announced)
        self._on_disk(size)
        earlier = sum(file.size for file in self._states.files(study_id) if file.place.stem == key)
        more = size - earlier
        self._for_study(study_id, more)
        files, most = self._states.files(), self._settings.max_state_bytes
        kept, limit = sum(file.size for file in files), "PARETOSCOPE_MAX_STATE_BYTES"
        if self._lacks(kept + more - most, files, limit):
            raise TooLarge(
                f"saved states of trials may have {most:,} bytes in this home, {limit}, and {kept:,} are kept already"
            )

    def _size(self, announced: int | None) -> int:
        """Who does not say how much comes may send as much as a file may have."""
        return self._settings.max_artifact_bytes if announced is None else announced

    def _on_disk(self, size: int) -> None:
        """Files must not fill the disk that the log of all studies needs."""
        free, keep = shutil.disk_usage(self._settings.home).free, self._settings.keep_free_bytes
        limit = "PARETOSCOPE_KEEP_FREE_BYTES"
        if free - size < keep and self._lacks(keep + size - free, self._states.files(), limit):
            raise NoSpace(
                f"the service's disk has {free:,} bytes left and keeps {keep:,} of them free, {limit}: "
                "delete studies or code, or set evaluation.checkpoints to false"
            )

    def _for_study(self, study_id: str, more: int) -> None:
        owner = self._tokens.owner(study_id)
        if owner is not None:
            self._for_token(*owner, more)

    def _for_token(self, token: TokenRow, studies: Sequence[str], more: int) -> None:
        most = token.bytes
        if most is None:
            return
        states = [file for study in studies for file in self._states.files(study)]
        kept = sum(self._artifacts.bytes_of(study) for study in studies) + sum(file.size for file in states)
        kept += self._code.bytes_for(token.id)
        by_age = sorted(states, key=lambda file: file.saved_at)
        if self._lacks(kept + more - most, by_age, f"the {most:,} bytes of token {token.name}"):
            raise TooLarge(f"files of the token's studies may have {most:,} bytes, and {kept:,} are kept already")

    def _lacks(self, bytes: int, files: Sequence[StateFile], limit: str) -> bool:
        """Whether so many bytes cannot be gained from what finished trials left; nothing is dropped then."""
        dropped: list[StateFile] = []
        left = self._left_by_finished(files)
        while bytes > 0 and (file := next(left, None)) is not None:
            dropped.append(file)
            bytes -= file.size
        if bytes > 0:
            return True
        for file in dropped:
            file.place.unlink(missing_ok=True)
            log.info(
                "a saved state of study %s was dropped to make room (%s): more epochs of its trials would start over",
                file.study,
                limit,
            )
        return False

    def _left_by_finished(self, files: Sequence[StateFile]) -> Iterator[StateFile]:
        for file in files:
            state = file.head()
            try:
                with self._views.read(file.study) as view:
                    trials = {own: trial.is_over for own, trial in view.all_trials.items()}
            except NotFound:
                yield file
                continue
            except Unreadable:
                continue
            if state is not None and state.is_final and all(trials.get(trial, True) for trial in state.members):
                yield file
