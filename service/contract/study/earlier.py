"""Specs as earlier versions stored them, read as they were meant then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Spec = dict[str, Any]


def _asked(spec: Spec) -> Spec:
    """From 1, of 0.1.0, to 2. What every study did before it could be asked: hold nothing out, and give all seeds the
    same examples.
    """
    unasked = {"validation_fraction": 0.0, "draw": "shared"}
    return {**spec, "data": {**unasked, **spec["data"]}} if "data" in spec else spec


# Each leads to the version after it. A spec is stored as it was submitted, and led on whenever it is read.
STEPS: tuple[Callable[[Spec], Spec], ...] = (_asked,)
SPEC_VERSION = len(STEPS) + 1


def as_meant(spec: Spec, version: int) -> Spec:
    """A stored spec as this version would have stored it; ValueError for one that is newer than this version."""
    if not 1 <= version <= SPEC_VERSION:
        raise ValueError(
            f"its spec has version {version}, this Paretoscope reads 1 to {SPEC_VERSION}: install a newer Paretoscope"
        )
    for step in STEPS[version - 1 :]:
        spec = step(spec)
    return spec
