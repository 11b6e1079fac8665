"""What is known exactly: H(Y), the IB curves of Gaussian data and of deterministic labels, fronts of toy problems."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from service.contract.methods.data import Cifar10, Data, Digits, FashionMnist, Gaussian, Mnist, Svhn
from service.contract.methods.data import Toy as ToyData
from service.contract.methods.problems import ToyProblem
from service.contract.metrics import F1, F2, I_ZY, Kind, described
from service.contract.parameters.axes import listed
from service.contract.study.study import Study
from service.contract.wording.numbers import setting

STEPS = 200

DIGITS = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)  # images of each class, before the split
TEST_LABELS = {
    Mnist: (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
    FashionMnist: (1000,) * 10,
    Cifar10: (1000,) * 10,
    Svhn: (1744, 5099, 4149, 2882, 2523, 2384, 1977, 2019, 1660, 1595),
}


class Curve(NamedTuple):
    """A front known by formula, as points in order along it."""

    label: str
    x: list[float]
    y: list[float]


def gaussian_point(correlations: Sequence[float], beta: float) -> tuple[float, float]:
    """Exact (I(X;Z), I(Z;Y)) in bits at our β, the inverse of that of the Gaussian IB (Chechik et al. 2005).

    With λ_i = 1 − ρ_i² and b = 1/β, component i is active for b > 1/(1 − λ_i):
    I(X;Z) = ½ Σ log2((b − 1)(1 − λ_i)/λ_i), I(Z;Y) = I(X;Z) − ½ Σ log2(b(1 − λ_i)).
    """
    if beta <= 0:
        raise ValueError(f"beta must be above 0, got {setting(beta)}")
    b = 1 / beta
    active = [1 - r * r for r in correlations if b * r * r > 1]
    rate = 0.5 * sum(math.log2((b - 1) * (1 - v) / v) for v in active)
    return rate, rate - 0.5 * sum(math.log2(b * (1 - v)) for v in active)


def gaussian_at_rate(correlations: Sequence[float], bits: float) -> float:
    """The largest I(Z;Y) at I(X;Z) = bits: β is bisected, the rate falls in it."""
    low, high = 1e-12, max(r * r for r in correlations)
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gaussian_point(correlations, middle)[0] > bits else (low, middle)
    return gaussian_point(correlations, low)[1]


def entropy_of(counts: Sequence[int]) -> float:
    """−Σ p log2 p of labels counted by class."""
    whole = sum(counts)
    return -sum(n / whole * math.log2(n / whole) for n in counts if n)


def label_entropy(data: Data) -> float | None:
    """H(Y) of the test split in bits, the most that I(Z;Y) can be; none where its labels are not known for sure.

    I(Z;Y) is measured against the frequencies of that very split. Of a set that is cut down to `test_images` only a
    balanced one stays what it was: each class has its share.
    """
    if isinstance(data, ToyData):
        return math.log2(data.classes)
    if isinstance(data, Digits):
        counts: Sequence[int] = [min(max(round(data.test_fraction * n), 1), n - 1) for n in DIGITS]
    elif isinstance(data, (Mnist, FashionMnist, Cifar10, Svhn)):
        counts = TEST_LABELS[type(data)]
    else:
        return None
    whole = data.test_images is None or data.test_images >= sum(counts)
    balanced = len(set(counts)) == 1 and data.test_images is not None and data.test_images % len(counts) == 0
    return entropy_of(counts) if whole or balanced else None


@lru_cache(maxsize=64)  # a quarter of a second; figures and comparison ask for the same one
def _gaussian(correlations: tuple[float, ...], most: float) -> Curve:
    rates = [most * i / STEPS for i in range(STEPS + 1)]
    return Curve("exact curve", rates, [gaussian_at_rate(correlations, r) if r else 0.0 for r in rates])


def _labels(data: ToyData, most: float) -> Curve:
    """Deterministic labels: min(I(X;Z), H(Y)), H(Y) = log2 classes; in equal ratios, since it bends on a log axis."""
    entropy = math.log2(data.classes)
    slope = [0.0, *(entropy * 1e-3 ** (1 - i / STEPS) for i in range(STEPS + 1))]
    return Curve("min(I(X;Z), H(Y))", [*slope, max(most, entropy)], [*slope, entropy])


FRONTS: dict[str, Callable[[float], tuple[float, float]]] = {
    "convex": lambda t: ((1 - t) ** 2 / 4, (1 + t) ** 2 / 4),
    "concave": lambda t: (-math.expm1(-((1 - t) ** 2)), -math.expm1(-((1 + t) ** 2))),
}


def toy_front(front: str) -> Curve:
    """The objectives on x = t·u, −1 ≤ t ≤ 1, from the second one's best to the first one's."""
    points = [FRONTS[front](1 - 2 * i / STEPS) for i in range(STEPS + 1)]
    return Curve(f"exact {front} front", [p[0] for p in points], [p[1] for p in points])


def _bounds_rate(name: str) -> bool:
    """I(X;Z) by a bound from either side; an estimate that is no bound has no place on a curve."""
    row = described(name)
    return row.kind is Kind.RATE and row.bound != "estimate"


def curves(study: Study, x: str, y: str, most: float) -> list[Curve]:
    """What is known about these two metrics of a study, up to `most` on the first axis."""
    if (x, y) == (F1, F2):
        problems = [arm.problem for arm in study.arms if isinstance(arm.problem, ToyProblem)]
        fronts = [f for p in problems for f in listed(p.front)]
        return [toy_front(front) for front in dict.fromkeys(fronts)]
    if y != I_ZY or not _bounds_rate(x):
        return []
    if isinstance(study.data, Gaussian):
        return [_gaussian(tuple(study.data.correlations), most)]
    return [_labels(study.data, most)] if isinstance(study.data, ToyData) else []


def exact_curve(study: Study, metrics: Sequence[str], most: Mapping[str, float]) -> Curve | None:
    """The one curve of two metrics, x the first of them, up to their largest values; none where several are known."""
    if len(metrics) != 2:
        return None
    x, y = metrics
    known = curves(study, x, y, most[x])
    known += [Curve(label, ys, xs) for label, xs, ys in curves(study, y, x, most[y])]
    return known[0] if len(known) == 1 else None
