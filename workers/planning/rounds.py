"""Trials that are trained in more than one go."""

from __future__ import annotations

from typing import NamedTuple


class Round(NamedTuple):
    """How often a trial was begun anew, and how often it got more epochs: its events have names of their own then."""

    retries: int = 0
    extensions: int = 0
    anew: bool = False  # whether more epochs began it anew
