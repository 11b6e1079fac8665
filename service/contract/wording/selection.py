"""Which split chose what is shown, in words."""

from __future__ import annotations

from typing import Literal

Chooser = Literal["validation", "test"]

WORDS: dict[Chooser, str] = {
    "validation": "chosen on the validation split, shown on the test split",
    "test": "chosen on the test split itself, which flatters arms with many trials",
}


def selection_words(chooser: Chooser | None) -> str:
    """Nothing where nothing is measured on a split."""
    return "" if chooser is None else WORDS[chooser]
