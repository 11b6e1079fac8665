"""Ranks of arms, averaged over conditions: which arm is ahead whatever the attack or the task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def ranks(values: Mapping[str, float]) -> dict[str, float]:
    """1 for the largest; equal values share the mean of their places."""
    return {
        name: 1 + sum(other > own for other in values.values()) + (sum(o == own for o in values.values()) - 1) / 2
        for name, own in values.items()
    }


def rank_averages(table: Mapping[str, Mapping[str, float]], conditions: Sequence[str]) -> dict[str, float]:
    """Per arm the mean over conditions, such as an attack or a task, of its rank; every arm has every condition."""
    by_condition = [ranks({arm: values[condition] for arm, values in table.items()}) for condition in conditions]
    return {arm: sum(each[arm] for each in by_condition) / len(conditions) for arm in table} if conditions else {}
