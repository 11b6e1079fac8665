"""Specs as earlier versions stored them, read as they were meant then."""

from __future__ import annotations

from typing import Any

# What every study did before it could be asked: hold nothing out, and give all seeds the same examples.
UNASKED: dict[str, Any] = {"validation_fraction": 0.0, "draw": "shared"}


def as_meant(spec: dict[str, Any]) -> dict[str, Any]:
    """A stored spec with the defaults of its time; new ones are stored whole and stay as they are."""
    return {**spec, "data": {**UNASKED, **spec["data"]}} if "data" in spec else spec
