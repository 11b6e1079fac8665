"""Ray and the service on this machine, started and ended together."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType, TracebackType
from urllib.parse import urlencode

import httpx

from frontends.cli.local_ray import DIE_WITH_PARENT, LocalRay, Process, RayDidNotStart, environ_of
from frontends.cli.ray_keeper import RayKeeper
from frontends.cli.uninterrupted import uninterrupted
from frontends.home import NOTE, HomeError, check_room, claim, has_no_room, keep_token
from service.contract.wire.addresses import is_loopback
from service.contract.wire.exits import BAD_SETTINGS, STORE_AWAY
from service.contract.wire.log_lines import readable
from service.contract.wording.numbers import duration

log = logging.getLogger("paretoscope.up")

PREFERRED_PORT = 8000
RAY_READY = "ray.ready"  # in the home, while Ray takes jobs
WAITING = 128  # connections that nobody has answered yet
CHOSEN = ("PARETOSCOPE_TOKEN", "PARETOSCOPE_TOKEN_PATH", "PARETOSCOPE_RAY_TOKEN")  # never those of the shell
READY_SECONDS = 60.0
LEAVE_SECONDS = 10.0  # for what is in training to save its state, unless PARETOSCOPE_LEAVE_SECONDS says otherwise
END_SECONDS = 15.0  # for the service itself
RESTARTS = 5
RESTARTS_WITHIN_SECONDS = 60.0
STORE_LOOK_SECONDS = 1.0  # between two starts of a service whose database is away
EARLIER_SECONDS = 20.0  # for the service of an `up` that was killed: it ends open connections first


class LocalError(Exception):
    """Why this machine could not be brought up, and what to do."""


class Interrupted(BaseException):
    """SIGTERM: end in order, like Ctrl-C."""


def raise_on_sigterm() -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    signal.signal(signal.SIGTERM, interrupt)


def listen(host: str, asked: int | None) -> socket.socket:
    """Listening on the port that was asked for, else on 8000, else on any free one.

    Taken before anything starts and held until all has ended: nobody else can answer in place of our service, and who
    calls while it starts again waits for it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in (asked,) if asked else (PREFERRED_PORT, 0):
        door = socket.socket(family)
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((host, port))
            door.listen(WAITING)
        except OSError as error:
            reason = error.strerror
            door.close()
            continue
        return door
    what = f"port {asked} on {host}" if asked else host
    raise LocalError(f"{what} cannot be used: {reason}; choose with --host and --port")


def wait_for_an_earlier_service(home: Path) -> None:
    """One whose `up` was killed is just ending, and still has our port; by the lock nobody else uses the home."""
    try:
        earlier = Process.read(int(json.loads((home / NOTE).read_text())["pid"]))
    except (OSError, ValueError, KeyError, TypeError):  # ended in order, or never begun
        return
    mine = f"PARETOSCOPE_HOME={home}".encode()
    if earlier is None or mine not in environ_of(earlier[0].pid).split(b"\0"):
        return
    deadline = time.monotonic() + EARLIER_SECONDS
    while earlier[0].is_alive() and time.monotonic() < deadline:
        time.sleep(0.1)


def _seconds(text: str) -> float:
    """None where it is no number: the service says what is wrong with it."""
    try:
        return float(text)
    except ValueError:
        return 0.0


