"""Of watched gradients: whether they conflict, and what weighting gained where they do."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from scipy import stats

from findings.expression import Question
from findings.folder import load, names
from findings.quantities.quantity import Quantity
from findings.replay import view_of
from findings.wording import Said, mean, signed
from service.analysis.compared import compared
from service.analysis.rank_correlation import RankCorrelation
from service.analysis.weighting_gains import Gain, RankedGains, StudyGains, weighting_gains
from service.contract.methods.weightings import BY_HAND
from service.contract.wording.numbers import NONE, number, p_value

FEW = 8  # whose orders can all be gone through


def _own(question: Question) -> StudyGains:
    (study,) = weighting_gains([question.view]).studies
    return study


def _gain(gain: Gain, question: Question) -> Said:
    if gain.arm is None:
        return Said(NONE)
    said = signed(gain.gain, question.seeds)
    return said._replace(text=f"{said.text}, {gain.arm}")


@lru_cache(maxsize=1)
def _of_all(kept: tuple[str, ...]) -> RankedGains:
    """Without those that weigh nothing by hand: what is gained there is one automatic weighting's over another's.

    Two quantities on several pages ask for it, and every kept study is compared for it.
    """
    views = [view_of(load(name)) for name in kept]
    return weighting_gains([view for view in views if any(arm.weighting.name in BY_HAND for arm in view.study.arms)])


def by_chance(rho: float, n: int) -> float:
    """How often |ρ| is as large where one order says nothing of the other: over all orders of few, else by t."""
    if n > FEW:
        t = abs(rho) * math.sqrt((n - 2) / max(1 - rho**2, 1e-12))
        return float(2 * stats.t.sf(t, n - 2))
    places = np.arange(n)
    orders = np.array(list(itertools.permutations(places)))
    all_of_them = 1 - 6 * np.square(orders - places).sum(1) / (n * (n**2 - 1))
    return float((np.abs(all_of_them) >= abs(rho) - 1e-9).mean())


def _correlation(correlation: RankCorrelation) -> Said:
    rho, n = correlation
    if rho is None:
        return Said(f"not known from {n} studies")
    return Said(f"{number(rho)} ({n} studies, {p_value(by_chance(rho, n))})")


def _words(question: Question) -> str:
    return compared(question.view).gradients or NONE


QUANTITIES = [
    Quantity("conflict", "whether the terms' gradients conflict, a sentence", lambda q: Said(_words(q))),
    Quantity("mean cosine", "of the terms' gradients, over watched arms", lambda q: mean(_own(q).cosine, q.seeds)),
    Quantity(
        "gain over baseline",
        "of the automatic arm that validation chooses: distance to the baseline's front",
        lambda q: _gain(_own(q).over_baseline, q),
    ),
    Quantity(
        "gain over uniform",
        "the same to the arm of uniform weights: mean over the objectives, in units of their ranges",
        lambda q: _gain(_own(q).over_uniform, q),
    ),
    Quantity(
        "gains by cosine",
        "rank correlation of gain over baseline and mean cosine, over all kept studies that have both",
        lambda _: _correlation(_of_all(tuple(names())).over_baseline),
    ),
    Quantity(
        "uniform gains by cosine",
        "the same with the gain over uniform weights",
        lambda _: _correlation(_of_all(tuple(names())).over_uniform),
    ),
]
