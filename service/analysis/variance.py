"""Which parameter explains a metric: the main effects of an analysis of variance, as shares of the variance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_RESAMPLES, LEAST_RESAMPLES = 300, 100
DRAWS = 300_000  # of trials in all, about: many trials need no more to be quick
LEAST_TRIALS = 8
MOST_BINS = 6
MOST_LEVELS = 30  # of a number that are told apart one by one
ARM = "arm"
RIDGE = 1e-8
MOST_PRODUCTS = 2_000_000  # numbers held at once
PER_BIN = 5  # trials, at least about so many

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]  # which group each trial is in, 0, 1, …


class Effect(NamedTuple):
    """The share of a metric's variance that a parameter explains by itself, with its 95 % interval."""

    name: str
    share: float
    low: float
    high: float
    levels: int
    binned: bool


class Explained(NamedTuple):
    effects: list[Effect]
    rest: float  # what no parameter explains by itself: seeds and interactions
    trials: int


def levels_of(values: Sequence[Any]) -> tuple[Groups, bool]:
    """Equal values are one level; numbers of which most differ are cut into bins of equal counts, ties together.

    A joint parameter has tuples of numbers: many of them are cut into cells, halves of halves. Trials without the
    parameter, none, are a level of their own.
    """
    present = [value for value in values if value is not None]
    joint = bool(present) and all(isinstance(value, tuple) for value in present)
    parts = [part for value in present for part in value if part is not None] if joint else present
    numeric = all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in parts)
    # Many levels would also make the fit of the bootstrap as large as their square.
    binned = numeric and (2 * len(set(present)) > len(present) or len(set(present)) > MOST_LEVELS)
    named: Sequence[Any] = values
    if binned:
        bins = iter(_cells(present) if joint else _bins(present))
        named = [None if value is None else next(bins) for value in values]
    places = {value: i for i, value in enumerate(dict.fromkeys(named))}
    return np.array([places[value] for value in named]), binned


