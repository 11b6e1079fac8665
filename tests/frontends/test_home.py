"""The home of a service: whether its disk has room for a start."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from frontends.home import NEEDED_BYTES, has_no_room


class Usage(NamedTuple):
    free: int


@pytest.mark.parametrize(("free", "full"), [(NEEDED_BYTES - 1, True), (NEEDED_BYTES, False)])
def test_a_disk_is_full_below_what_a_start_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, full: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(free) if place == tmp_path else None)
    assert has_no_room(tmp_path) is full
    assert has_no_room(tmp_path, RuntimeError("it did not start")) is full


@pytest.mark.parametrize(
    ("code", "full"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EACCES, False), (None, False)]
)
def test_an_error_of_a_full_disk_is_believed_though_there_is_room_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int | None, full: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(NEEDED_BYTES))
    assert has_no_room(tmp_path, OSError(code, "it failed")) is full


def test_a_home_that_cannot_be_asked_is_not_taken_for_full(tmp_path: Path) -> None:
    assert has_no_room(tmp_path / "gone") is False
