"""Room for files: on the disk, in the home, for a token. What finished trials left for more epochs goes first, as only
time is lost with it."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from service.contract.wire.errors import NoSpace, NotFound, TooLarge, Unreadable
from service.settings import Settings
from service.store.artifacts import ArtifactName, Artifacts
from service.store.code import CodeStore
from service.store.states import StateFile, States
from service.store.tokens import TokenRow, Tokens
from service.views.cache import Views

log = logging.getLogger("paretoscope.room")


@dataclass(eq=False)
class Upload:
    """A file on its way in, and the room that is held for it until it is in its place or given up."""

    size: int = 0  # bytes that may come
    arrived: int = 0  # of them, on the disk already
    more: int = 0  # bytes beyond those of the file it replaces
    token: str | None = None  # whose bytes it counts for, by its id
    is_state: bool = False


class Room:
    """Asked before a file is taken in; what it grants is held for it, so that files that come together share what is
    left. TooLarge says which limit leaves none, NoSpace that there is none for now: whoever sends it tries again.

    Of this process alone: another service on the same folder does not know what is on its way here.
    """

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
        self._lock = threading.Lock()  # held while room is looked for and granted, not while a file comes
        self._uploads: set[Upload] = set()  # one may leave at any time: go through a copy

    @asynccontextmanager
    async def for_file(
        self, study_id: str, trial_id: str, name: ArtifactName, announced: int | None
    ) -> AsyncIterator[Upload]:
        """A trial's file; one that is sent again takes its own place."""
        with self._upload() as upload:
            replaced = partial(self._bytes_of_file, study_id, trial_id, name)
            await run_in_threadpool(self._let_in, upload, study_id, announced, replaced)
            yield upload

    @asynccontextmanager
    async def for_state(self, study_id: str, key: str, announced: int | None) -> AsyncIterator[Upload]:
        """A cohort's state, which takes the place of its earlier one."""
        with self._upload() as upload:
            upload.is_state = True
            replaced = partial(self._bytes_of_state, study_id, key)
            await run_in_threadpool(self._let_in, upload, study_id, announced, replaced)
            yield upload

    @contextmanager
    def for_code(self, token: TokenRow | None, size: int) -> Iterator[Upload]:
        """Code of your own."""
        studies = [] if token is None else self._tokens.studies_of(token.id)
        with self._upload() as upload:
            with self._lock:
                self._on_disk(size)
                if token is not None:
                    self._for_token(token, studies, size)
                self._hold(upload, size, size, token)
            yield upload

    @contextmanager
    def _upload(self) -> Iterator[Upload]:
        """What it comes to hold is given back at the end, whatever became of it."""
        upload = Upload()
        try:
            yield upload
        finally:
            self._uploads.discard(upload)

    def _let_in(self, upload: Upload, study_id: str, announced: int | None, replaced: Callable[[], int]) -> None:
        """`replaced` tells the bytes of the file that it replaces, which may have been dropped to make room."""
        size, owner = self._size(announced), self._tokens.owner(study_id)
        with self._lock:
            self._on_disk(size)
            more = size - replaced()
            if owner is not None:
                self._for_token(*owner, more)
            if upload.is_state:
                self._among_states(more)
            self._hold(upload, size, more, owner and owner[0])

    def _bytes_of_file(self, study_id: str, trial_id: str, name: ArtifactName) -> int:
        return self._artifacts.sizes(study_id, trial_id).get(Path(name).stem, 0)

    def _bytes_of_state(self, study_id: str, key: str) -> int:
        return sum(file.size for file in self._states.files(study_id) if file.place.stem == key)

    def _hold(self, upload: Upload, size: int, more: int, token: TokenRow | None) -> None:
        upload.size, upload.more, upload.token = size, more, None if token is None else token.id
        self._uploads.add(upload)

    def _size(self, announced: int | None) -> int:
        """Who does not say how much comes may send as much as a file may have."""
        return self._settings.max_artifact_bytes if announced is None else announced

    def _on_disk(self, size: int) -> None:
        """Files must not fill the disk that the log of all studies needs."""
        held = sum(max(0, upload.size - upload.arrived) for upload in tuple(self._uploads))
        free, keep = shutil.disk_usage(self._settings.home).free, self._settings.keep_free_bytes
        if self._lacking(keep + size + held - free, self._states.files(), "PARETOSCOPE_KEEP_FREE_BYTES"):
            coming = f", {held:,} of them for files that are on their way," if held else ""
            raise NoSpace(
                f"the service's disk has {free:,} bytes left{coming} and keeps {keep:,} of them free, "
                "PARETOSCOPE_KEEP_FREE_BYTES: delete studies or code, or set evaluation.checkpoints to false"
            )

    def _among_states(self, more: int) -> None:
        files, most = self._states.files(), self._settings.max_state_bytes
        kept, held = sum(file.size for file in files), sum(each.more for each in tuple(self._uploads) if each.is_state)
        lacking = self._lacking(kept + held + more - most, files, "PARETOSCOPE_MAX_STATE_BYTES")
        said = f"saved states of trials may have {most:,} bytes in this home, PARETOSCOPE_MAX_STATE_BYTES"
        self._refuse(lacking, said, kept, held)

    def _for_token(self, token: TokenRow, studies: Sequence[str], more: int) -> None:
        most = token.bytes
        if most is None:
            return
        states = [file for study in studies for file in self._states.files(study)]
        kept = sum(self._artifacts.bytes_of(study) for study in studies) + sum(file.size for file in states)
        kept += self._code.bytes_for(token.id)
        held = sum(upload.more for upload in tuple(self._uploads) if upload.token == token.id)
        by_age = sorted(states, key=lambda file: file.saved_at)
        lacking = self._lacking(kept + held + more - most, by_age, f"the {most:,} bytes of token {token.name}")
        self._refuse(lacking, f"files of the token's studies may have {most:,} bytes", kept, held)

    @staticmethod
    def _refuse(lacking: int, said: str, kept: int, held: int) -> None:
        """TooLarge; NoSpace if there is room once files on their way break off."""
        if lacking > max(0, held):
            raise TooLarge(f"{said}, and {kept:,} are kept already")
        if lacking:
            raise NoSpace(f"{said}, {kept:,} are kept already, and {held:,} are on their way: try again")

    def _lacking(self, bytes: int, files: Sequence[StateFile], limit: str) -> int:
        """How many of these bytes cannot be gained from what finished trials left; if any, nothing is dropped."""
        dropped: list[StateFile] = []
        left = self._left_by_finished(files)
        while bytes > 0 and (file := next(left, None)) is not None:
            dropped.append(file)
            bytes -= file.size
        if bytes > 0:
            return bytes
        for file in dropped:
            file.place.unlink(missing_ok=True)
            log.info(
                "a saved state of study %s was dropped to make room (%s): more epochs of its trials would start over",
                file.study,
                limit,
            )
        return 0

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
