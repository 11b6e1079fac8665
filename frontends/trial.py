"""A trial that this process trains for a study: asked for on a lease, reported, finished."""

from __future__ import annotations

import json
import math
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from frontends.connection import TRY_AGAIN_SECONDS, Answer, ClientError, Connection, Patience, json_of

JSON = {"Content-Type": "application/json"}
STATE = "Paretoscope-State"  # as in the contract: the study's state in the answer to a report
CONFLICT = 409
ENDED = ("finished", "failed", "cancelled")
LONGEST_REASON = 4000


class NoTrialNow(ClientError):
    """None is free, but may be later: others hold the rest, their search waits for results, or the study is paused."""


class NoTrialLeft(ClientError):
    """None will be free any more: all are trained, or the study has ended."""


class LeaseOver(ClientError):
    """The holder was silent for longer than its lease: the trial has gone to others."""


def asked(connection: Connection, path: str, wish: Answer, wait: float) -> Trial:
    """Asks again for so many seconds while no trial is free."""
    end, patience = time.monotonic() + wait, Patience()
    content = json.dumps({"holder": f"{socket.gethostname()}:{os.getpid()}", **wish}).encode()
    while True:
        try:
            return Trial(
                connection, path, json_of(connection.send("POST", f"{path}/ask", content=content, headers=JSON))
            )
        except ClientError as error:
            refused = _none_free(error)
            if refused is None:
                patience.bear(error)
            elif isinstance(refused, NoTrialLeft) or time.monotonic() >= end:
                raise refused from None
        time.sleep(TRY_AGAIN_SECONDS)


def _none_free(error: ClientError) -> ClientError | None:
    """As its own kind, if that is what the service said."""
    free = {detail["message"] for detail in error.details if detail["path"] == "free"}
    if error.status != CONFLICT or not free:
        return None
    kind = NoTrialLeft if "never" in free else NoTrialNow
    return kind(error.message, error.status, error.details)


class Trial:
    """`id`, `arm`, `seed`, `config` (all settings, as "problem.depth") and `parameters` (those of the script, by name).

    As a context: leaving it finishes the trial, or gives it back if it was told to stop; an exception fails it.
    """

    def __init__(
        self, connection: Connection, path: str, handed: Answer, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connection, self._path, self._clock = connection, path, clock
        self.id: str = handed["trial"]
        self.arm: str = handed["arm"]
        self.seed: int = handed["seed"]
        self.config: dict[str, Any] = handed["config"]
        self.parameters: dict[str, Any] = handed["parameters"]
        self.lease_seconds: float = handed["lease_seconds"]
        self._lease, self._begun = handed["lease"], clock()
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
        measured = {name: _number(name, value) for name, value in metrics.items()}
        self._tell("report", metrics={"epoch": self._epoch, "seconds": self._clock() - self._begun, **measured})

    def alive(self) -> None:
        """Renew the lease where there is nothing to report yet."""
        self._tell("trial_alive")

    def finish(self) -> None:
        """It was trained to its end. Where nothing was reported it has failed, and this says so."""
        if not self._epoch:
            self.fail("it ended without a report: it has to call trial.report")
            raise ClientError(f"trial {self.id} ended without a report: call trial.report before it is finished")
        self._tell("trial_finished", last=True)

    def fail(self, reason: str) -> None:
        """It could not be trained to its end."""
        self._tell("trial_failed", last=True, reason=reason[:LONGEST_REASON])

    def give_back(self) -> None:
        """Somebody else may train it, from the beginning."""
        self._tell("trial_returned", last=True)

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

    def _tell(self, kind: str, last: bool = False, **more: Any) -> None:
        """Sent again until there is an answer: its uid makes that safe. What a study that has ended refuses is lost."""
        if self._over:
            return
        self._told += 1
        event = {"uid": f"{self._lease}:{self._told}", "kind": kind, "trial": self.id, "lease": self._lease, **more}
        content, patience = json.dumps({"events": [event]}).encode(), Patience()
        while True:
            try:
                response = self._connection.send("POST", f"{self._path}/reports", content=content, headers=JSON)
                self._stop, self._over = response.headers.get(STATE) != "running", last
                return
            except ClientError as error:
                self._refused(error)
                if self._over:
                    return
                patience.bear(error)
            time.sleep(TRY_AGAIN_SECONDS)

    def _refused(self, error: ClientError) -> None:
        """The study has ended, which is no error of whoever trains; or the lease is over, which is."""
        if error.status != CONFLICT:
            return
        self._stop = self._over = True
        if not any(detail["path"] == "state" and detail["message"] in ENDED for detail in error.details):
            raise LeaseOver(error.message, error.status, error.details) from None


def _number(name: str, value: Any) -> float | None:
    """As JSON has it; what is not finite travels as null."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"metric {name!r} must be a number, got {type(value).__name__}") from None
    return number if math.isfinite(number) else None
