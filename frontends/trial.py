"""A trial that this process trains for a study: asked for on a lease, reported, finished."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from frontends.connection import (
    TRY_AGAIN_SECONDS,
    ClientError,
    Connection,
    LeaseOver,
    NoTrialLeft,
    NoTrialNow,
    Patience,
    json_of,
)
from service.contract.metrics import EPOCH, SECONDS
from service.contract.wire.answers.read_by_drivers import KnownHandedTrial
from service.contract.wire.elsewhere import DEFAULT_LEASE_SECONDS, FREE, NEVER, Ask
from service.contract.wire.errors import Conflict
from service.contract.wire.events import (
    STATE_HEADER,
    Metrics,
    Report,
    StudyState,
    TrialAlive,
    TrialFailed,
    TrialFinished,
    TrialReturned,
    cleaned,
    sendable,
    sent_batch,
)

JSON = {"Content-Type": "application/json"}
Told = Report | TrialAlive | TrialFinished | TrialFailed | TrialReturned


def asked(connection: Connection, path: str, arm: str | None, lease_seconds: float | None, wait: float) -> Trial:
    """Asks again for so many seconds while no trial is free."""
    end, patience = time.monotonic() + wait, Patience()
    seconds = DEFAULT_LEASE_SECONDS if lease_seconds is None else lease_seconds
    holder = f"{socket.gethostname()}:{os.getpid()}"
    wish = Ask.model_construct(
        arm=arm, lease_seconds=seconds, holder=holder
    )  # unchecked: the service says what is wrong
    content = wish.model_dump_json(exclude_none=True, warnings=False).encode()
    while True:
        try:
            answer = connection.send("POST", f"{path}/ask", content=content, headers=JSON)
            return Trial(connection, path, KnownHandedTrial.model_validate(json_of(answer)))
        except ClientError as error:
            refused = _none_free(error)
            if refused is None:
                patience.bear(error)
            elif isinstance(refused, NoTrialLeft) or time.monotonic() >= end:
                raise refused from None
        time.sleep(TRY_AGAIN_SECONDS)


def _none_free(error: ClientError) -> ClientError | None:
    """As its own kind, if that is what the service said."""
    free = {detail["message"] for detail in error.details if detail["path"] == FREE}
    if error.status != Conflict.status or not free:
        return None
    kind = NoTrialLeft if NEVER in free else NoTrialNow
    return kind(error.message, error.status, error.details)


class Trial:
    """`id`, `arm`, `seed`, `config` (all settings, as "problem.depth") and `parameters` (those of the script, by name).

    As a context: leaving it finishes the trial, or gives it back if it was told to stop; an exception fails it.
    """

    def __init__(
        self, connection: Connection, path: str, handed: KnownHandedTrial, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connection, self._path, self._clock = connection, path, clock
        self.id, self.arm, self.seed = handed.trial, handed.arm, handed.seed
        self.config, self.parameters = handed.config, handed.parameters
        self.lease_seconds = handed.lease_seconds
        self._lease, self._begun = handed.lease, clock()
        self._told = self._epoch = 0
        self._stop = self._heeded = self._over = False

    @property
    def should_stop(self) -> bool:
        """Whether nobody waits for more, by the last answer: the study is paused, cancelled or over."""
        self._heeded = self._heeded or self._stop
        return self._stop

    def report(self, *, epoch: int | None = None, **metrics: Any) -> None:
        """Tell metrics that the script declares, once or after every epoch; this renews the lease."""
        self._epoch = self._epoch + 1 if epoch is None else epoch
        told: Metrics = {EPOCH: self._epoch, SECONDS: self._clock() - self._begun}
        told |= {name: _number(name, value) for name, value in metrics.items()}
        self._tell(Report, metrics=cleaned(told))

    def alive(self) -> None:
        """Renew the lease where there is nothing to report yet."""
        self._tell(TrialAlive)

    def finish(self) -> None:
        """It was trained to its end. Where nothing was reported it has failed, and this says so."""
        if not self._epoch:
            self.fail("it ended without a report: it has to call trial.report")
            raise ClientError(f"trial {self.id} ended without a report: call trial.report before it is finished")
        self._tell(TrialFinished, last=True)

    def fail(self, reason: str) -> None:
        """It could not be trained to its end."""
        self._tell(TrialFailed, last=True, reason=sendable(reason))

    def give_back(self) -> None:
        """Somebody else may train it, from the beginning."""
        self._tell(TrialReturned, last=True)

    def __enter__(self) -> Trial:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._over:
            return
        if error is None and not self._heeded:
            self.finish()
            return
        with suppress(ClientError):  # what was raised matters more, and a lease runs out by itself
            if isinstance(error, Exception):
                self.fail(f"{type(error).__name__}: {error}")
            else:  # it was told to stop, by the study or by whoever pressed Ctrl-C
                self.give_back()

    def _tell(self, kind: type[Told], last: bool = False, **more: Any) -> None:
        """Sent again until there is an answer: its uid makes that safe. What a study that has ended refuses is lost."""
        if self._over:
            return
        self._told += 1
        event = kind(uid=f"{self._lease}:{self._told}", trial=self.id, lease=self._lease, **more)
        content, patience = sent_batch([event]), Patience()
        while True:
            try:
                response = self._connection.send("POST", f"{self._path}/reports", content=content, headers=JSON)
                self._stop, self._over = response.headers.get(STATE_HEADER) != StudyState.RUNNING, last
                return
            except ClientError as error:
                self._refused(error)
                if self._over:
                    return
                patience.bear(error)
            time.sleep(TRY_AGAIN_SECONDS)

    def _refused(self, error: ClientError) -> None:
        """The study has ended, which is no error of whoever trains; or the lease is over, which is."""
        if error.status != Conflict.status:
            return
        self._stop = self._over = True
        ended = {state for state in StudyState if state.is_ended()}
        if not any(detail["path"] == "state" and detail["message"] in ended for detail in error.details):
            raise LeaseOver(error.message, error.status, error.details) from None


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"metric {name!r} must be a number, got {type(value).__name__}") from None
