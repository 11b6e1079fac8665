"""What people call a key of a trial's configuration."""

from __future__ import annotations

from collections.abc import Iterable

BETA = "weighting.beta"
WEIGHTS = "weighting.weights."
LETTERS = {"beta": "β", "mu": "μ"}


def weight_keys(config: Iterable[str]) -> set[str]:
    """Keys of constant weights, which tell trials that verify a curve from each other: of β, or of each task."""
    return {key for key in config if key == BETA or key.startswith(WEIGHTS)}


def key_label(key: str) -> str:
    """`β`, `weight of info`, `learning rate`; of a name what has it, `weighting`."""
    key = key.removesuffix(".name")
    if key.startswith(WEIGHTS):
        return f"weight of {key.removeprefix(WEIGHTS)}"
    return " ".join(LETTERS.get(word, word) for word in key.rpartition(".")[2].replace("_", " ").split())
