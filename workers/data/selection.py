"""Fewer images and wrong labels, the same in every trial: both depend only on the data and the spec."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]

SUBSET_SEED, NOISE_SEED = 1, 2


def by_class(labels: Labels, count: int) -> NDArray[np.int64]:
    """Indices of exactly `count` examples in their old order, each class with its share (largest remainders).

    Every class keeps at least one example when `count` allows it; fewer are always a part of more.
    """
    if count >= len(labels):
        return np.arange(len(labels))
    classes, sizes = np.unique(labels, return_counts=True)
    quota = sizes * count / len(labels)
    wanted = np.floor(quota).astype(np.int64)
    by_remainder = np.argsort(-(quota - wanted), kind="stable")
    wanted[by_remainder[: count - wanted.sum()]] += 1
    while count >= len(classes) and (wanted == 0).any():
        wanted[wanted.argmax()] -= 1
        wanted[wanted.argmin()] += 1
    chosen = []
    for label, n in zip(classes, wanted, strict=True):
        members = np.flatnonzero(labels == label)
        chosen.append(np.random.default_rng((SUBSET_SEED, int(label))).permutation(members)[:n])
    return np.sort(np.concatenate(chosen))


def share_of(labels: Labels, fraction: float) -> NDArray[np.int64]:
    """Indices of a share of the examples, at least one."""
    return by_class(labels, max(1, round(fraction * len(labels))))


def with_noise(labels: Labels, share: float, classes: int) -> Labels:
    """A copy in which this share of the labels, rounded to examples, is another class, each equally likely."""
    rng = np.random.default_rng(NOISE_SEED)
    wrong = rng.permutation(len(labels))[: round(share * len(labels))]
    noisy = labels.copy()
    noisy[wrong] = (labels[wrong] + rng.integers(1, classes, size=len(wrong))) % classes
    return noisy
