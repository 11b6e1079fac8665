"""How the terms' gradients lie to each other: their cosine over seeds, and in which epochs they conflict."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from service.analysis.intervals import Interval, mean_interval

HARDLY = 0.1  # a cosine between −0.1 and 0.1, within 6° of a right angle, is hardly a conflict and hardly an agreement
STRAY = 0.1  # the share of epochs that may stray from a phase before conflicts count as scattered

Path = dict[int, float]  # by epoch
BySeed = dict[int, Path]


class Phase(NamedTuple):
    """In which epochs gradients conflict: none, all, the first or the last ones, or some here and there."""

    kind: Literal["never", "throughout", "first", "last", "scattered"]
    epochs: list[int]
    others: list[int]


class Angles(NamedTuple):
    """The gradients of one arm, or of several whose problem has the same terms."""

    terms: tuple[str, ...]
    arms: list[str]
    mean: BySeed  # of two terms their cosine, else the mean over all pairs
    pairs: dict[tuple[str, str], BySeed]  # those with a cosine of their own
    log_ratio: BySeed  # of two terms, how many times as long the second gradient is

    @property
    def cosine(self) -> Interval:
        return over_seeds(self.mean)

    @property
    def negative(self) -> float:
        """The share of epochs whose mean over seeds is below 0."""
        means = epoch_means(self.mean).values()
        return sum(mean < 0 for mean in means) / len(means)

    @property
    def phase(self) -> Phase:
        return phase_of(epoch_means(self.mean))

    @property
    def ratio(self) -> float | None:
        """The geometric mean over epochs and seeds."""
        log = over_seeds(self.log_ratio).mean
        return None if log is None else math.exp(log)


def over_seeds(by_seed: BySeed, epochs: Collection[int] | None = None) -> Interval:
    """The mean over these epochs, or all, in each seed; then over seeds."""
    wanted = None if epochs is None else set(epochs)
    chosen = [[v for e, v in path.items() if wanted is None or e in wanted] for path in by_seed.values()]
    return mean_interval([_mean(values) for values in chosen if values])


def epoch_means(by_seed: BySeed) -> Path:
    """The mean over seeds in each epoch."""
    return _averaged(by_seed.values())


def phase_of(cosines: Path) -> Phase:
    """Epochs whose cosine is below −HARDLY, as one phase at the start or at the end where few stray from it.

    Of all such phases it is the one that the fewest epochs contradict, and of equal ones the simpler.
    """
    epochs = sorted(cosines)
    conflict = [cosines[epoch] < -HARDLY for epoch in epochs]
    n, before = len(epochs), [0, *accumulate(conflict)]  # conflicts before each cut
    first = [cut - before[cut] + before[n] - before[cut] for cut in range(n + 1)]  # strays of a conflict until the cut
    phases: list[tuple[int, Phase]] = [(before[n], Phase("never", [], epochs))]
    phases.append((n - before[n], Phase("throughout", epochs, [])))
    if n > 1:
        start, end = min(range(1, n), key=lambda k: first[k]), max(range(1, n), key=lambda k: first[k])
        phases.append((first[start], Phase("first", epochs[:start], epochs[start:])))
        phases.append((n - first[end], Phase("last", epochs[end:], epochs[:end])))
    strays, phase = min(phases, key=lambda each: each[0])
    if strays <= STRAY * n:
        return phase
    there, elsewhere = ([e for e, c in zip(epochs, conflict, strict=True) if c is said] for said in (True, False))
    return Phase("scattered", there, elsewhere)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _averaged(paths: Iterable[Path]) -> Path:
    """The mean of several paths in each epoch that one of them has."""
    values: dict[int, list[float]] = {}
    for path in paths:
        for epoch, value in path.items():
            values.setdefault(epoch, []).append(value)
    return {epoch: _mean(values[epoch]) for epoch in sorted(values)}


def by_seed_of(paths: Iterable[tuple[int, Path]]) -> BySeed:
    """Paths with their seeds: the mean of each seed's; a seed without a value is left out."""
    groups: dict[int, list[Path]] = {}
    for seed, path in paths:
        if path:
            groups.setdefault(seed, []).append(path)
    return {seed: _averaged(group) for seed, group in groups.items()}


def together(arms: Sequence[Angles]) -> Angles:
    """Arms of the same terms as one: each counts once, whatever its number of trials."""

    def pooled(paths: Sequence[BySeed]) -> BySeed:
        return by_seed_of(item for each in paths for item in each.items())

    return Angles(
        arms[0].terms,
        [name for arm in arms for name in arm.arms],
        pooled([arm.mean for arm in arms]),
        {pair: pooled([arm.pairs[pair] for arm in arms]) for pair in arms[0].pairs},
        pooled([arm.log_ratio for arm in arms]),
    )


def grouped(arms: Sequence[Angles]) -> list[Angles]:
    """Those of the same terms as one."""
    groups: dict[tuple[str, ...], list[Angles]] = {}
    for arm in arms:
        groups.setdefault(arm.terms, []).append(arm)
    return [together(group) for group in groups.values()]
