"""`paretoscope up` and its PostgreSQL, kept as a machine's service manager keeps them: who ends is started again."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from frontends.cli.local_ray import Process
from frontends.client import Client
from tests.end_to_end.test_studies import processes_below
from tests.faults.paced import Pace
from tests.postgres import Server
from tests.processes import BIN, PLAIN, UNHURRIED, environment, free_port, until

PARTS = ("service", "driver", "worker", "raylet", "gcs", "up", "PostgreSQL")
OWN = ("IDLE", "JobSupervisor", "Agent")  # processes of Ray that train nothing
START_SECONDS = 300.0
END_SECONDS = 60.0


class Stack:
    """`database` is the server and the address of a database on it; without one the home has a SQLite file."""

    def __init__(
        self, home: Path, save_seconds: float, database: tuple[Server, str] | None = None, pace: Pace | None = None
    ) -> None:
        home.mkdir(mode=0o700, exist_ok=True)
        self.home, self.save_seconds = home, save_seconds
        self._server: Server | None = database[0] if database else None
        url = database[1] if database else None
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._settings = {
            **UNHURRIED,
            "PARETOSCOPE_SAVE_SECONDS": str(save_seconds),
            "PARETOSCOPE_KEEP_FREE_BYTES": "20000000",  # of a small disk: files have to leave some of it
            **({"PARETOSCOPE_DATABASE_URL": url} if url else {}),
            **(pace.settings if pace else {}),
        }
        self.ends: list[int] = []  # how `up` ended when nobody had asked it to
        self.drivers: set[int] = set()
        self._up = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [str(BIN / "paretoscope"), "up", "--json", "--home", str(self.home), "--port", str(self._port)]
        with (self.home.parent / f"{self.home.name}-up.log").open("ab") as log:
            return subprocess.Popen(command, env=environment(**self._settings), stdout=log, stderr=log)

    @property
    def token(self) -> str:
        return (self.home / "token").read_text()

    def ready(self) -> None:
        until(self._is_ready, "it is ready", START_SECONDS)

    def _is_ready(self) -> bool:
        self.tend()
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5, **PLAIN).status_code == 200
        except httpx.HTTPError:
            return False

    def tend(self) -> None:
        """Start again what has ended."""
        if self._server is not None and self._server.process.poll() is not None:
            until(self._server.is_gone, "the processes of PostgreSQL are gone")
            self._server.start()
        if (code := self._up.poll()) is not None:
            self.ends.append(code)
            self._up = self._start()

    def client(self) -> Client:
        return Client(self.url, self.token)

    def ask(self, path: str) -> dict[str, Any] | None:
        """None while there is no answer."""
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            answer = httpx.get(self.url + path, headers=headers, timeout=5, **PLAIN)
            return dict(answer.json()) if answer.is_success else None
        except (httpx.HTTPError, OSError):
            return None

    def find(self, part: str, draw: random.Random) -> int | None:
        """The process that is this part now; of several one that is drawn."""
        if part == "up":
            return self._up.pid
        if part == "PostgreSQL":
            return self._server.process.pid if self._server else None
        if part == "service":
            with contextlib.suppress(OSError, ValueError):
                return int(json.loads((self.home / "service.json").read_text())["pid"])
            return None
        below = processes_below(self._up.pid)
        self.drivers |= {pid for pid, title in below.items() if _is(title, "driver")}
        own = sorted(pid for pid, title in below.items() if _is(title, part))
        return draw.choice(own) if own else None

    def restart(self) -> int:
        """In order: SIGTERM, and a start after its end, whose code is returned."""
        code = self.end()
        self._up = self._start()
        return code

    def end(self) -> int:
        self._up.send_signal(signal.SIGTERM)
        return self._up.wait(timeout=END_SECONDS)

    def stop_database(self, seconds: float) -> None:
        """Ended at once, and away for so long."""
        if self._server is not None:
            os.kill(self._server.process.pid, signal.SIGKILL)
            self._server.process.wait(timeout=30)
            time.sleep(seconds)


def has_ended(pid: int) -> bool:
    return Process.read(pid) is None


def _is(title: str, part: str) -> bool:
    program = title.partition(" ")[0].rpartition("/")[2]
    if part == "driver":
        return "workers.run_study" in title and program.startswith("python")
    if part == "worker":
        return title.startswith("ray::") and not any(word in title for word in OWN)
    return program == {"raylet": "raylet", "gcs": "gcs_server"}[part]


@contextlib.contextmanager
def running(
    home: Path, save_seconds: float, database: tuple[Server, str] | None = None, pace: Pace | None = None
) -> Iterator[Stack]:
    """Ready at its beginning; ended in order, whatever happened."""
    stack = Stack(home, save_seconds, database, pace)
    try:
        stack.ready()
        yield stack
    finally:
        if stack._up.poll() is None:
            stack.end()
