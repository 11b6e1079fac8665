"""More of the same study: seeds, grid points, epochs. What was planned before stays planned, under the same ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from service.contract.methods.searches import Suggesting
from service.contract.methods.weightings import Arml
from service.contract.parameters.strict import Strict
from service.contract.study.axis_sizes import refuse_crowded
from service.contract.study.expansion import Config, PlannedTrial, Slot, expand
from service.contract.study.parsing import check_study, refuse_hidden
from service.contract.study.parts import parts_of
from service.contract.study.study import Study
from service.contract.wire.errors import Detail, InvalidInput

Value = bool | int | float | str


class Extension(Strict):
    """What a study gets more of; at least one of them."""

    seeds: list[Annotated[int, Field(ge=0, lt=2**31)]] = Field(
        [], max_length=1000, description="more seeds; not for studies with a search, which deals its seeds out in turn"
    )
    epochs: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        None, description="train every trial to this epoch, more than it has now"
    )
    grid: dict[str, dict[str, list[Value]]] = Field(
        {}, description="more points of grids, by arm and setting: {manual β: {weighting.beta: [0.5, 2]}}"
    )


class Change(NamedTuple):
    """What stands from now on at a place of the study as it is written."""

    path: tuple[str | int, ...]
    value: object


def extended(study: Study, wish: Extension) -> Study:
    """The study with more; InvalidInput when the wish cannot be granted, with its path."""
    refuse_hidden({"grid": wish.grid})
    if not (wish.seeds or wish.epochs or wish.grid):
        raise _refused("", "name seeds, epochs or grid to extend a study")
    if study.stopping is not None:
        rule = f"its trials were compared with each other already (stopping {study.stopping.name})"
        raise _refused("", f"{rule}, and among more of them others would have come further: submit it as a new study")
    changes = list(_changes(study, wish))
    spec = study.model_dump(by_alias=True, mode="json")
    for (*outer, last), value in changes:
        part: Any = spec
        for key in outer:
            if isinstance(key, str) and part.get(key) is None:
                part[key] = {}
            part = part[key]
        part[last] = value
    refuse_crowded(spec)
    more = check_study(spec)
    if {trial.id for trial in expand(study)} - {trial.id for trial in expand(more)}:
        raise _refused("", "this would change trials that were planned before: submit it as a new study")
    return more


def depends_on_epochs(trial: PlannedTrial | Slot, config: Config | None = None) -> bool:
    """Whether its training is another one from the first step on when it has more epochs; `config` has what was
    suggested for a slot."""
    known = config or trial.config
    if isinstance(trial, Slot):
        part = trial.branch(known) or trial.parts.weighting
        weighting, training = part.value, trial.parts.training.value
    else:
        weighting, training = trial.weighting, trial.training
    schedule: object = known.get("training.schedule", training.schedule)
    form: object = isinstance(weighting, Arml) and known.get("weighting.form", weighting.form)
    mode: object = training.balance and known.get("training.balance.mode", training.balance.mode)
    return schedule == "cosine" or form == "two-stage" or mode == "after"


def _changes(study: Study, wish: Extension) -> Iterator[Change]:
    if wish.seeds:
        yield _more_seeds(study, wish.seeds)
    if wish.epochs:
        yield from _later_ends(study, wish.epochs)
    for name, axes in wish.grid.items():
        number = next((i for i, arm in enumerate(study.arms) if arm.name == name), None)
        if number is None:
            raise _refused("grid", f"there is no arm {name!r}; known: {', '.join(arm.name for arm in study.arms)}")
        for key, values in axes.items():
            yield _more_points(study, number, key, values)


def _more_seeds(study: Study, seeds: list[int]) -> Change:
    if known := [seed for seed in seeds if seed in study.seeds]:
        raise _refused("seeds", f"the study has seed {known[0]} already")
    if searching := [arm.name for arm in study.arms if isinstance(arm.search, Suggesting)]:
        raise _refused("seeds", f"arm {searching[0]!r} searches, and its search deals the seeds out in turn")
    return Change(("seeds",), [*study.seeds, *seeds])


def _later_ends(study: Study, epochs: int) -> Iterator[Change]:
    """Of the study's training, and of that of each arm that has epochs of its own."""
    training = study.training.model_dump(by_alias=True, mode="json")
    yield _later_end(("training",), "training", training["epochs"], epochs)
    for i, arm in enumerate(study.arms):
        if own := arm.training.get("epochs"):
            yield _later_end(("arms", i, "training"), f"arms[{i}]", own, epochs)


def _later_end(path: tuple[str | int, ...], place: str, now: object, epochs: int) -> Change:
    if not isinstance(now, int):
        raise _refused("epochs", f"epochs of {place} is an axis, got {now!r}")
    if now >= epochs:
        raise _refused("epochs", f"must be above the {now} epochs of {place}, got {epochs}")
    return Change((*path, "epochs"), epochs)


def _more_points(study: Study, number: int, key: str, values: list[Value]) -> Change:
    arm, (place, _, field) = study.arms[number], key.partition(".")
    path = f"grid.{arm.name}.{key}"
    part = getattr(parts_of(study, arm), place, None)
    grids = part.grids() if part is not None else {}
    if field not in grids:
        known = ", ".join(f"{own.place}.{axis}" for own in parts_of(study, arm) for axis in own.grids()) or "none"
        raise _refused(path, f"{key} is no grid of arm {arm.name!r}; its grids: {known}")
    points = grids[field].values()
    known_points = set(points)
    if twice := [value for value in values if value in known_points]:
        raise _refused(path, f"the grid has {twice[0]!r} already")
    inner, _, entry = field.partition(".")
    return Change(("arms", number, place, inner, *([entry] if entry else [])), {"grid": [*points, *values]})


def _refused(path: str, message: str) -> InvalidInput:
    return InvalidInput(f"{path}: {message}" if path else message, [Detail(path=path, message=message)])
