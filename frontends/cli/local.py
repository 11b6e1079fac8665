"""Ray and the service on this machine, started and ended together."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType, TracebackType

import httpx

from frontends.cli.local_ray import DIE_WITH_PARENT, LocalRay, RayDidNotStart
from service.contract.wording.numbers import duration

PREFERRED_PORT = 8000
READY_SECONDS = 60.0
RESTARTS = 5
RESTARTS_WITHIN_SECONDS = 60.0


class LocalError(Exception):
    """Why this machine could not be brought up, and what to do."""


class Interrupted(BaseException):
    """SIGTERM: end in order, like Ctrl-C."""


def raise_on_sigterm() -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    signal.signal(signal.SIGTERM, interrupt)


def choose_port(host: str, asked: int | None) -> int:
    """The port that was asked for, else 8000, else any free one.

    Looked at before anything starts: another service on that port would answer in place of ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in (asked,) if asked else (PREFERRED_PORT, 0):
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                reason = error.strerror
                continue
            return int(probe.getsockname()[1])
    what = f"port {asked} on {host}" if asked else host
    raise LocalError(f"{what} cannot be used: {reason}; choose with --host and --port")


class ServiceKeeper(threading.Thread):
    """Starts the service, and starts it again when it dies: the log on disk is the truth, a study goes on.

    All starts come from this one thread, as Linux ends the service together with the thread that started it.
    """

    def __init__(self, environment: dict[str, str], home: Path, note: dict[str, str]) -> None:
        super().__init__(name="service-keeper", daemon=True)
        self._environment, self._home, self._note = environment, home, note
        self._ending = threading.Event()
        self.given_up: str | None = None

    def run(self) -> None:
        starts: list[float] = []
        while not self._ending.is_set():
            starts = [start for start in starts if time.monotonic() - start < RESTARTS_WITHIN_SECONDS]
            if len(starts) > RESTARTS:
                tail = (self._home / "service.log").read_text(errors="replace").splitlines()[-8:]
                self.given_up = f"the service ended {len(starts)} times in a minute; its log ends:\n" + "\n".join(tail)
                return
            starts.append(time.monotonic())
            process = self._start()
            while process.poll() is None and not self._ending.wait(0.1):
                pass
            if process.poll() is None:
                self._end_process(process)

    def _start(self) -> subprocess.Popen[bytes]:
        with (self._home / "service.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", DIE_WITH_PARENT, str(os.getpid()), sys.executable, "-m", "service"],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        (self._home / "service.json").write_text(json.dumps({**self._note, "pid": process.pid}))
        return process

    @staticmethod
    def _end_process(process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=5)

    def end(self) -> None:
        self._ending.set()
        self.join(timeout=20)


class Local:
    """A context: inside it Ray and the service run; at its end everything it started is gone."""

    def __init__(self, home: Path, host: str, port: int | None, token: str | None, cpus: int | None) -> None:
        self.home = home.expanduser().resolve()
        self._host, self._port, self._token, self._cpus = host, port, token, cpus
        self._ray: LocalRay | None = None
        self._keeper: ServiceKeeper | None = None
        self.url = ""

    def __enter__(self) -> Local:
        self.home.mkdir(parents=True, exist_ok=True)
        self._lock = (self.home / "lock").open("a")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise LocalError(
                f"another paretoscope is using {self.home}: use that one, end it, or choose another --home"
            ) from None
        try:
            port = choose_port(self._host, self._port)
            self._ray = LocalRay.start(self.home, self._cpus)
            self._start_service(self._ray, port)
            self._wait_ready()
        except RayDidNotStart as error:
            self.__exit__(None, None, None)
            raise LocalError(str(error)) from error
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _start_service(self, ray: LocalRay, port: int) -> None:
        reachable = "127.0.0.1" if self._host in ("0.0.0.0", "") else "[::1]" if self._host == "::" else self._host
        self.url = f"http://{reachable}:{port}"
        environment = {
            **os.environ,
            "PARETOSCOPE_HOME": str(self.home),
            "PARETOSCOPE_HOST": self._host,
            "PARETOSCOPE_PORT": str(port),
            "PARETOSCOPE_URL": self.url,
            "PARETOSCOPE_RAY_URL": ray.jobs_url,
            "PARETOSCOPE_RAY_TOKEN_PATH": str(ray.token_path),
            **({"PARETOSCOPE_TOKEN": self._token} if self._token else {}),
        }
        note = {"url": self.url, "ray_address": ray.address, "ray_token_path": str(ray.token_path)}
        self._keeper = ServiceKeeper(environment, self.home, note)
        self._keeper.start()

    def _wait_ready(self) -> None:
        end = time.monotonic() + READY_SECONDS
        said = "it did not answer"
        while time.monotonic() < end:
            self.check()
            try:
                answer = httpx.get(f"{self.url}/readyz", timeout=5, trust_env=False)
                if answer.status_code == 200:
                    return
                said = answer.text
            except httpx.HTTPError as error:
                said = str(error)
            time.sleep(0.1)
        raise LocalError(f"the service was not ready after {duration(READY_SECONDS)}: {said}")

    def check(self) -> None:
        """Raise when a part has ended for good."""
        if self._keeper is not None and self._keeper.given_up:
            raise LocalError(self._keeper.given_up)
        if self._ray is not None and self._ray.process.poll() is not None:
            raise LocalError(f"Ray ended by itself; see {self.home / 'ray.log'}")

    def serve(self) -> None:
        """Until Ctrl-C or SIGTERM, which end it well, or until a part has ended for good, which does not."""
        with contextlib.suppress(KeyboardInterrupt, Interrupted):
            while True:
                self.check()
                time.sleep(0.5)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._keeper is not None:
            self._keeper.end()
        if self._ray is not None:
            self._ray.stop()
        (self.home / "service.json").unlink(missing_ok=True)
        self._lock.close()
