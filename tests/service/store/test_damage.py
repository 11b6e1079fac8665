"""Disks that are full, and disks that fail: told in words, harming as little as they can, and gone on from."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from frontends.cli.local_ray import processes_of
from frontends.cli.ray_folders import folder_of
from service.contract.wire.events import StudyFinished, StudyState
from service.store.database import FILE
from service.store.incoming import Draft
from service.store.sql import SqlStore
from tests.processes import BIN, environment, free_port, short_home
from tests.service.bench import SPEC, Bench
from tests.service.store.conftest import STARTED, kinds, report


@contextmanager
def mounted(place: Path, options: str) -> Iterator[None]:
    """A small disk in memory, of its owner alone as a home is."""
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small disk")
    command = [mount, "-t", "tmpfs", "-o", f"mode=700,{options}", "none", str(place)]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("this machine does not let a small disk be mounted")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A home on a disk of a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    with mounted(place, "size=1m"):
        yield place


def fill(disk: Path) -> Path:
    """Whatever is free on it is taken."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return ballast


def test_on_a_full_disk_every_write_is_a_507_and_all_goes_on_when_there_is_space(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(small_disk, keep_free_bytes=100_000, studies_at_once=1)
    study, waiting = bench.submit(), bench.submit()
    bench.launcher.tick()
    trial = bench.trials(study)[0]
    ballast = fill(small_disk)
    lines = ["x" * 500] * 100
    event = {"uid": "r", "kind": "report", "trial": trial, "metrics": {"epoch": 1}, "log": lines}
    calls: list[Callable[[], httpx.Response]] = [
        lambda: bench.send(study, event),
        lambda: bench.cancel(waiting),
        lambda: bench.cancel(study),
        lambda: bench.ask("POST", "/api/studies", json=SPEC),
        lambda: bench.delete(waiting),
    ]
    for call in calls:
        answer = call()
        assert (answer.status_code, answer.json()["error"]["code"]) == (507, "no_space"), answer.text
        assert "the store's disk is full, and nothing was written" in answer.json()["error"]["message"]
    weights = f"/api/studies/{study}/trials/{trial}/artifacts/checkpoint.safetensors"
    answer = bench.ask("PUT", weights, content=b"weights")
    assert (answer.status_code, answer.json()["error"]["code"]) == (507, "no_space"), (
        "also before the last byte is gone"
    )
    assert bench.launcher.step() is True
    assert not [record for record in caplog.records if record.exc_info], "in words"
    assert bench.state(study) == "running", "what is there can be read"
    ballast.unlink()
    assert bench.report(study, event)["accepted"] == 1
    assert bench.ask("PUT", weights, content=b"weights").status_code == 204
    assert bench.cancel(study).status_code == 200 and bench.state(study) == "cancelled"
    bench.close()


def test_a_file_that_finds_no_room_is_a_507_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path, keep_free_bytes=0)
    study = bench.submit()
    bench.launcher.tick()
    path = f"/api/studies/{study}/trials/{bench.trials(study)[0]}/artifacts/checkpoint.safetensors"

    def no_room(draft: Draft) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Draft, "settle", no_room)
        answer = bench.ask("PUT", path, content=b"weights")
    assert (answer.status_code, answer.json()["error"]["code"]) == (507, "no_space")
    assert bench.ask("PUT", path, content=b"weights").status_code == 204
    bench.close()


