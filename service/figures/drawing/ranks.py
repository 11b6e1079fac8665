"""Ranks of arms, averaged over attacks: which arm is ahead whatever the attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def ranks(values: Mapping[str, float]) -> dict[str, float]:
    """1 for the largest; equal values share the mean of their places."""
    return {
        name: 1 + sum(other > own for other in values.values()) + (sum(o == own for o in values.values()) - 1) / 2
        for name, own in values.items()
    }


def rank_averages(table: Mapping[str, Mapping[str, float]], attacks: Sequence[str]) -> dict[str, float]:
    """Per arm the mean over attacks of its rank among the arms; every arm has every attack."""
    by_attack = [ranks({arm: values[attack] for arm, values in table.items()}) for attack in attacks]
    return {arm: sum(each[arm] for each in by_attack) / len(attacks) for arm in table} if attacks else {}
