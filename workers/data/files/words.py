"""Texts as numbers of words: 0 is padding, 1 any word out of the vocabulary, then words from the most frequent on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

PADDING, UNKNOWN, FIRST = 0, 1, 2
LONGEST = 512  # words of a text that are ever read

TAG = re.compile(r"<[^>]*>")
WORD = re.compile(r"\w+(?:'\w+)*")


def words(text: str) -> list[str]:
    """Words in lower case, without markup."""
    return WORD.findall(TAG.sub(" ", text).lower())


def vocabulary(texts: Iterable[Sequence[str]]) -> dict[str, int]:
    """The number of each word: the more frequent the smaller, equals by the alphabet."""
    counts = Counter(word for text in texts for word in text)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {word: FIRST + rank for rank, (word, _) in enumerate(ranked)}


def numbered(texts: Sequence[Sequence[str]], known: dict[str, int]) -> NDArray[np.int32]:
    """[N, 1, 1, LONGEST], cut and padded at the end."""
    out = np.full((len(texts), 1, 1, LONGEST), PADDING, dtype=np.int32)
    for row, text in zip(out, texts, strict=True):
        numbers = [known.get(word, UNKNOWN) for word in text[:LONGEST]]
        row[0, 0, : len(numbers)] = numbers
    return out
