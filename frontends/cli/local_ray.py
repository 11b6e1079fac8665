"""A one-node Ray on loopback: private ports, its own token, and nothing left of it afterwards."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import httpx

from frontends.cli.ray_folders import folder_of, remove_short, sweep_folders
from frontends.cli.uninterrupted import uninterrupted
from service.contract.wording.numbers import duration

HOST = "127.0.0.1"
START_SECONDS = 180.0  # one that has died is noticed at once; on a machine with much to do it takes its time
STOP_SECONDS = 5.0
ATTEMPTS = 3
OBJECT_STORE_BYTES = 300_000_000  # reports and plans only; data sets are read from disk

# Carried by every process that descends from ours, whatever session or parent it ends up with.
MARK = "PARETOSCOPE_RAY"

# `ray start` gets SIGTERM when the process that started it dies, even by SIGKILL. Done in a fresh interpreter
# that then becomes Ray, as code between fork and exec is not safe in a program with threads.
DIE_WITH_PARENT = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the starting process is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""

ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_JOB_STOP_WAIT_TIME_S": "3",  # seconds from SIGTERM to SIGKILL when a study is cancelled
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # else 127.0.0.1 becomes the public address, here too
    "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",  # there is no other node that could take over
    "RAY_prestart_worker_first_driver": "0",  # our drivers run no tasks
}


class RayDidNotStart(RuntimeError):
    """Ray was not ready in time, or ended at once; the message carries the end of its output."""


class Process(NamedTuple):
    """A process id with the time it began, so that a reused id is not mistaken for it."""

    pid: int
    began: str

    @classmethod
    def read(cls, pid: int) -> tuple[Process, int] | None:
        """The living process with this id, and its parent's id."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else (cls(pid, fields[19]), int(fields[1]))

    def is_alive(self) -> bool:
        now = self.read(self.pid)
        return now is not None and now[0] == self


@dataclass(frozen=True)
class LocalRay:
    """A running Ray. Start it from a thread that lives as long as it should: Linux ends it with that thread."""

    jobs_url: str
    address: str
    agent_url: str
    token: str
    token_path: Path
    temp_dir: Path
    process: subprocess.Popen[bytes]

    @classmethod
    def start(
        cls, home: Path, cpus: int | None = None, launched: Callable[[LocalRay], None] = lambda ray: None
    ) -> LocalRay:
        """Start Ray and wait until it takes jobs; a port taken in the meantime means another attempt.

        `launched` is told of each attempt when its addresses are known, long before it takes jobs.
        """
        home = home.expanduser().resolve()
        sweep_folders(lambda folder: bool(processes_of(folder)))
        temp_dir = folder_of(home)
        _wait_for_an_earlier_ray(temp_dir)
        token_path, token = _write_token(home)

        def launch() -> LocalRay:
            return cls._launch(home, temp_dir, token_path, token, cpus)

        return cls._tried(launch, home / "ray.log", launched=launched)

    def again(self, home: Path, cpus: int | None, ending: threading.Event) -> LocalRay:
        """Another Ray in place of this one that has ended: same token, and jobs are taken at the same address."""
        port = int(self.jobs_url.rpartition(":")[2])

        def launch() -> LocalRay:
            return self._launch(home, self.temp_dir, self.token_path, self.token, cpus, port)

        return self._tried(launch, home / "ray.log", ending)

    @staticmethod
    def _tried(
        launch: Callable[[], LocalRay],
        log: Path,
        ending: threading.Event | None = None,
        launched: Callable[[LocalRay], None] = lambda ray: None,
    ) -> LocalRay:
        for attempt in range(1, ATTEMPTS + 1):
            ray = launch()
            try:
                launched(ray)
                ray._wait_until_ready(log, ending)
            except RayDidNotStart:
                ray.stop()
                if attempt == ATTEMPTS or (ending is not None and ending.is_set()):
                    raise
            except BaseException:
                with uninterrupted():
                    ray.stop()
                raise
            else:
                return ray
        raise AssertionError("unreachable")

    @classmethod
    def _launch(
        cls, home: Path, temp_dir: Path, token_path: Path, token: str, cpus: int | None, port: int | None = None
    ) -> LocalRay:
        """`port` is that of the Jobs API; none: any free one, as for everything else."""
        shutil.rmtree(temp_dir, ignore_errors=True)
        temp_dir.mkdir(parents=True, mode=0o700)
        gcs, dashboard, client, agent, agent_grpc, environment, metrics, dashboard_metrics = _free_ports(8)
        dashboard = port or dashboard
        binaries = Path(sys.executable).parent
        command = [
            *(sys.executable, "-c", DIE_WITH_PARENT, str(os.getpid())),
            *(
                str(binaries / "ray"),
                "start",
                "--head",
                "--block",
                "--disable-usage-stats",
                "--log-color=false",
            ),
            *("--no-monitor", "--include-log-monitor=false"),  # nobody here needs them
            *(
                f"--node-ip-address={HOST}",
                f"--port={gcs}",
                f"--ray-client-server-port={client}",
                f"--temp-dir={temp_dir}",
            ),
            *("--include-dashboard=true", f"--dashboard-host={HOST}", f"--dashboard-port={dashboard}"),
            *(f"--dashboard-agent-listen-port={agent}", f"--dashboard-agent-grpc-port={agent_grpc}"),
            *(f"--runtime-env-agent-port={environment}", f"--metrics-export-port={metrics}"),
            *("--min-worker-port=0", "--max-worker-port=0"),  # any free one
            f"--object-store-memory={OBJECT_STORE_BYTES}",
            *([] if cpus is None else [f"--num-cpus={cpus}"]),
        ]
        with (home / "ray.log").open("ab" if port else "wb") as log:
            process = subprocess.Popen(
                command,
                env={
                    **_environment(binaries, token_path, temp_dir),
                    "DASHBOARD_METRIC_PORT": str(dashboard_metrics),
                },
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal is for us; we then stop Ray in order
            )
        return cls(
            f"http://{HOST}:{dashboard}",
            f"{HOST}:{gcs}",
            f"http://{HOST}:{agent}",
            token,
            token_path,
            temp_dir,
            process,
        )

    def _wait_until_ready(self, log: Path, ending: threading.Event | None = None) -> None:
        """Ready means that the Jobs API answers and the node's agent, which runs the jobs, is there."""
        deadline = time.monotonic() + START_SECONDS
        headers = {"Authorization": f"Bearer {self.token}"}
        waiting = [f"{self.jobs_url}/api/jobs/", f"{self.agent_url}/api/local_raylet_healthz"]
        with httpx.Client(headers=headers, timeout=5, trust_env=False) as client:
            while time.monotonic() < deadline:
                if ending is not None and ending.is_set():
                    raise RayDidNotStart("it is no longer wanted")
                if self.process.poll() is not None:
                    raise RayDidNotStart(f"Ray ended with code {self.process.returncode}:\n{_tail(log)}")
                with contextlib.suppress(httpx.HTTPError):
                    if client.get(waiting[0]).status_code == httpx.codes.OK:
                        del waiting[0]
                        if not waiting:
                            return
                        continue
                time.sleep(0.1)
        raise RayDidNotStart(f"Ray did not answer at {waiting[0]} within {duration(START_SECONDS)}:\n{_tail(log)}")

    def alive(self) -> bool:
        return self.process.poll() is None

    def processes(self) -> set[Process]:
        """Everything alive that belongs to this Ray: its services, agents, workers and jobs."""
        return processes_of(self.temp_dir, self.process.pid)

    def stop(self) -> None:
        """End every process of this Ray, jobs and workers included, and nothing else. May be called twice.

        Bounded and free of locks and threads, so that a signal handler may call it.
        """
        known = self.processes()
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        left = self._wait_for_end(known, STOP_SECONDS)
        for _ in range(3):
            if not left:
                break
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            left = self._wait_for_end(left, 2.0)
        self.process.poll()  # reaps it, had it ended between the last two looks
        remove_short(self.temp_dir)

    def _wait_for_end(self, known: set[Process], seconds: float) -> set[Process]:
        """What is left of `known`, and of what came after it, when the time is over."""
        deadline = time.monotonic() + seconds
        while True:
            self.process.poll()  # reaps it
            left = {process for process in known if process.is_alive()} | self.processes()
            if not left or time.monotonic() >= deadline:
                return left
            time.sleep(0.05)


