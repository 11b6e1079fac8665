"""A study with a choice of weightings as the studies that each of them would be: what rules are asked of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from service.contract.study.branches import WeightingChoice
from service.contract.study.study import Arm, Study
from service.contract.wire.errors import Detail


def branches_of(study: Study) -> Iterator[tuple[int, str, Arm]]:
    """Each arm with its number and the path of its weighting; with a choice, once for each of its weightings."""
    for i, arm in enumerate(study.arms):
        path = f"arms[{i}].weighting"
        if not isinstance(arm.weighting, WeightingChoice):
            yield i, path, arm
            continue
        for j, weighting in enumerate(arm.weighting.choice):
            yield i, f"{path}.choice[{j}]", arm.model_copy(update={"weighting": weighting})


def in_each_branch(study: Study, rules: Callable[[Study], Iterable[Detail]]) -> list[Detail]:
    """What rules say that know single weightings only: of studies in which every choice is its first, its second, …"""
    choices = {
        i: arm.weighting.choice for i, arm in enumerate(study.arms) if isinstance(arm.weighting, WeightingChoice)
    }
    if not choices:
        return list(rules(study))
    details: dict[tuple[str, str], Detail] = {}
    for j in range(max(map(len, choices.values()))):
        taken = {i: min(j, len(branches) - 1) for i, branches in choices.items()}
        arms = [
            arm.model_copy(update={"weighting": choices[i][taken[i]]}) if i in taken else arm
            for i, arm in enumerate(study.arms)
        ]
        for told in rules(study.model_copy(update={"arms": arms})):
            detail = replace(told, path=_placed(told.path, taken))
            details.setdefault((detail.path, detail.message), detail)
    return list(details.values())


def _placed(path: str, taken: Mapping[int, int]) -> str:
    """`arms[0].weighting.beta` as `arms[0].weighting.choice[1].beta`, where that was taken."""
    for i, j in taken.items():
        own = f"arms[{i}].weighting"
        if path.startswith(own):
            return f"{own}.choice[{j}]{path.removeprefix(own)}"
    return path
