"""Run by every Python of a disturbed stack: an epoch is followed by a pause, longer while the file of `Pace` is there.

Without the short one a save interval would have many epochs, which are trained again with long ones.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

PAUSED = "workers.sending.saving"  # what stands between two epochs
SHORT, LONG = 0.2, 1.0  # seconds


class Paced(MetaPathFinder):
    """Finds that one module, once, and changes it when it is loaded."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != PAUSED:
            return None
        sys.meta_path.remove(self)
        spec: Any = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def load_and_change(module: Any) -> None:
            load(module)
            module.Saving.__call__ = _paused(module.Saving.__call__)

        spec.loader.exec_module = load_and_change
        return spec  # type: ignore[no-any-return]


def _paused(call: Any) -> Any:
    """Who is to leave is not kept waiting."""
    under_way = Path(os.environ["FAULT_UNDER_WAY"])

    def paused(saving: Any, progress: Any) -> Any:
        begin = time.monotonic()
        while not saving._leave.wait(0.05) and time.monotonic() < begin + (LONG if under_way.exists() else SHORT):
            pass
        return call(saving, progress)

    return paused


if "FAULT_UNDER_WAY" in os.environ:
    sys.meta_path.insert(0, Paced())
