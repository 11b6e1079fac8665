"""Parameters that vary together: given the others of its group, none of them explains anything by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

Column = Sequence[Any]


def varying_together(
    columns: Mapping[str, Column], arms: Sequence[str], simplices: Sequence[Collection[str]]
) -> list[list[str]]:
    """Every parameter in one group, with those that are tied to it within some arm or lie on a simplex with it."""
    ties = [(a, b) for a, b in combinations(columns, 2) if _tied(columns[a], columns[b], arms)]
    ties += [tie for simplex in simplices for tie in pairwise(name for name in columns if name in simplex)]
    leader = {name: name for name in columns}
    for a, b in ties:
        joined = leader[b]
        leader |= {name: leader[a] for name, first in leader.items() if first == joined}
    return [[name for name in columns if leader[name] == first] for first in dict.fromkeys(leader.values())]


def joint(columns: Sequence[Column]) -> list[Any]:
    """A group as one parameter, whose values are those of its members; none where no member has one."""
    if len(columns) == 1:
        return list(columns[0])
    return [None if all(value is None for value in row) else row for row in zip(*columns, strict=True)]


def _tied(first: Column, second: Column, arms: Sequence[str]) -> bool:
    """One-to-one in an arm in which both vary."""
    rows: dict[str, list[tuple[Any, Any]]] = {}
    for a, b, arm in zip(first, second, arms, strict=True):
        if a is not None and b is not None:
            rows.setdefault(arm, []).append((a, b))
    return any(_one_to_one(own) for own in rows.values())


def _one_to_one(rows: Sequence[tuple[Any, Any]]) -> bool:
    """Numbers of a search all differ, so any two of them would be: those must also rise or fall together."""
    pairs = set(rows)
    if not 1 < len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}):
        return False
    if 2 * len(pairs) <= len(rows):  # each pair at least twice on average: a grid, not a search
        return True
    if not all(isinstance(value, (int, float)) for pair in pairs for value in pair):
        return False
    seconds = [b for _, b in sorted(pairs)]
    return seconds in (sorted(seconds), sorted(seconds, reverse=True))