def _bins(numbers: Sequence[float]) -> list[int]:
    bins = min(MOST_BINS, max(2, len(numbers) // PER_BIN))
    edges = np.quantile(np.array(numbers, dtype=float), np.arange(1, bins) / bins)
    return [int(np.searchsorted(edges, value)) for value in numbers]


def _cells(rows: Sequence[tuple[float | None, ...]]) -> list[int]:
    """The cell of each row. Ranks are cut, so that no unit decides; what is missing ranks below all."""
    columns = np.array([[-np.inf if part is None else part for part in row] for row in rows], dtype=float)
    ranks = np.stack([np.unique(column, return_inverse=True)[1] for column in columns.T], axis=1)  # [N, d]
    cells = _halved(ranks, np.arange(len(rows)), min(MOST_LEVELS, max(2, len(rows) // PER_BIN)))
    place = {int(row): i for i, members in enumerate(cells) for row in members}
    return [place[row] for row in range(len(rows))]


def _halved(ranks: Groups, members: Groups, most: int) -> list[Groups]:
    """At most this many cells, each cut where its ranks spread most, at their median, ties together."""
    spread = np.ptp(ranks[members], axis=0)
    if most < 2 or not spread.any():
        return [members]
    column = ranks[members, spread.argmax()]
    middle = np.median(column)
    above = column > middle if (column > middle).any() else column >= middle
    return _halved(ranks, members[~above], most // 2) + _halved(ranks, members[above], most - most // 2)


class _Factor(NamedTuple):
    name: str
    groups: Groups  # levels of a parameter within arms
    levels: int
    binned: bool


class _Squares(NamedTuple):
    """What least squares need, per row of weights: the trials themselves, then each draw of them."""

    gram: Floats  # [B, P, P]
    moments: Floats  # [B, P]
    squares: Floats  # [B]
    columns: list[Groups]  # of each factor, among the P; the first is 1


def explained(y: Sequence[float], parameters: Mapping[str, Sequence[Any]], arms: Sequence[str]) -> Explained | None:
    """ε²_p = (SS_p − df_p·MS_e) / SS_total, cut at 0: the bias-corrected share of each parameter p (Kelley 1935).

    In y = arm + Σ_p effect of p within its arm + e, SS_p is what the squared residuals grow by without p, SS_arm what
    lies between arms, MS_e the mean square of e: seeds and interactions. On a full grid SS_p = Σ n_g (ȳ_g − ȳ_arm)²
    over the levels g of p. The interval is a bootstrap over trials, moved so that its mean is the estimate, since
    drawing trials twice inflates it. None with fewer than eight trials, without variance, or without freedom left.
    """
    values = np.array(y, dtype=float)
    if len(values) < LEAST_TRIALS or np.ptp(values) <= 1e-12 * np.abs(values).max():
        return None
    values = (values - values.mean()) / np.ptp(values)  # shares do not change, and rounding stays small
    factors = _factors(parameters, arms)
    everything = list(range(len(factors)))
    known = _squares(values, factors)
    rank = _rank(known, everything)
    if len(values) <= rank:
        return None
    total, full = _residuals(known, []), _residuals(known, everything)
    noise = max(0.0, float(full[0])) / (len(values) - rank)
    effects = []
    for i, factor in enumerate(factors):
        others = [j for j in everything if j != i]
        if i == 0:  # parameters lie within arms: of these, what the arms explain by themselves
            squares, df = total - _residuals(known, [0]), factor.levels - 1
        else:
            squares, df = _residuals(known, others) - full, rank - _rank(known, others)
        if i > 0 or factor.levels > 1:
            effects.append(_effect(factor, (squares - df * noise) / np.maximum(total, 1e-12)))
    return Explained(effects, max(0.0, 1.0 - sum(effect.share for effect in effects)), len(values))


def _effect(factor: _Factor, shares: Floats) -> Effect:
    """From the share of the trials themselves, which is the first, and those of the draws."""
    low, high = np.quantile(shares[1:] - shares[1:].mean() + shares[0], [0.025, 0.975])
    share, low, high = (float(np.clip(value, 0.0, 1.0)) for value in (shares[0], low, high))
    return Effect(factor.name, share, min(low, share), max(high, share), factor.levels, factor.binned)


def _factors(parameters: Mapping[str, Sequence[Any]], arms: Sequence[str]) -> list[_Factor]:
    """The arms first, then the parameters nested in them."""
    by_arm, _ = levels_of(list(arms))
    factors = [_Factor(ARM, by_arm, len(set(arms)), False)]
    for name, column in parameters.items():
        own, binned = levels_of(column)
        groups: Groups = np.unique(by_arm * len(own) + own, return_inverse=True)[1]
        factors.append(_Factor(name, groups, int(own.max()) + 1 - (None in column), binned))
    return factors


def _squares(values: Floats, factors: Sequence[_Factor]) -> _Squares:
    """The same draws every time. Trials of the same levels are summed first: a grid has few of those."""
    rng, count = np.random.default_rng(0), len(values)
    resamples = min(MOST_RESAMPLES, max(LEAST_RESAMPLES, DRAWS // count))
    draws = rng.multinomial(count, np.full(count, 1 / count), size=resamples)
    weights = np.vstack([np.ones(count), draws])  # [B, N]
    cells, place = np.unique(np.stack([f.groups for f in factors], axis=1), axis=0, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(cells)))
    counts, sums = (np.add.reduceat(w[:, order], starts, axis=1) for w in (weights, weights * values))  # [B, C]
    levels = [np.eye(int(column.max()) + 1)[column] for column in cells.T]
    design = np.concatenate([np.ones((len(cells), 1)), *levels], axis=1)  # [C, P]
    ends = 1 + np.cumsum([level.shape[1] for level in levels])
    columns = [np.arange(end - level.shape[1], end) for level, end in zip(levels, ends, strict=True)]
    return _Squares(_gram(counts, design), sums @ design, weights @ values**2, columns)


def _gram(counts: Floats, design: Floats) -> Floats:
    """designᵀ diag(counts) design, part by part so that few products are held at once. [B, P, P]"""
    size = design.shape[1]
    gram = np.zeros((len(counts), size * size))
    chunk = max(1, MOST_PRODUCTS // size**2)
    for start in range(0, len(design), chunk):
        rows = design[start : start + chunk]
        products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), size * size)
        gram += counts[:, start : start + chunk] @ products
    return gram.reshape(-1, size, size)


def _chosen(known: _Squares, factors: Sequence[int]) -> Groups:
    return np.concatenate([np.array([0]), *(known.columns[i] for i in factors)])


def _rank(known: _Squares, factors: Sequence[int]) -> int:
    own = _chosen(known, factors)
    return int(np.linalg.matrix_rank(known.gram[0][np.ix_(own, own)], hermitian=True))


def _residuals(known: _Squares, factors: Sequence[int]) -> Floats:
    """The sum of squares that these factors leave, per row of weights. [B]"""
    own = _chosen(known, factors)
    # Columns depend on each other and levels may not be drawn: a tiny ridge picks one of the equal solutions.
    normal = known.gram[:, own[:, None], own] + RIDGE * np.eye(len(own))
    moments = known.moments[:, own]
    fitted = np.linalg.solve(normal, moments[:, :, None])[:, :, 0]
    left: Floats = known.squares - (fitted * moments).sum(1)
    return left
