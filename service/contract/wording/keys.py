"""What people call a key of a trial's configuration."""

from __future__ import annotations

WEIGHTS = "weighting.weights."


def key_label(key: str) -> str:
    """`β`, `weight of info`, `learning rate`."""
    if key.startswith(WEIGHTS):
        return f"weight of {key.removeprefix(WEIGHTS)}"
    return key.rpartition(".")[2].replace("_", " ").replace("beta", "β")