class ServiceKeeper(threading.Thread):
    """Starts the service, and starts it again when it dies: the log on disk is the truth, a study goes on.

    All starts come from this one thread, as Linux ends the service together with the thread that started it.
    """

    def __init__(self, environment: dict[str, str], home: Path, note: dict[str, str], door: int | None = None) -> None:
        super().__init__(name="service-keeper", daemon=True)
        self._environment, self._home, self._note, self._door = environment, home, note, door
        self._end_seconds = END_SECONDS + _seconds(environment.get("PARETOSCOPE_LEAVE_SECONDS") or "0")
        self._ending = threading.Event()
        self._noted = True
        self.given_up: str | None = None

    def run(self) -> None:
        """A database that goes away is waited for, and a disk that is full; one that was never there is not."""
        starts: list[float] = []
        was_there = told = False
        while not self._ending.is_set():
            starts = [start for start in starts if time.monotonic() - start < RESTARTS_WITHIN_SECONDS]
            if len(starts) > RESTARTS:
                self.given_up = f"the service ended {len(starts)} times in a minute; its log ends:\n{self._tail(8)}"
                return
            starts.append(time.monotonic())
            try:
                process = self._start()
            except OSError as error:
                if was_there and has_no_room(self._home, error):
                    starts.pop()
                    self._ending.wait(STORE_LOOK_SECONDS)
                    continue
                self.given_up = f"the service could not be started: {error}"
                return
            while process.poll() is None and not self._ending.wait(0.1):
                if not self._noted:
                    self._note_down(process.pid)
            if process.poll() is None:
                self._end_process(process, self._end_seconds)
            elif process.poll() == BAD_SETTINGS:
                self.given_up = f"the service cannot start as it is set: {self._tail(1)}"
                return
            elif was_there and (process.poll() == STORE_AWAY or has_no_room(self._home)):
                starts.pop()
                if not told:
                    log.error("the service cannot start, and is tried until it can: %s", self._tail(1))
                told = True
                self._ending.wait(STORE_LOOK_SECONDS)
            elif process.poll() != STORE_AWAY:
                was_there, told = True, False

    def _tail(self, count: int) -> str:
        lines = (self._home / "service.log").read_text(errors="replace").splitlines()[-count:]
        return "\n".join(readable(line) for line in lines)

    def _start(self) -> subprocess.Popen[bytes]:
        with (self._home / "service.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", DIE_WITH_PARENT, str(os.getpid()), sys.executable, "-m", "service"],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=() if self._door is None else (self._door,),
            )
        self._note_down(process.pid)
        return process

    def _note_down(self, pid: int) -> None:
        """Whole or not at all; when there is no room for it the old one stays, and it is tried again."""
        draft = self._home / f".{NOTE}"
        try:
            draft.write_text(json.dumps({**self._note, "pid": pid}))
            draft.replace(self._home / NOTE)
            self._noted = True
        except OSError:
            draft.unlink(missing_ok=True)
            self._noted = False

    @staticmethod
    def _end_process(process: subprocess.Popen[bytes], seconds: float) -> None:
        process.terminate()
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=5)

    def end(self) -> None:
        """Before Ray is: the service sees to it that nothing of what was trained is lost."""
        self._ending.set()
        self.join(timeout=self._end_seconds + 10)


