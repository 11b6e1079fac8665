"""A study as it was written, before any default is filled in, in what JSON can carry: the form is made from it."""

from __future__ import annotations

import math
from typing import Any

DEEPEST = 32
LARGEST = 2**53  # what a page can count to exactly


def as_written(body: Any) -> dict[str, Any] | None:
    """The mapping that was written; none when it is no mapping, or nested deeper than any study is."""
    if not isinstance(body, dict) or _depth(body) > DEEPEST:
        return None
    return {str(key): _plain(value) for key, value in body.items()}


def _depth(value: Any) -> int:
    """Levels of nesting, counted level by level: what a stranger wrote may be too deep for recursion."""
    depth, level = 0, [value]
    while level and depth <= DEEPEST:
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        depth += 1
    return depth


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= LARGEST else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)  # YAML also knows dates