@pytest.mark.parametrize("home", ["/proc/paretoscope", "/dev/null/home"])
def test_an_impossible_home_is_a_sentence_and_an_exit_code(home: str) -> None:
    for command in ([sys.executable, "-m", "service"], [str(Path(sys.executable).parent / "paretoscope"), "up"]):
        done = subprocess.run(
            command, env=environment(PARETOSCOPE_HOME=home), capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 1 and "Traceback" not in done.stderr + done.stdout
        assert home in done.stderr + done.stdout


def test_a_home_that_cannot_be_written_is_a_sentence() -> None:
    with short_home() as home, mounted(home, "ro,size=20m"):
        variables = environment(PARETOSCOPE_HOME=str(home))
        for command in ([sys.executable, "-m", "service"], [str(BIN / "paretoscope"), "up"]):
            done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
            assert str(home) in done.stderr and "cannot be used" in done.stderr
            assert not list(home.iterdir()) and not processes_of(folder_of(home)), "nothing was begun"


@pytest.mark.parametrize("name", ["", "new"])
def test_up_on_a_full_disk_is_a_sentence_and_leaves_nothing(name: str) -> None:
    """At its first start: there is nothing yet to go on from."""
    with short_home() as disk, mounted(disk, "size=2m"):
        fill(disk)
        home = disk / name
        command = [str(BIN / "paretoscope"), "up", "--home", str(home), "--port", str(free_port())]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        [said] = done.stderr.splitlines()
        assert said.startswith(f"error: the disk of {home} is full, it has 0 bytes left and a start needs ")
        assert [path.name for path in disk.iterdir()] == ["ballast"]
        assert not processes_of(home / "ray"), "nothing was begun"


def spoil(home: Path, mark: bytes) -> None:
    """A page on which this stands, and nothing of another study, comes back as noise."""
    file = home / FILE
    content = file.read_bytes()
    size = int.from_bytes(content[16:18], "big")
    starts = [i for i in range(size, len(content), size) if content.count(mark, i, i + size) > 2]
    place = starts[len(starts) // 2]
    with file.open("r+b") as opened:
        opened.seek(place)
        opened.write(b"\xff" * size)


def test_a_damaged_page_harms_one_study_and_not_the_list(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    studies = [bench.submit() for _ in range(3)]
    for study, mark in zip(studies, ("first", "second", "third"), strict=True):
        trial = bench.trials(study)[0]
        events = [
            {
                "uid": f"{e}",
                "kind": "report",
                "trial": trial,
                "metrics": {"epoch": e},
                "log": [f"mark of the {mark} "] * 9,
            }
            for e in range(1, 200)
        ]
        bench.report(study, *events)
    bench.close()
    spoil(tmp_path, b"mark of the second ")
    again = Bench(tmp_path)
    rows = {row["id"]: row for row in again.get("/api/studies")["studies"]}
    assert list(rows) == studies[::-1]
    assert "a part of the store is damaged" in rows[studies[1]]["unreadable"]
    assert not [study for study in (studies[0], studies[2]) if "unreadable" in rows[study]]
    assert again.launcher.step() is True and again.state(studies[0]) == "running"
    assert again.ask("GET", f"/api/studies/{studies[1]}/trials").status_code == 409
    again.close()


def test_a_lost_tail_is_mentioned_and_gone_on_from(
    tmp_path: Path, plain: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    store = SqlStore(tmp_path)
    store.create("s1", plain, None)
    store.create("s2", plain, None)
    store.append("s1", [STARTED, *(report("t", epoch) for epoch in range(1, 6)), StudyFinished(uid="end")])
    store.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("DELETE FROM events WHERE study = 's1' AND seq > 5")
    store = SqlStore(tmp_path)
    row = store.study("s1")
    assert (row.lost_events, row.state) == (3, StudyState.RUNNING), "as what is left of its log says"
    assert "the log of study s1 ends at event 5 of 8" in caplog.text
    assert store.append("s1", [report("t", 4)]).accepted == 1
    assert [logged.seq for logged in store.read("s1", after=0)] == [1, 2, 3, 4, 5, 6], "without holes"
    store.close()
    store = SqlStore(tmp_path)
    assert (store.study("s1").lost_events, store.study("s2").lost_events) == (3, 0), "counted once"
    assert len(kinds(store)) == 6
    store.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("DELETE FROM events WHERE study = 's1' AND seq > 4")
    store = SqlStore(tmp_path)
    assert store.study("s1").lost_events == 5, "a second loss comes on top"
    store.close()


def test_the_answer_says_how_many_events_were_lost(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    study = bench.submit()
    bench.launcher.tick()
    bench.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("UPDATE studies SET last_seq = last_seq + 4")
    again = Bench(tmp_path)
    assert again.read(study)["lost_events"] == 4 and again.state(study) == "running"
    again.close()