class Local:
    """A context: inside it Ray and the service run; at its end everything it started is gone."""

    def __init__(
        self,
        home: Path,
        host: str,
        port: int | None,
        token: str | None,
        cpus: int | None,
        guarded: bool = True,
        allow_code: bool = False,
    ) -> None:
        self.home = home.expanduser().resolve()
        self._allow_code = allow_code
        self._host, self._port, self._cpus = host, port, cpus
        self._guarded, self.token = guarded, token
        self._ray_keeper: RayKeeper | None = None
        self._keeper: ServiceKeeper | None = None
        self._door: socket.socket | None = None
        self.url = ""

    def __enter__(self) -> Local:
        if not self._guarded and not is_loopback(self._host):
            raise LocalError(f"without a token only this machine may reach the service, but --host is {self._host!r}")
        try:
            check_room(self.home)
            claim(self.home)
            self._lock = (self.home / "lock").open("a")
        except HomeError as error:
            raise LocalError(str(error)) from error
        except OSError as error:  # a disk that is full, or can only be read
            raise LocalError(
                f"{self.home} cannot be used as a home: {error.strerror}; choose another --home"
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise LocalError(
                f"another paretoscope is using {self.home}: use that one, end it, or choose another --home"
            ) from None
        try:
            wait_for_an_earlier_service(self.home)
            self._door = listen(self._host, self._port)
            (self.home / RAY_READY).unlink(missing_ok=True)
            ray = LocalRay.start(self.home, self._cpus, self._serve_beside)
            (self.home / RAY_READY).touch(mode=0o600)
            self._ray_keeper = RayKeeper(ray, self.home, self._cpus)
            self._ray_keeper.start()
            self._wait_ready()
        except RayDidNotStart as error:
            self.__exit__(None, None, None)
            raise LocalError(str(error)) from error
        except OSError as error:
            self.__exit__(None, None, None)
            raise LocalError(f"{error.filename or self.home} cannot be written: {error.strerror}") from error
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def link(self, page: str | None = None) -> str:
        """A page's address with the token, which becomes a cookie when it is opened."""
        address = page or f"{self.url}/"
        return f"{address}?{urlencode({'token': self.token})}" if self._guarded else address

    def _serve_beside(self, ray: LocalRay) -> None:
        """The service starts while Ray does, and submits nothing before the file says that Ray takes jobs. An attempt
        of Ray that failed had other addresses: the service is started with those of the next."""
        if self._keeper is not None:
            self._keeper.end()
        if self._door is not None:
            self._start_service(ray, self._door)

    def _start_service(self, ray: LocalRay, door: socket.socket) -> None:
        port = int(door.getsockname()[1])
        reachable = "127.0.0.1" if self._host in ("0.0.0.0", "") else "[::1]" if self._host == "::" else self._host
        reachable = f"[{reachable}]" if ":" in reachable and "[" not in reachable else reachable
        self.url = f"http://{reachable}:{port}"
        secret: dict[str, str] = {}
        if self._guarded:
            path = keep_token(self.home, self.token)
            self.token = path.read_text()
            secret = {"PARETOSCOPE_TOKEN_PATH": str(path), "PARETOSCOPE_DRIVER_TOKENS": str(self.home / "drivers")}
        environment = {
            **{name: value for name, value in os.environ.items() if name not in CHOSEN},
            "PARETOSCOPE_HOME": str(self.home),
            "PARETOSCOPE_HOST": self._host,
            "PARETOSCOPE_PORT": str(port),
            "PARETOSCOPE_FD": str(door.fileno()),
            "PARETOSCOPE_URL": self.url,
            "PARETOSCOPE_LEAVE_SECONDS": os.environ.get("PARETOSCOPE_LEAVE_SECONDS") or str(LEAVE_SECONDS),
            "PARETOSCOPE_RAY_URL": ray.jobs_url,
            "PARETOSCOPE_RAY_TOKEN_PATH": str(ray.token_path),
            "PARETOSCOPE_RAY_READY_PATH": str(self.home / RAY_READY),
            **({"PARETOSCOPE_ALLOW_CODE": "true"} if self._allow_code else {}),
            **secret,
        }
        note = {"url": self.url, "ray_address": ray.address, "ray_token_path": str(ray.token_path)}
        self._keeper = ServiceKeeper(environment, self.home, note, door.fileno())
        self._keeper.start()

    def _wait_ready(self) -> None:
        end = time.monotonic() + READY_SECONDS
        said = "it did not answer"
        while time.monotonic() < end:
            self.check()
            try:
                # Plain HTTP: to read all certificates for each look would take a fifth of a processor.
                answer = httpx.get(f"{self.url}/readyz", timeout=5, trust_env=False, verify=False)
                if answer.status_code == 200:
                    return
                said = answer.text
            except httpx.HTTPError as error:
                said = str(error)
            time.sleep(0.1)
        raise LocalError(f"the service was not ready after {duration(READY_SECONDS)}: {said}")

    def check(self) -> None:
        """Raise when a part has ended for good."""
        for keeper in (self._keeper, self._ray_keeper):
            if keeper is not None and keeper.given_up:
                raise LocalError(keeper.given_up)

    def serve(self) -> None:
        """Until Ctrl-C or SIGTERM, which end it well, or until a part has ended for good, which does not."""
        with contextlib.suppress(KeyboardInterrupt, Interrupted):
            while True:
                self.check()
                time.sleep(0.5)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """To its end, however often it is asked for: each part ends within a time of its own."""
        with uninterrupted():
            self._end()

    def _end(self) -> None:
        if self._keeper is not None:
            self._keeper.end()
        if self._ray_keeper is not None:
            self._ray_keeper.end()
        if self._door is not None:
            self._door.close()
        with contextlib.suppress(OSError):  # where nothing can be written, nothing was
            (self.home / NOTE).unlink(missing_ok=True)
            (self.home / RAY_READY).unlink(missing_ok=True)
        self._lock.close()
