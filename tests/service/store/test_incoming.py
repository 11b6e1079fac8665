"""Files on their way in, of which nothing is left when whoever wrote them was killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from service.store.incoming import MARK, drafted, sweep
from tests.processes import Running, service_alone, short_home, until
from tests.service.bench import SPEC

HOST = socket.gethostname().replace("-", "_").replace(".", "_")


def left(folder: Path, host: str, process: int, age: float = 0.0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".weights{MARK}{host}-{process}.x1"
    draft.write_bytes(b"half")
    os.utime(draft, (time.time() - age,) * 2)
    return draft


def test_drafts_of_processes_that_are_gone_are_removed_and_no_others(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(30)
    begun = time.time() - 50
    removed = [
        left(tmp_path / "s1" / "t1", HOST, gone.pid),
        left(tmp_path / "s2", HOST, os.getpid(), age=100),  # of an earlier process with our number
    ]
    kept = [
        left(tmp_path / "s2", "another", gone.pid),
        left(tmp_path / "s3", HOST, os.getpid()),
        left(tmp_path / "s1", HOST, os.getppid(), age=100),
        tmp_path / "s1" / "weights",
    ]
    kept[-1].write_bytes(b"whole")
    sweep(tmp_path, begun)
    assert [path.exists() for path in removed] == [False, False]
    assert [path.exists() for path in kept] == [True] * 4


def test_a_draft_is_known_as_one_by_its_name(tmp_path: Path) -> None:
    with drafted(tmp_path / "weights") as draft:
        assert MARK in Path(draft.file.name).name and str(os.getpid()) in draft.file.name


def test_a_file_is_on_the_disk_before_it_has_its_place_and_then_its_folder_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a machine that loses its power has an empty file in place of the one before."""
    done: list[tuple[str, str, int]] = []
    fsync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        done.append(("on the disk", str(Path(f"/proc/self/fd/{descriptor}").readlink()), os.fstat(descriptor).st_size))
        fsync(descriptor)

    def placed(self: Path, target: Path) -> Path:
        done.append(("in its place", str(target), self.stat().st_size))
        return replace(self, target)

    place = tmp_path / "s1" / "state"
    with drafted(place) as draft:
        draft.file.write(b"weights")
        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(Path, "replace", placed)
        draft.settle()
    monkeypatch.undo()
    assert [(what, size) for what, _, size in done[:2]] == [("on the disk", 7), ("in its place", 7)], "all of it"
    assert [path for _, path, _ in done] == [draft.file.name, str(place), str(place.parent)]
    assert done[2][0] == "on the disk" and place.read_bytes() == b"weights"


def drafts(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if MARK in path.name]


def half_an_upload(service: Running) -> socket.socket:
    study = service.post("/api/studies", json=SPEC).json()["id"]
    trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    path = f"/api/studies/{study}/trials/{trial}/artifacts/checkpoint.safetensors"
    link = socket.create_connection(("127.0.0.1", int(service.url.rpartition(":")[2])), timeout=30)
    head = f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
    link.sendall(f"{head}Content-Length: 1000\r\n\r\nhalf".encode())
    return link


def test_a_service_that_was_killed_in_an_upload_leaves_nothing_to_the_next_one() -> None:
    with short_home() as home:
        with service_alone(home) as service, half_an_upload(service):
            until(lambda: drafts(home), "the upload is under way")
            service.process.kill()
            service.process.wait(30)
        assert len(drafts(home)) == 1
        with service_alone(home):
            until(lambda: not drafts(home), "the next service removes it")
