"""Arms that did the same: equal in every seed and metric but time and what only one of their weightings tells."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from service.analysis.fronts import Trial
from service.contract.metrics import Kind, metric
from service.contract.wire.events import Where

# Two ways to compute one update differ by rounding, which training makes larger: ARML with one auxiliary and uniform
# differed by up to 2e-5 after 20 epochs on digits. Seeds differ by far more.
SAME = 1e-3

# Of two arms that do the same, one may cost more, and only one need have its gradients watched or look for its weights.
BESIDE = (Kind.TIME, Kind.COSINE, Kind.LENGTH, Kind.DISTANCE)

Reported = Mapping[str, float | None]
Labelled = tuple[tuple[int, Where | None], Reported]  # seed and place


def identical_arms(trials: Sequence[Trial], arms: Collection[str]) -> list[list[str]]:
    """Groups of these arms, two or more each, whose trials report the same in each seed, in the order planned."""
    own = {arm: [((t.seed, t.where), _measured(t.metrics)) for t in trials if t.arm == arm] for arm in arms}
    groups: list[list[str]] = []
    for arm in arms:
        same = next((group for group in groups if own[arm] and _alike(own[group[0]], own[arm])), None)
        if same is None:
            groups.append([arm])
        else:
            same.append(arm)
    return [group for group in groups if len(group) > 1]


def _measured(metrics: Reported) -> Reported:
    rows = {name: metric(name) for name in metrics}
    return {name: value for name, value in metrics.items() if (row := rows[name]) is None or row.kind not in BESIDE}


def _alike(one: list[Labelled], other: list[Labelled]) -> bool:
    return len(one) == len(other) and all(
        place == its and own.keys() == metrics.keys() and all(_same(own[name], metrics[name]) for name in own)
        for (place, own), (its, metrics) in zip(one, other, strict=True)
    )


def _same(own: float | None, other: float | None) -> bool:
    if own is None or other is None:
        return own is other
    return math.isclose(own, other, rel_tol=SAME, abs_tol=1e-6)
