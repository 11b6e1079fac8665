"""docker-compose.yml read as Compose reads it, and its services as processes of this machine."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from frontends.cli.local_ray import MARK, Process, processes_of

ROOT = Path(__file__).parent.parent.parent
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\}")

# Addresses of their own, as containers have; all of 127.0.0.0/8 is this machine.
ADDRESSES = {"ray-head": "127.0.0.2", "ray-worker": "127.0.0.3", "service": "127.0.0.1"}
STOP_SECONDS = 15.0


def load(name: str = "docker-compose.yml") -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / name).read_text()))


def interpolate(value: Any, variables: Mapping[str, str]) -> Any:
    """`${X}`, `${X:-default}` and `${X:?message}` in every text of a tree; an empty variable counts as unset."""

    def fill(match: re.Match[str]) -> str:
        given = variables.get(match["name"], "")
        if not given and match["kind"] == "?":
            raise KeyError(f"{match['name']}: {match['rest']}")
        return given or (match["rest"] if match["kind"] == "-" else "")

    if isinstance(value, str):
        return VARIABLE.sub(fill, value)
    if isinstance(value, list):
        return [interpolate(each, variables) for each in value]
    if isinstance(value, dict):
        return {key: interpolate(each, variables) for key, each in value.items()}
    return value


def write_secrets(folder: Path, variables: Mapping[str, str]) -> Path:
    """The file's secrets as Compose makes them from variables, which containers find below /run/secrets."""
    folder.mkdir(mode=0o700)
    for name, secret in load()["secrets"].items():
        (folder / name).write_text(variables[secret["environment"]])
    return folder


class Moved(NamedTuple):
    """Where a service finds on this machine what it expects in its container."""

    name: str
    ports: dict[str, int]
    folders: dict[str, Path]

    def __call__(self, text: str) -> str:
        text = re.sub(r"0\.0\.0\.0|127\.0\.0\.1", ADDRESSES[self.name], text)
        text = re.sub(r"\b(ray-head|service)(?=:\d)", lambda m: ADDRESSES[m[1]], text)
        for folder, here in self.folders.items():
            text = text.replace(folder, str(here))
        return re.sub(r"(?<=[:=])\d+\b|^\d+$", lambda m: str(self.ports.get(m[0], m[0])), text)


class Started(NamedTuple):
    """A service of the file, running as a process."""

    name: str
    process: subprocess.Popen[bytes]
    healthcheck: list[str]
    environment: dict[str, str]
    home: Path

    def wait_until_healthy(self, seconds: float) -> None:
        """Runs the file's healthcheck about once a second; a service that has ended will never be healthy."""
        end = time.monotonic() + seconds
        while subprocess.run(self.healthcheck, check=False, env=self.environment, stderr=subprocess.DEVNULL).returncode:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=1)
            assert self.process.poll() is None, f"{self.name} ended with {self.process.returncode}:\n{self.log()}"
            assert time.monotonic() < end, f"{self.name} was not healthy after {seconds:g} s:\n{self.log()}"

    def kill(self) -> None:
        """As a machine dies: all its processes at once, by their ids."""
        for process in processes_of(self.home / "nobody", self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        self.process.wait(timeout=STOP_SECONDS)

    def log(self) -> str:
        text = (self.home / f"{self.name}.log").read_text(errors="replace")
        return "\n".join(text.splitlines()[-40:])


def start(service: dict[str, Any], moved: Moved, home: Path, *added: str, **extra: str) -> Started:
    """The service's own command and environment. Added is only what containers have apart and processes share."""
    name = moved.name
    command = [*(moved(word) for word in service["command"]), *added]
    if command[:2] == ["ray", "start"]:
        command += [f"--node-ip-address={ADDRESSES[name]}", f"--temp-dir={home / name}"]
        if cpus := service.get("cpus"):
            command += [f"--num-cpus={cpus}"]  # Ray reads it from the container's limit
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("RAY_", "PARETOSCOPE_"))}
    environment = {
        **kept,
        **{key: moved(value) for key, value in service["environment"].items()},
        **extra,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", os.defpath)]),
        MARK: str(home),
    }
    with (home / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    test = [moved(word) for word in service["healthcheck"]["test"][1:]]
    return Started(name, process, test, environment, home)


@contextmanager
def ended_afterwards(home: Path) -> Iterator[list[Started]]:
    """Whatever is put on the list is ended, last first; then what is left of it, found by its mark, by its id."""
    running: list[Started] = []
    try:
        yield running
    finally:
        for started in reversed(running):
            print(f"--- {started.name}\n{started.log()}")
            started.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                started.process.wait(timeout=STOP_SECONDS)
        _kill(home, running)


def _kill(home: Path, running: list[Started]) -> None:
    def left() -> set[Process]:
        roots = [processes_of(home, started.process.pid) for started in running if started.process.poll() is None]
        return processes_of(home).union(*roots)

    end = time.monotonic() + STOP_SECONDS
    while (still := left()) and time.monotonic() < end:
        for process in still:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.1)
    assert not still, f"could not end {sorted(process.pid for process in still)}"
