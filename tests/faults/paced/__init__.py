"""Training in small steps while a fault is under way, so that a study outlasts its faults on any machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Pace:
    """A file that trial processes look for between two epochs: while it is there they take more time.

    The folder of this module is on the path of all processes of a stack, where Python finds `sitecustomize`.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.settings = {"PYTHONPATH": str(Path(__file__).parent), "FAULT_UNDER_WAY": str(file)}

    @contextmanager
    def slow(self) -> Iterator[None]:
        self._file.touch()
        yield
        self._file.unlink()
