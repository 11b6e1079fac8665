"""A PostgreSQL of the tests' own: Debian's server on a cluster in a temporary folder, ended with the tests."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.processes import until

MISSING = "there is no PostgreSQL server on this machine: on Debian, apt-get install postgresql"
ROOM = 500_000_000  # bytes in memory above which the cluster lies there
# Nothing of a test has to survive the power going.
FAST = ("fsync=off", "full_page_writes=off", "max_wal_size=128MB", "max_connections=60", "shared_buffers=32MB")


def binaries() -> Path | None:
    """The folder of the server's programs; Debian keeps them out of PATH."""
    places = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").is_file() and (place / "postgres").is_file()), None)


class Server:
    """One cluster, reached by a socket in a folder that only its owner and root may enter; and at a port of this
    machine's, if one is given."""

    def __init__(self, programs: Path, folder: Path, port: int | None = None) -> None:
        self._programs, self._folder, self._port = programs, folder, port
        self._owner = "nobody" if os.geteuid() == 0 else None  # the server refuses to run as root
        if self._owner:
            shutil.chown(folder, self._owner)
        self._run("initdb", "-D", str(folder / "data"), "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.process = self.start()

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        done = subprocess.run(command, user=self._owner, cwd=self._folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def start(self) -> subprocess.Popen[bytes]:
        doors = ["listen_addresses="] if self._port is None else ["listen_addresses=127.0.0.1", f"port={self._port}"]
        settings = [f"unix_socket_directories={self._folder}", *doors, *FAST]
        command = [str(self._programs / "postgres"), "-D", str(self._folder / "data")]
        command += [word for setting in settings for word in ("-c", setting)]
        with (self._folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, user=self._owner, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until(self._answers, "PostgreSQL answers")
        return self.process

    def _answers(self) -> bool:
        assert self.process.poll() is None, (self._folder / "server.log").read_text()
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
            return True
        except psycopg.OperationalError:
            return False

    def stop(self) -> None:
        """At once, whoever is connected."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)

    def is_gone(self) -> bool:
        """Whether none of its processes is left: those of a server that was killed end a moment later."""
        return not any(_works_in(process, self._folder / "data") for process in Path("/proc").glob("[0-9]*"))

    def url(self, database: str) -> str:
        return f"postgresql://tests@/{database}?host={self._folder}" + (f"&port={self._port}" if self._port else "")

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a new, empty database."""
        name = f"t{secrets.token_hex(4)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        yield self.url(name)
        if self.process.poll() is None:
            with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink() == folder
    except OSError:  # ended meanwhile
        return False


@contextmanager
def postgresql(port: int | None = None) -> Iterator[Server]:
    """Skips the test, in words, where there is no server to start."""
    programs = binaries()
    if programs is None:
        pytest.skip(MISSING)
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > ROOM
    folder = Path(tempfile.mkdtemp(prefix="ps-pg-", dir=memory if roomy else "/tmp"))
    server = None
    try:
        server = Server(programs, folder, port)
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
