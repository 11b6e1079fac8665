"""Real processes for tests: the service alone, or Ray and the service as `paretoscope up` starts them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

PYTHON = Path(sys.executable)
BIN = PYTHON.parent
NOTHING: Mapping[str, str] = {}
START_SECONDS = 180.0  # two quiet ones; a machine that does much else takes its time


# As it is plain HTTP on this machine: to read all certificates for each request takes longer than most answers.
PLAIN: dict[str, Any] = {"trust_env": False, "verify": False}

# Tests submit, and guess, faster than people do.
OF_A_DATABASE = "a-password-of-postgresql"  # in the environment of the `up` that tests share
UNHURRIED = {"PARETOSCOPE_SUBMISSIONS_PER_MINUTE": "1000000", "PARETOSCOPE_WRONG_TOKENS_PER_MINUTE": "1000000"}


class Running(NamedTuple):
    url: str
    home: Path
    process: subprocess.Popen[bytes]
    token: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def get(self, path: str, **params: Any) -> httpx.Response:
        return httpx.get(self.url + path, params=params or None, headers=self.headers, timeout=30, **PLAIN)

    def post(self, path: str, **arguments: Any) -> httpx.Response:
        headers = {**self.headers, **arguments.pop("headers", {})}
        return httpx.post(self.url + path, headers=headers, timeout=30, **PLAIN, **arguments)

    def delete(self, path: str) -> httpx.Response:
        return httpx.delete(self.url + path, headers=self.headers, timeout=30, **PLAIN)

    def log(self) -> str:
        return (self.home / "service.log").read_text()


def until(condition: Callable[[], Any], what: str, seconds: float = 60.0) -> Any:
    """Wait for a condition, never for a time; the last answer is returned."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := condition():
            return answer
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds:g} s for: {what}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def short_home() -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="ps-", dir="/tmp"))
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2, **PLAIN).status_code == 200
    except httpx.HTTPError:
        return False


def environment(**settings: str) -> dict[str, str]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PARETOSCOPE_")}
    return {**plain, **settings}


@contextmanager
def service_alone(home: Path, port: int | None = None, **settings: str) -> Iterator[Running]:
    """`python -m service`, without Ray unless the settings name one."""
    with service_of(PYTHON, None, home, port, settings) as running:
        yield running


@contextmanager
def service_of(
    python: Path, folder: Path | None, home: Path, port: int | None = None, settings: Mapping[str, str] = NOTHING
) -> Iterator[Running]:
    """The same by the Python of another tree, in its folder."""
    port = port or free_port()
    url = f"http://127.0.0.1:{port}"
    settings = {"PARETOSCOPE_HOME": str(home), "PARETOSCOPE_PORT": str(port), **UNHURRIED, **settings}
    with (home / "service.log").open("ab") as log:
        process = subprocess.Popen(
            [str(python), "-m", "service"],
            cwd=folder,
            env=environment(**settings),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        until(lambda: process.poll() is not None or answers(f"{url}/healthz"), "the service answers", START_SECONDS)
        assert process.poll() is None, (home / "service.log").read_text()
        yield Running(url, home, process)
    finally:
        process.terminate()
        process.wait(timeout=60)


@contextmanager
def up(home: Path, *arguments: str, **settings: str) -> Iterator[Running]:
    """`paretoscope up`, ended by SIGTERM; it must end well."""
    with up_of(PYTHON, home, arguments, settings) as running:
        yield running


@contextmanager
def up_of(
    python: Path, home: Path, arguments: Sequence[str] = (), settings: Mapping[str, str] = NOTHING
) -> Iterator[Running]:
    """The same by the Python of another tree."""
    command = [str(python.parent / "paretoscope"), "up", "--json", "--home", str(home), "--port", str(free_port())]
    command += arguments
    process = subprocess.Popen(command, env=environment(**UNHURRIED, **settings), stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"up ended with {process.wait(timeout=10)}"
        token = home / "token"  # none in 0.1.0
        yield Running(json.loads(line)["url"], home, process, token.read_text() if token.is_file() else None)
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=180)
        if process.stdout is not None:
            process.stdout.close()
    assert code == 0
