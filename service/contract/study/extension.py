"""More of the same study: seeds, grid points, epochs. What was planned before stays planned, under the same ids."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from service.contract.methods.searches import Suggesting
from service.contract.methods.weightings import Arml
from service.contract.parameters.strict import Strict
from service.contract.study.axis_sizes import refuse_crowded
from service.contract.study.expansion import Config, PlannedTrial, Slot, expand
from service.contract.study.parsing import check_study, refuse_hidden
from service.contract.study.parts import parts_of
from service.contract.study.study import Arm, Study
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


def extended(study: Study, wish: Extension) -> Study:
    """The study with more; InvalidInput when the wish cannot be granted, with its path."""
    refuse_hidden({"grid": wish.grid})
    spec = study.model_dump(by_alias=True, mode="json")
    if not (wish.seeds or wish.epochs or wish.grid):
        raise _refused("", "name seeds, epochs or grid to extend a study")
    if study.stopping is not None:
        rule = f"its trials were compared with each other already (stopping {study.stopping.name})"
        raise _refused("", f"{rule}, and among more of them others would have come further: submit it as a new study")
    if wish.seeds:
        _add_seeds(study, spec, wish.seeds)
    if wish.epochs:
        _set_epochs(study, spec, wish.epochs)
    for name, axes in wish.grid.items():
        number = next((i for i, arm in enumerate(study.arms) if arm.name == name), None)
        if number is None:
            raise _refused("grid", f"there is no arm {name!r}; known: {', '.join(arm.name for arm in study.arms)}")
        for key, values in axes.items():
            _add_points(study, spec["arms"][number], study.arms[number], key, values)
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


def _add_seeds(study: Study, spec: dict[str, Any], seeds: list[int]) -> None:
    if known := [seed for seed in seeds if seed in study.seeds]:
        raise _refused("seeds", f"the study has seed {known[0]} already")
    if searching := [arm.name for arm in study.arms if isinstance(arm.search, Suggesting)]:
        raise _refused("seeds", f"arm {searching[0]!r} searches, and its search deals the seeds out in turn")
    spec["seeds"] = [*study.seeds, *seeds]


def _set_epochs(study: Study, spec: dict[str, Any], epochs: int) -> None:
    places = [("training", spec["training"]), *((f"arms[{i}]", arm["training"]) for i, arm in enumerate(spec["arms"]))]
    for place, training in places:
        now = training.get("epochs", 0 if place != "training" else None)
        if not isinstance(now, int):
            raise _refused("epochs", f"epochs of {place} is an axis, got {now!r}")
        if now >= epochs:
            raise _refused("epochs", f"must be above the {now} epochs of {place}, got {epochs}")
        if now:
            training["epochs"] = epochs


def _add_points(study: Study, spec: dict[str, Any], arm: Arm, key: str, values: list[Value]) -> None:
    place, _, field = key.partition(".")
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
    grid = {"grid": [*points, *values]}
    if entry:
        spec[place][inner] = {**(spec[place].get(inner) or {}), entry: grid}
    else:
        spec[place][field] = grid


def _refused(path: str, message: str) -> InvalidInput:
    return InvalidInput(f"{path}: {message}" if path else message, [Detail(path=path, message=message)])
