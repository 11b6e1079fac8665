"""Files of trials: whole or not there, known by their content, gone with their study alone."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from service.store.artifacts import CHECKPOINT, LATENT_MAP, Artifacts
from tests.service.figures.test_latent_figure import MAP


def put(artifacts: Artifacts, study: str, trial: str, content: bytes) -> Path:
    with artifacts.draft(study, trial, CHECKPOINT) as draft:
        draft.file.write(content)
        draft.settle()
    place = artifacts.find(study, trial, CHECKPOINT)
    assert place is not None
    return place


def test_a_settled_file_is_found_and_has_its_size(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path)
    assert artifacts.find("s1", "t", CHECKPOINT) is None and artifacts.sizes("s1", "t") == {}
    assert put(artifacts, "s1", "t", b"weights").read_bytes() == b"weights"
    with artifacts.draft("s1", "t", LATENT_MAP) as draft:
        draft.file.write(b"{}")
        draft.settle()
    assert artifacts.sizes("s1", "t") == {"checkpoint": 7, "latent-map": 2}
    assert artifacts.find("s1", "other", CHECKPOINT) is None


def test_what_is_not_settled_leaves_nothing_behind(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path)
    with pytest.raises(ConnectionError), artifacts.draft("s1", "t", CHECKPOINT) as draft:
        draft.file.write(b"half of")
        raise ConnectionError
    with artifacts.draft("s1", "t", CHECKPOINT) as draft:
        assert draft.content() == b""
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_is_known_by_its_content_not_by_its_size_and_age(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path)
    place = put(artifacts, "s1", "t", b"weights")
    for content, known in ((b"weights", True), (b"WEIGHTS", False)):
        with artifacts.draft("s1", "t", CHECKPOINT) as draft:
            draft.file.write(content)
            draft.file.flush()
            stat = place.stat()
            os.utime(draft.file.name, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            assert draft.is_known() is known
    assert place.read_bytes() == b"weights", "looking changes nothing"


def test_the_files_of_a_study_go_and_those_of_others_stay(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path)
    gone, kept = put(artifacts, "s1", "t", b"a"), put(artifacts, "s2", "t", b"b")
    artifacts.forget("s1")
    artifacts.forget("never there")
    assert not gone.exists() and kept.read_bytes() == b"b"


def test_a_file_that_cannot_be_removed_stays_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    artifacts = Artifacts(tmp_path)
    place = put(artifacts, "s1", "t", b"a")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(os, "unlink", refuse)
    artifacts.forget("s1")
    assert place.is_file()
    assert [record.levelname for record in caplog.records][:1] == ["WARNING"]
    assert "checkpoint.safetensors stays: not yours" in caplog.text


def test_a_latent_map_is_read_back_and_its_absence_is_none(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path)
    assert artifacts.latent_map("s1", "t") is None
    with artifacts.draft("s1", "t", LATENT_MAP) as draft:
        draft.file.write(json.dumps(MAP).encode())
        assert artifacts.latent_map("s1", "t") is None, "it takes its place when all of it is there"
        assert draft.content() == json.dumps(MAP).encode()
        draft.settle()
    read = artifacts.latent_map("s1", "t")
    assert read is not None and read.points == MAP["points"]
    assert artifacts.latent_map("s1", "other") is None


def test_two_uploads_of_one_file_do_not_mix(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path)
    with artifacts.draft("s1", "t", CHECKPOINT) as slow, artifacts.draft("s1", "t", CHECKPOINT) as fast:
        slow.file.write(b"slow")
        fast.file.write(b"fast")
        fast.settle()
        assert not slow.is_known()
        slow.settle()
    with artifacts.draft("s1", "t", CHECKPOINT) as again:
        again.file.write(b"slow")
        assert again.is_known(), "also what was just written"
    assert (tmp_path / "s1" / "t" / CHECKPOINT).read_bytes() == b"slow"
    assert [path.name for path in (tmp_path / "s1" / "t").iterdir()] == [CHECKPOINT]


def test_files_that_are_removed_while_they_are_counted_count_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifacts, folder = Artifacts(tmp_path), tmp_path / "s1" / "t1"
    folder.mkdir(parents=True)
    for name in (CHECKPOINT, LATENT_MAP):
        (folder / name).write_bytes(b"x" * 10)
    assert artifacts.bytes_of("s1") == 20 and artifacts.bytes_of("s2") == 0
    stat = Path.stat

    def removed_meanwhile(self: Path, **options: bool) -> os.stat_result:
        if self.name == CHECKPOINT:
            raise FileNotFoundError(errno.ENOENT, "gone", str(self))
        return stat(self, **options)

    monkeypatch.setattr(Path, "stat", removed_meanwhile)
    assert artifacts.bytes_of("s1") == 10 and artifacts.sizes("s1", "t1") == {"latent-map": 10}
