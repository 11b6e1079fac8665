"""Where a study's own data may lie: below the data folder, or in a folder that a setting opens."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from service.contract.wire.errors import Detail, InvalidInput

OPENED_BY = "PARETOSCOPE_OPEN_FOLDERS"


def folders_of(text: str) -> list[Path]:
    """Of a setting: folders separated as in PATH."""
    return [Path(part).expanduser() for part in text.split(os.pathsep) if part.strip()]


def is_below(place: str | Path, folders: Sequence[Path]) -> bool:
    return any(Path(place).is_relative_to(folder) for folder in folders)


def refusal(path: str) -> InvalidInput:
    """The same whether something is there or not."""
    message = f"must lie below the data folder, or in a folder that {OPENED_BY} opens, got {path!r}"
    return InvalidInput(f"data.path: {message}", [Detail(path="data.path", message=message)])


def check_as_written(path: str, folder: Path, opened: Sequence[Path]) -> None:
    """By its letters, where the files are not seen; whoever opens it looks where links lead."""
    allowed = [Path(os.path.normpath(each)) for each in (folder, *opened)]  # a setting may have a '..' in it too
    if not is_below(os.path.normpath(folder / path), allowed):
        raise refusal(path)
