"""Rules of weighting go4align."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.methods.weightings import Go4align
from service.contract.parameters.axes import Range, listed
from service.contract.study.study import Study
from service.contract.wire.errors import Detail
from service.contract.wording.numbers import setting


def broken(study: Study) -> Iterator[Detail]:
    """Terms cannot form more groups than there are terms."""
    for i, arm in enumerate(study.arms):
        if not isinstance(arm.weighting, Go4align):
            continue
        axis: object = arm.weighting.groups
        terms = arm.problem.terms
        most = max(axis.ends() if isinstance(axis, Range) else listed(axis))
        if most > len(terms) > 0:
            rule = f"groups must be at most the number of terms, {len(terms)} ({', '.join(terms)}), got {setting(most)}"
            yield Detail(path=f"arms[{i}].weighting.groups", message=rule)
