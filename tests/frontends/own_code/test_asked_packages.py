"""Packages that a study asks for travel with its code."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from frontends.own_code.asked_packages import packages_of, with_packages
from frontends.own_code.packing import Sent, packed


def files(sent: Sent) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("name: s\nrequirements: [einops==0.8.1, rich]\n", ["einops==0.8.1", "rich"]),
        ({"requirements": ["einops"]}, ["einops"]),
        ({"name": "s"}, []),
        ("name: s\n", []),
        ("requirements: [", []),  # the service says what is wrong with it
        ("requirements: [-i somewhere]", []),
        ("- requirements", []),
    ],
)
def test_they_are_found_in_a_study_however_it_is_written(written: str | dict[str, object], expected: list[str]) -> None:
    assert packages_of(written) == expected


def test_a_file_becomes_a_folder_with_requirements(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import einops\n")
    plain = packed(tmp_path / "mine.py")
    assert with_packages(plain, []) is plain
    sent = with_packages(plain, ["einops==0.8.1"])
    assert sent.entry == "mine.py" and sent.kind == "application/zip"
    assert files(sent) == {"mine.py": b"import einops\n", "requirements.txt": b"einops==0.8.1\n"}


def test_they_join_those_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("")
    (tmp_path / "requirements.txt").write_text("rich")
    sent = with_packages(packed(tmp_path), ["einops", "rich"])
    assert files(sent)["requirements.txt"] == b"rich\neinops\n" and sent.entry == "main.py"
