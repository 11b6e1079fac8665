"""A study with a choice of weightings as the studies that each of them would be: what rules are asked of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
    """What rules say that know single weightings only: of the study with each one in turn, in the place it has."""
    choosing = [i for i, arm in enumerate(study.arms) if isinstance(arm.weighting, WeightingChoice)]
    if not choosing:
        return list(rules(study))
    branches = list(branches_of(study))
    first = {i: arm for i, _, arm in reversed(branches)}
    details: dict[tuple[str, str], Detail] = {}
    for i, path, arm in branches:
        if i in choosing:
            arms = [arm if k == i else own for k, own in sorted(first.items())]
            others = tuple(f"arms[{k}].weighting" for k in choosing if k != i)  # which have their turn
            for told in rules(study.model_copy(update={"arms": arms})):
                if not told.path.startswith(others):
                    own_path = f"arms[{i}].weighting"
                    moved = told.path.startswith(own_path)
                    detail = replace(told, path=path + told.path.removeprefix(own_path)) if moved else told
                    details.setdefault((detail.path, detail.message), detail)
    return list(details.values())
