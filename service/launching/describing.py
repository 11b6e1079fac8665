"""Has code read by a fresh process on Ray, which says what is in it. The service itself never imports it."""

from __future__ import annotations

import threading

from service.contract.methods.own_description import Code
from service.contract.wire.errors import Conflict, Detail, InvalidInput, NotFound, Unavailable
from service.contract.wire.log_lines import messages
from service.contract.wire.reading import CodeReading, CodeRefusal
from service.launching.handover import READER, Handover
from service.launching.jobs import Jobs
from service.settings import Settings
from service.store.code import CodeStore, Reading
from service.store.tokens import Tokens, subject

ATTEMPTS = 3  # processes that may be lost before the code is refused
SHORT = 12  # of a hash, in the name of a job


class Describing:
    """Looks when somebody asks: there is nothing to watch while nobody waits."""

    def __init__(
        self, code: CodeStore, jobs: Jobs | None, settings: Settings, handover: Handover, tokens: Tokens
    ) -> None:
        self._code, self._jobs, self._settings, self._handover = code, jobs, settings, handover
        self._tokens = tokens
        self._one = threading.Lock()

    def reading(self, code_hash: str) -> Reading:
        """What is known of the code; a process is asked to read it where none has, or the last one was lost."""
        with self._one:
            known = self._known(code_hash)
            if known.is_over or self._jobs is None:
                return known
            if known.attempt:
                status = self._jobs.status(_job(code_hash, known.attempt))
                if status is not None and not status.is_ended():
                    return known
                self._tokens.forget(subject(code_hash))
                known = self._known(code_hash)  # its last word may have come in between
                if known.is_over:
                    return known
                if status is not None and known.attempt >= ATTEMPTS:
                    said = messages(status.message) if status.message else status.status.lower()
                    return self._refuse(code_hash, known, f"the process that read the code was lost: {said}")
            return self._ask(self._jobs, code_hash, known)

    def code(self, code_hash: str) -> Code:
        """As a study has it. InvalidInput where there is none or it was refused, Conflict while nobody has read it."""
        try:
            known = self.reading(code_hash)
        except NotFound as error:
            raise _refused(error.message) from None
        if known.refusal is not None:
            at = ", line ".join(str(each) for each in (known.refusal.file, known.refusal.line) if each is not None)
            raise _refused(f"{at}: {known.refusal.message}" if at else known.refusal.message)
        if not known.problems:
            words = f"the code has not been read yet: ask GET /api/code/{code_hash} until it is described"
            raise Conflict(words, [Detail(path="code", message=code_hash)])
        return Code(hash=code_hash, entry=known.entry, requirements=known.requirements, problems=known.problems)

    def settle(self, code_hash: str, said: CodeReading) -> None:
        """What the process says; the first word counts, and is its last: its token is good for nothing more."""
        with self._one:
            known = self._known(code_hash)
            if not known.is_over:
                self._code.note(code_hash, known.model_copy(update=dict(said)))
        self._tokens.forget(subject(code_hash))

    def forget(self, code_hash: str) -> None:
        """The code, and whoever may still be reading it."""
        with self._one:
            self._code.forget(code_hash)
        self._tokens.forget(subject(code_hash))

    def _known(self, code_hash: str) -> Reading:
        known = self._code.reading(code_hash)
        if known is None:
            raise NotFound(f"there is no code {code_hash!r}: send it with POST /api/code")
        return known

    def _refuse(self, code_hash: str, known: Reading, why: str) -> Reading:
        refused = known.model_copy(update={"refusal": CodeRefusal(message=why[:1000])})
        self._code.note(code_hash, refused)
        return refused

    def _ask(self, jobs: Jobs, code_hash: str, known: Reading) -> Reading:
        if not jobs.alive():
            raise Unavailable(f"Ray at {jobs.url} does not answer, so nobody can read the code")
        asked = known.model_copy(update={"attempt": known.attempt + 1})
        job = _job(code_hash, asked.attempt)
        environment = {"PARETOSCOPE_URL": self._settings.own_url, **self._handover.environment(subject(code_hash), job)}
        environment |= self._settings.limits_of_code
        self._code.note(code_hash, asked)
        try:
            jobs.submit(job, f"python -m workers.describe_code {code_hash}", environment)
        except Conflict:  # of an earlier life of this home
            return self._code.reading(code_hash) or asked
        return asked


def _refused(rule: str) -> InvalidInput:
    return InvalidInput(f"code: {rule}", [Detail(path="code", message=rule)])


def _job(code_hash: str, attempt: int) -> str:
    return f"{READER}{code_hash[:SHORT]}-{attempt}"
