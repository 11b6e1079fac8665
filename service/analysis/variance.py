"""Which parameter explains a metric: the main effects of an analysis of variance, as shares of the variance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 300
LEAST_TRIALS = 8
MOST_BINS = 6
ARM = "arm"
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
    """Equal values are one level; numbers of which most differ are cut into bins of equal counts, ties together."""
    distinct = {value: i for i, value in enumerate(dict.fromkeys(values))}
    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if not numeric or 2 * len(distinct) <= len(values):
        return np.array([distinct[value] for value in values]), False
    bins = min(MOST_BINS, max(2, len(values) // PER_BIN))
    numbers = np.array(values, dtype=float)
    edges = np.quantile(numbers, np.arange(1, bins) / bins)
    return np.unique(np.searchsorted(edges, numbers, side="left"), return_inverse=True)[1], True


def between(y: Floats, groups: Groups, weights: Floats) -> Floats:
    """Σ n_g (mean_g − mean)² per row of weights. y [N], groups [N], weights [B, N] → [B]"""
    member = np.eye(int(groups.max()) + 1)[groups]  # [N, G]
    counts, sums = weights @ member, (weights * y) @ member  # [B, G]
    filled = np.where(counts > 0, counts, 1.0)
    found: Floats = (sums**2 / filled).sum(1) - sums.sum(1) ** 2 / counts.sum(1)
    return found


def additive_residual(y: Floats, parameters: Sequence[Groups]) -> tuple[float, int]:
    """What the sum of all main effects leaves: its sum of squares, and its degrees of freedom."""
    columns = [np.ones((len(y), 1)), *(np.eye(int(g.max()) + 1)[g] for g in parameters)]
    design = np.concatenate(columns, axis=1)  # [N, 1 + Σ G]
    fitted, _, rank, _ = np.linalg.lstsq(design.T @ design, design.T @ y, rcond=1e-10)
    residual = y - design @ fitted
    return float(residual @ residual), len(y) - int(rank)


def explained(y: Sequence[float], parameters: dict[str, Sequence[Any]], arms: Sequence[str]) -> Explained | None:
    """ε²_p = (SS_p − df_p·MS_e) / SS_total, cut at 0: the bias-corrected share of each parameter p (Kelley 1935).

    SS_p = Σ n_g (ȳ_g − ȳ_arm)² over the levels g of p within arms, SS_arm is between arms; MS_e is the mean square
    that the sum of all these effects leaves: seeds and interactions. On a full grid the shares add up to at most 1.
    The interval is a bootstrap over trials, moved so that its mean is the estimate: drawing trials twice inflates it.
    None with fewer than eight trials, where nothing varies, or where the effects leave no degree of freedom.
    """
    values = np.array(y, dtype=float)
    if len(values) < LEAST_TRIALS or np.ptp(values) == 0:
        return None
    values = (values - values.mean()) / values.std()  # shares do not change, and rounding stays small
    factors = _factors(parameters, arms)
    left, freedom = additive_residual(values, [factor.groups for factor in factors])
    if freedom < 1:
        return None
    weights = np.vstack([np.ones(len(values)), _resampled(len(values))])  # the trials themselves, then B draws
    counts = weights.sum(1)
    total = np.maximum(weights @ values**2 - (weights @ values) ** 2 / counts, 1e-12)
    from_arms = between(values, factors[0].groups, weights)
    effects = []
    for factor in factors[1:] if factors[0].levels == 1 else factors:
        squares = between(values, factor.groups, weights) - (0.0 if factor is factors[0] else from_arms)
        shares = (squares - factor.freedom * left / freedom) / total
        low, high = np.quantile(shares[1:] - shares[1:].mean() + shares[0], [0.025, 0.975])
        cut = [float(np.clip(value, 0.0, 1.0)) for value in (shares[0], low, high)]
        effects.append(Effect(factor.name, cut[0], cut[1], cut[2], factor.levels, factor.binned))
    return Explained(effects, max(0.0, 1.0 - sum(effect.share for effect in effects)), len(values))


class _Factor(NamedTuple):
    name: str
    groups: Groups  # levels of a parameter within arms
    freedom: int
    levels: int
    binned: bool


def _factors(parameters: dict[str, Sequence[Any]], arms: Sequence[str]) -> list[_Factor]:
    """The arms first, then the parameters nested in them: each explains what its arm does not."""
    by_arm, _ = levels_of(list(arms))
    count = len(set(arms))
    found = [_Factor(ARM, by_arm, count - 1, count, False)]
    for name, column in parameters.items():
        own, binned = levels_of(column)
        groups: Groups = np.unique(by_arm * len(own) + own, return_inverse=True)[1]
        found.append(_Factor(name, groups, int(groups.max()) + 1 - count, int(own.max()) + 1, binned))
    return found


def _resampled(trials: int) -> Floats:
    """How often each trial is drawn, the same draws every time. [RESAMPLES, N]"""
    rng = np.random.default_rng(0)
    draws: Floats = rng.multinomial(trials, np.full(trials, 1 / trials), size=RESAMPLES).astype(float)
    return draws
