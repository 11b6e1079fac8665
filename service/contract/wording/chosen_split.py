"""Which split chose what is shown, in words."""

from __future__ import annotations

from typing import Literal

Chooser = Literal["validation", "test", "shown"]  # shown: a script reports one value, of a split it alone knows

WORDS: dict[Chooser, str] = {
    "validation": "chosen on the validation split, shown on the test split",
    "test": "chosen on the test split itself, which flatters arms with many trials",
    "shown": "chosen by the very values that are shown, which flatters arms with many trials",
}


def on_split(chooser: Chooser | None) -> str:
    """` on the validation split`, after what was chosen there."""
    return f" on the {chooser} split" if chooser in ("validation", "test") else ""


def selection_words(chooser: Chooser | None) -> str:
    """Nothing where nothing is measured on a split."""
    return "" if chooser is None else WORDS[chooser]


def flattery_words(chooser: Chooser | None) -> str:
    """Where trials were chosen by what is shown of them: a claim that needs a mark wherever it stands."""
    return "" if chooser == "validation" else selection_words(chooser)
