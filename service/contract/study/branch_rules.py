"""What a choice of weightings needs of the other parts of a study."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.methods.searches import BRANCHING, OptunaSearch
from service.contract.study.branches import WeightingChoice
from service.contract.study.study import Study
from service.contract.wire.errors import Detail


def broken(study: Study) -> Iterator[Detail]:
    """A search that knows of values which only some of its trials have."""
    for i, arm in enumerate(study.arms):
        if not isinstance(arm.weighting, WeightingChoice):
            continue
        if not isinstance(arm.search, OptunaSearch):
            rule = "a choice of weightings needs search optuna, which chooses one and then values for it"
            yield Detail(path=f"arms[{i}].weighting.choice", message=f"{rule}, got search {arm.search.name!r}")
        elif arm.search.sampler not in BRANCHING:
            rule = f"of a choice of weightings each trial has values of its own: {' and '.join(BRANCHING)} know that, "
            rule += "the other samplers would draw them blindly"
            yield Detail(path=f"arms[{i}].search.sampler", message=f"{rule}, got {arm.search.sampler!r}")