def _environment(binaries: Path, token_path: Path, temp_dir: Path) -> dict[str, str]:
    """Ours without another Ray's settings or the service's secrets; jobs find this interpreter first.

    Some twenty processes import the same modules: without bytecode Ray starts in 20 s instead of 8 s.
    """
    foreign = ("RAY_", "PARETOSCOPE_", "PG", "PYTHONDONTWRITEBYTECODE")  # PG…: those of PostgreSQL, as PGPASSWORD
    kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    path = os.pathsep.join([str(binaries), kept.get("PATH", os.defpath)])
    return {**kept, **ENVIRONMENT, "PATH": path, "RAY_AUTH_TOKEN_PATH": str(token_path), MARK: str(temp_dir)}


def _write_token(home: Path) -> tuple[Path, str]:
    """A fresh token in a file that only its owner reads."""
    home.mkdir(parents=True, exist_ok=True)
    path, token = home / "ray.token", secrets.token_hex(32)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(token)
    return path, token


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has now; all are held until all are chosen, so that they differ."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((HOST, 0))
        return [int(each.getsockname()[1]) for each in sockets]


def processes_of(temp_dir: Path, root: int | None = None) -> set[Process]:
    """The living processes that carry this Ray's mark, or descend from one that does, or from `root`.

    Both are needed: some of Ray's processes overwrite their environment with a title, others lose their parent.
    Empty where there is no /proc; there we rely on Ray to end its own processes.
    """
    mark = f"{MARK}={temp_dir}".encode()
    children: dict[int, list[Process]] = {}
    family: list[Process] = []
    for entry in Path("/proc").glob("[0-9]*"):
        alive = Process.read(int(entry.name))
        if alive is None or alive[0].pid == os.getpid():
            continue
        process, parent = alive
        children.setdefault(parent, []).append(process)
        if process.pid == root or mark in environ_of(process.pid).split(b"\0"):
            family.append(process)
    seen: set[Process] = set()
    while family:
        process = family.pop()
        if process not in seen:
            seen.add(process)
            family.extend(children.get(process.pid, []))
    return seen


def environ_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # ended meanwhile, or another user's
        return b""


def _wait_for_an_earlier_ray(temp_dir: Path) -> None:
    """A Ray whose owner was killed is just ending; one that stays belongs to somebody who still runs."""
    deadline = time.monotonic() + 15
    while left := processes_of(temp_dir):
        if time.monotonic() > deadline:
            raise RayDidNotStart(f"another Ray runs in {temp_dir} (processes {sorted(p.pid for p in left)})")
        time.sleep(0.2)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-15:])
