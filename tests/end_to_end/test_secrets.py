"""Nothing secret where others could read it, while a study runs and after."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontends.cli.local_ray import processes_of
from frontends.cli.ray_folders import folder_of, remove_short
from frontends.client import Client, Study
from tests.end_to_end.test_studies import driver_of
from tests.processes import OF_A_DATABASE, Running, until
from workers.run_study import SCRATCH

MADE = re.compile(rb"ps_[A-Za-z0-9_-]{43}")
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture(scope="module")
def running(cluster: Running) -> Iterator[Study]:
    """A study long enough to be looked at."""
    arms = [{"name": "MIB", "weighting": {"name": "mib"}}]
    spec: dict[str, Any] = {"name": "long", "seeds": [0], "training": {"epochs": 10_000}, "arms": arms}
    with Client(cluster.url, cluster.token) as client:
        study = client.submit(spec)
        until(lambda: study.read()["counts"]["running"], "a trial runs", 120)
        yield study
        study.cancel()


def secrets_of(cluster: Running) -> list[bytes]:
    """The home's own, and the password that its `up` found in the environment for PostgreSQL."""
    own = [(cluster.home / name).read_bytes().strip() for name in ("token", "ray.token")]
    return [*own, OF_A_DATABASE.encode()]


def is_told(content: bytes, secrets: list[bytes]) -> bool:
    return bool(MADE.search(content)) or any(secret in content for secret in secrets)


def test_a_study_runs_with_a_token_of_its_own(cluster: Running, running: Study) -> None:
    lines = (cluster.home / "audit.log").read_text().splitlines()
    reported = [json.loads(line) for line in lines if f"/api/studies/{running.id}/reports" in line]
    assert {(line["who"], line["status"]) for line in reported} == {(f"driver of {running.id}", 200)}


def test_no_process_is_told_a_secret(cluster: Running, running: Study) -> None:
    service = json.loads((cluster.home / "service.json").read_text())["pid"]
    of_ray = [process.pid for process in processes_of(cluster.home / "ray")]
    assert len(of_ray) > 6 and {service, cluster.process.pid}.isdisjoint(of_ray)
    looked = 0
    for pid in (*of_ray, service, cluster.process.pid):
        secrets = secrets_of(cluster)[: None if pid in of_ray else -1]  # the database is the service's
        for name in ("environ", "cmdline"):
            try:
                content = Path(f"/proc/{pid}/{name}").read_bytes()
            except OSError:  # ended meanwhile
                continue
            looked += 1
            assert not is_told(content, secrets), f"{name} of {pid}"
    assert looked > 16


def test_no_file_has_a_secret_but_those_made_for_it(cluster: Running, running: Study) -> None:
    secrets, looked = secrets_of(cluster), 0
    own = {cluster.home / "token", cluster.home / "ray.token"}
    until(lambda: not list((cluster.home / "drivers").iterdir()), "drivers and launcher take their files away", 60)
    for path in cluster.home.rglob("*"):
        if path.is_file() and path not in own:
            looked += 1
            assert not is_told(path.read_bytes(), secrets), path
    assert looked > 20
    assert all(path.stat().st_mode & 0o077 == 0 for path in own)


def test_no_event_has_a_secret(cluster: Running, running: Study) -> None:
    trial = running.trials()[0]["id"]
    for path in ("", "/trials", f"/trials/{trial}", "/export?format=json"):
        answer = cluster.get(f"/api/studies/{running.id}{path}")
        assert answer.status_code == 200 and not is_told(answer.content, secrets_of(cluster))


def is_closed_to_nobody(path: Path) -> bool:
    """Another user can neither list the folder nor read the file."""
    command = ["ls" if path.is_dir() else "cat", str(path)]
    looked = subprocess.run(
        command, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", check=False, capture_output=True, timeout=60
    )
    return looked.returncode != 0 and looked.stdout == b""


@needs_root
def test_another_user_reads_nothing_of_the_home(cluster: Running, running: Study) -> None:
    assert not is_closed_to_nobody(Path("/"))
    for path in (cluster.home, *cluster.home.iterdir(), cluster.home / "ray" / "session_latest" / "logs"):
        assert is_closed_to_nobody(path), path


@needs_root
def test_another_user_reads_nothing_of_what_a_driver_keeps_in_the_temporary_folder(
    cluster: Running, running: Study
) -> None:
    [driver] = driver_of(cluster, running)
    [scratch] = Path(tempfile.gettempdir()).glob(f"{SCRATCH}{driver}-*")
    below = until(lambda: list(scratch.rglob("*")), "Ray Tune has written something there", 60)
    for path in (scratch, *below):
        assert is_closed_to_nobody(path), path


@needs_root
def test_another_user_reads_nothing_of_the_folder_that_stands_in_for_one_below_a_long_home(tmp_path: Path) -> None:
    below = folder_of(tmp_path / ("long" * 20))
    try:
        below.mkdir()
        below.chmod(0o777)  # as Ray does with its own
        (below / "log").write_text("of a driver")
        assert below.parent.parent == Path(tempfile.gettempdir())
        for path in (below.parent, below, below / "log"):
            assert is_closed_to_nobody(path), path
    finally:
        remove_short(below)
    assert not below.parent.exists()
