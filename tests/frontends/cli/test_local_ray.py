"""A real Ray: starts on loopback, runs a job, and leaves nothing behind."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from frontends.cli.local_ray import LocalRay, Process, processes_of
from frontends.cli.ray_folders import folder_of
from service.launching.ray_jobs import RayJobs
from tests.processes import short_home, until

HOLDER = """
import sys, time
from pathlib import Path
from frontends.cli.local_ray import LocalRay
ray = LocalRay.start(Path(sys.argv[1]), 1)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def ray() -> Iterator[LocalRay]:
    with short_home() as home:
        running = LocalRay.start(home, 1)
        family = running.processes()
        try:
            yield running
        finally:
            running.stop()
        assert running.processes() == set()
        assert [process for process in family if process.is_alive()] == []


@pytest.fixture
def jobs(ray: LocalRay) -> Iterator[RayJobs]:
    with RayJobs(ray.jobs_url, ray.token) as client:
        yield client


def listening(pids: set[int]) -> set[str]:
    """The local addresses these processes listen on, in the kernel's hexadecimal."""
    inodes = set()
    for pid in pids:
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            try:
                inodes.add(str(fd.readlink()))
            except OSError:
                continue
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {row[1].split(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes}


def test_only_the_owner_can_read_the_token_and_it_is_needed(ray: LocalRay, jobs: RayJobs) -> None:
    assert stat.S_IMODE(ray.token_path.stat().st_mode) == 0o600
    assert jobs.alive()
    for other in (None, "wrong"):
        with RayJobs(ray.jobs_url, other) as stranger:
            assert not stranger.alive()


def test_it_listens_on_loopback_only(ray: LocalRay) -> None:
    found = listening({process.pid for process in ray.processes()})
    assert found
    assert found <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def test_a_job_runs_with_this_interpreter_and_its_environment(jobs: RayJobs) -> None:
    jobs.submit(
        "j1", "python -c 'import os, sys, workers; print(sys.executable, os.environ[\"GIVEN\"])'", {"GIVEN": "x7"}
    )
    status = until(lambda: (s := jobs.status("j1")) and s.is_ended() and s, "the job to end")
    assert status.status == "SUCCEEDED"
    assert f"{sys.executable} x7" in jobs.logs("j1")
    assert jobs.delete("j1")
    assert jobs.status("j1") is None


def test_stopping_a_job_ends_its_processes_even_if_they_ignore_sigterm(ray: LocalRay, jobs: RayJobs) -> None:
    stubborn = 'import signal, time; signal.signal(15, signal.SIG_IGN); print("deaf"); time.sleep(600)'
    jobs.submit("j2", f"python -uc '{stubborn}'")
    until(lambda: "\ndeaf" in jobs.logs("j2"), "the job to run")
    assert jobs.live() == {"j2"}
    assert jobs.stop("j2")
    assert until(lambda: (s := jobs.status("j2")) and s.is_ended() and s, "the job to end").status == "STOPPED"
    until(lambda: not any("SIG_IGN" in _command(p) for p in ray.processes()), "its process to end")
    assert jobs.live() == set()


def _command(process: Process) -> str:
    try:
        return Path(f"/proc/{process.pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize("number", [signal.SIGKILL])
def test_ray_ends_with_the_process_that_started_it(number: int) -> None:
    with short_home() as home:
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(home)], stdout=subprocess.PIPE)
        assert holder.stdout is not None
        with holder.stdout:
            assert holder.stdout.readline() == b"ready\n"
            family = processes_of(home / "ray")
            assert len(family) > 5
            holder.send_signal(number)
            holder.wait(10)
        until(lambda: not any(p.is_alive() for p in family), "Ray to end")
        until(lambda: not processes_of(home / "ray"), "all of Ray to end")


def test_a_long_home_gets_a_short_folder_for_the_sockets(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 20)
    chosen = folder_of(home)
    try:
        assert len(str(chosen)) <= 38
    finally:
        chosen.parent.rmdir()
    assert folder_of(Path("/tmp/h")) == Path("/tmp/h/ray")
