"""What a search that fills a front needs of the other parts of a study."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from service.contract.methods.searches import FillSearch
from service.contract.parameters.axes import Choice
from service.contract.study.parts import parts_of
from service.contract.study.study import Arm, Study
from service.contract.wire.errors import Detail


def broken(study: Study) -> Iterator[Detail]:
    """A front is a line, which one range runs along: two objectives, one range, and two values at least."""
    for i, arm in enumerate(study.arms):
        if not isinstance(arm.search, FillSearch):
            continue
        path = f"arms[{i}].search"
        if len(study.objectives) != 2:
            names = ", ".join(objective.metric for objective in study.objectives)
            rule = f"fill needs two objectives, whose front is a line that one range runs along, got {names}"
            yield Detail(path=f"{path}.name", message=rule)
        if arm.search.trials < 2 * len(study.seeds):
            rule = f"fill trains both ends of its range with each of {len(study.seeds)} seeds"
            yield Detail(
                path=f"{path}.trials",
                message=f"{rule}: trials must be at least {2 * len(study.seeds)}, got {arm.search.trials}",
            )
        yield from _one_range(study, i, arm)


def warned(study: Study) -> Iterator[Detail]:
    """A last value that some seeds are left out of: its mean is of fewer of them than all others."""
    seeds = len(study.seeds)
    for i, arm in enumerate(study.arms):
        if not isinstance(arm.search, FillSearch):
            continue
        values, over = divmod(arm.search.trials, seeds)
        if over:
            rule = f"fill trains each value with each of {seeds} seeds, and the last of {values + 1} would have {over}"
            instead = f"give {values * seeds} or {(values + 1) * seeds} trials"
            yield Detail(path=f"arms[{i}].search.trials", message=f"{rule}: {instead}, got {arm.search.trials}")


def _one_range(study: Study, i: int, arm: Arm) -> Iterator[Detail]:
    """That there is one at all is a rule of every search."""
    try:
        parts = parts_of(study, arm)
    except ValidationError:  # told with its own path
        return
    searched = {f"{part.place}.{field}": (part, axis) for part in parts for field, axis in part.searched().items()}
    for key, (part, axis) in searched.items():
        if isinstance(axis, Choice):
            root = f"arms[{i}]." if key.split(".")[1] in part.own_keys else ""
            rule = "fill goes along a range, and a choice has no order: give a range or one value"
            yield Detail(path=f"{root}{key}.choice", message=f"{rule}, got {axis.choice!r}"[:400])
    if len(searched) > 1:
        rule = "fill goes along one range, not a vector of them: give the others one value, or use search optuna"
        got = f"got {len(searched)} ({', '.join(searched)})"
        yield Detail(path=f"arms[{i}].search.name", message=f"{rule}, {got}"[:400])
