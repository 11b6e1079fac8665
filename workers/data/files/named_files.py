"""Files that a study names itself: none outside the folders that are open to studies, whatever links say."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from service.contract.study.data_paths import OPENED_BY, folders_of, is_below, refusal


def own_place(path: str, folder: Path) -> Path:
    """The file or folder of this name. What lies outside is refused before it is looked at."""
    place = _real(folder / path, path)
    if not is_below(place, _open(folder)):
        raise refusal(path)
    return folder / path


def check_links(files: Iterable[Path], path: str, folder: Path) -> None:
    """A link in an open folder may lead to one that is not."""
    allowed = _open(folder)
    for file in files:
        if not is_below(_real(file, path), allowed):
            raise refusal(path)


def _open(folder: Path) -> list[Path]:
    return [each.resolve() for each in (folder, *folders_of(os.environ.get(OPENED_BY, "")))]


def _real(place: Path, path: str) -> Path:
    try:
        return place.resolve()
    except (OSError, ValueError, RuntimeError):  # links that go round, a name that no file can have
        raise refusal(path) from None
