"""Coarse classes: a second, easier question about the same image."""

from __future__ import annotations

from collections.abc import Sequence


def coarse_of(groups: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Groups of classes → the group of each class."""
    of_class = {c: group for group, classes in enumerate(groups) for c in classes}
    return tuple(of_class[c] for c in range(len(of_class)))


DIGITS = coarse_of([[0, 6, 8, 9], [1, 4, 7], [2, 3, 5]])  # with a loop, of straight lines, open curves
CLOTHES = coarse_of([[0, 2, 4, 6], [1], [3], [5, 7, 9], [8]])  # tops, trousers, dress, shoes, bag
OBJECTS = coarse_of([[0, 1, 8, 9], [2, 3, 4, 5, 6, 7]])  # vehicles, animals
