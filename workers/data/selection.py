"""Which examples, and which wrong labels: all depends only on the data, the spec and the seed of the draw."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.examples import Labelled

Labels = NDArray[np.int64]
Indices = NDArray[np.int64]

SPLIT_SEED, SUBSET_SEED, NOISE_SEED, VALIDATION_SEED, LABELS_SEED = 0, 1, 2, 3, 4


class Portions(NamedTuple):
    """Which examples of the published splits are used for what."""

    train: Indices  # of the training split
    validation: Indices  # of the training split too
    test: Indices  # of the test split
    labelled: NDArray[np.bool_] | None  # [len(train)]


def portions(train: Labels, test: Labels, spec: Labelled, test_count: int | None, seed: int | None = None) -> Portions:
    """By the labels of the main task: the share used, what is held out of it, and who of the rest is labelled.

    The test examples are the same in every draw.
    """
    chosen = share_of(train, spec.train_fraction, seed)
    chosen, validation = held_out(train, chosen, spec.validation_fraction, seed)
    labelled = few(train[chosen], spec.labels, seed) if spec.labels is not None else None
    return Portions(chosen, validation, by_class(test, test_count or len(test)), labelled)


def _random(seed: int | None, *purpose: int) -> np.random.Generator:
    """Of one purpose, in the draw of a seed or in the one that all seeds share."""
    return np.random.default_rng(purpose if seed is None else (*purpose, seed + 1))


def split_by_class(labels: Labels, test_fraction: float) -> tuple[Indices, Indices]:
    """Training and test examples of a set published whole: per class the same share, both splits shuffled.

    A class of two or more has at least one example on each side; a single one is trained on.
    """
    rng = np.random.default_rng(SPLIT_SEED)
    train, test = [], []
    for c in np.unique(labels):
        members = rng.permutation(np.flatnonzero(labels == c))
        count = min(max(round(test_fraction * len(members)), 1), len(members) - 1)
        test.append(members[:count])
        train.append(members[count:])
    return rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))


def held_out(labels: Labels, chosen: Indices, fraction: float, seed: int | None = None) -> tuple[Indices, Indices]:
    """The chosen examples without the held-out share, and that share: at least one example on either side."""
    if fraction == 0:
        return chosen, chosen[:0]
    count = min(max(round(fraction * len(chosen)), 1), len(chosen) - 1)
    out = np.zeros(len(chosen), dtype=bool)
    out[by_class(labels[chosen], count, seed, VALIDATION_SEED)] = True
    return chosen[~out], chosen[out]


def few(labels: Labels, count: int, seed: int | None = None) -> NDArray[np.bool_]:
    """Which examples keep their label: [N]."""
    kept = np.zeros(len(labels), dtype=bool)
    kept[by_class(labels, count, seed, LABELS_SEED)] = True
    return kept


def by_class(labels: Labels, count: int, seed: int | None = None, purpose: int = SUBSET_SEED) -> Indices:
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
        chosen.append(_random(seed, purpose, int(label)).permutation(members)[:n])
    return np.sort(np.concatenate(chosen))


def share_of(labels: Labels, fraction: float, seed: int | None = None) -> Indices:
    """Indices of a share of the examples, at least one."""
    return by_class(labels, max(1, round(fraction * len(labels))), seed)


def with_noise(labels: Labels, share: float, classes: int, task: int = 0, seed: int | None = None) -> Labels:
    """A copy in which this share of the labels, rounded to examples, is another class, each equally likely.

    Other tasks get other examples wrong.
    """
    rng = _random(seed, NOISE_SEED, *([task] if task else []))
    wrong = rng.permutation(len(labels))[: round(share * len(labels))]
    noisy = labels.copy()
    noisy[wrong] = (labels[wrong] + rng.integers(1, classes, size=len(wrong))) % classes
    return noisy
