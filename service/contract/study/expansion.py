"""From a study to its planned trials: a pure function with stable ids."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from service.contract.methods.models import Model
from service.contract.methods.problems import Problem
from service.contract.methods.searches import FillSearch, Suggesting
from service.contract.methods.weightings import Weighting
from service.contract.parameters.axes import Choice, Grid, Range, Searched
from service.contract.study.branched import branches_of
from service.contract.study.branches import WeightingChoice
from service.contract.study.parts import Branching, Part, Parts, Values, parts_of
from service.contract.study.study import Arm, Study, Training
from service.contract.study.verifying import verifying
from service.contract.wire.errors import Detail

Config = dict[str, Any]  # what a trial shows of its values, as `weighting.beta`
WEIGHTING = "weighting.name"  # which weighting a trial has
UNKNOWN: Values = {}


class PlannedTrial(NamedTuple):
    """One training: every value resolved, no axes left."""

    id: str
    arm: str
    seed: int
    config: Config
    problem: Problem
    weighting: Weighting
    model: Model
    training: Training
    verifies: bool = False  # one β alone, to check its arm's curve there: it counts for no front


class Slot(NamedTuple):
    """A trial of a search before its values are suggested: its parts hold ranges, its config lacks their keys."""

    id: str
    arm: str
    seed: int
    config: Config
    parts: Parts

    @property
    def problem(self) -> Problem:
        return self.parts.problem.value

    def branch(self, values: Values) -> Part[Weighting] | None:
        """The weighting that was chosen, where there is a choice of them and one was."""
        weighting = self.parts.weighting
        return weighting.branch(values.get(WEIGHTING)) if isinstance(weighting, Branching) else None

    @property
    def training(self) -> Training:
        return self.parts.training.value

    @property
    def verifies(self) -> bool:
        return False


def arm_errors(study: Study) -> list[Detail]:
    """What pydantic cannot see by itself: overrides against their model, each value of an axis against its field."""
    details: dict[str, Detail] = {}

    def tell(path: str, message: str) -> None:
        details.setdefault(path, Detail(path=path, message=message))

    looked_at: set[tuple[int, str]] = set()
    for i, place, arm in branches_of(study):
        try:
            parts = parts_of(study, arm)
        except ValidationError as error:
            overridden = "training" if error.title == "Training" else "model"
            for e in error.errors():
                keys = [str(key) for key in (*e["loc"][:1], (e.get("ctx") or {}).get("key")) if key is not None]
                path = ".".join([f"arms[{i}]", overridden, *keys])
                tell(path, f"{e['msg']}, got {e['input']!r}"[:400])
            continue
        for part in parts:
            assert isinstance(part, Part), "each weighting of a choice is looked at by itself"
            for field, axis in (part.axes() | part.searched()).items():
                root = f"arms[{i}].{part.place}" if field.partition(".")[0] in part.own_keys else part.place
                root = place if part.place == "weighting" else root
                if (i, path := f"{root}.{field}") in looked_at:  # with another weighting of the arm's choice
                    continue
                looked_at.add((i, path))
                for where, message in _axis_errors(arm, part, field, axis):
                    tell(f"{path}.{where}", message)
    return list(details.values())


def idle_searches(study: Study) -> Iterator[Detail]:
    """A search without anything to search; a choice of weightings is something."""
    for i, _, arm in branches_of(study):
        if not isinstance(arm.search, Suggesting) or isinstance(study.arms[i].weighting, WeightingChoice):
            continue
        try:
            parts = parts_of(study, arm)
        except ValidationError:  # told with its own path
            continue
        if not any(part.searched() for part in parts):
            what = "a {range: …}" if isinstance(arm.search, FillSearch) else "a {range: …} or a {choice: […]}"
            rule = f"search {arm.search.name} needs something to search: give {what} in this arm"
            yield Detail(path=f"arms[{i}].search", message=rule)


def _axis_errors(arm: Arm, part: Part[Any], field: str, axis: Grid | Searched) -> Iterator[tuple[str, str]]:
    """Where in an axis of the arm a rule is broken, and which."""
    kind = next(iter(type(axis).model_fields))
    if isinstance(axis, Grid) and isinstance(arm.search, Suggesting):
        instead = "give one value" if isinstance(arm.search, FillSearch) else "use choice"
        rule = f"search {arm.search.name} of arm {arm.name!r} takes no grid: {instead}"
        yield kind, f"{rule}, got {field} with a grid"
    elif not isinstance(axis, Grid) and not isinstance(arm.search, Suggesting):
        needed = "search optuna or fill" if isinstance(axis, Range) else "search optuna"
        yield kind, f"a {kind} needs {needed}, got search {arm.search.name!r} in arm {arm.name!r}"
    elif isinstance(axis, Range):
        for end, value in zip(("from", "to"), axis.ends(), strict=True):
            if broken := part.refusal(field, value):
                yield f"range.{end}", broken
    else:
        listed = isinstance(axis, Choice) or isinstance(axis.grid, list)
        for j, value in enumerate(axis.choice if isinstance(axis, Choice) else axis.values()):
            if broken := part.refusal(field, value):
                yield kind + (f"[{j}]" if listed else ""), broken


def count_trials(study: Study) -> dict[str, int]:
    """Trials per arm, without building them; those that verify a curve are not counted to them."""
    return {
        arm.name: arm.search.trials if isinstance(arm.search, Suggesting) else _size(study, parts_of(study, arm))
        for arm in study.arms
    }


def count_verifying(study: Study) -> dict[str, int]:
    """Trials besides, of the arms whose curves are verified."""
    parts = {arm.name: verifying(parts_of(study, arm)) for arm in study.arms}
    return {arm: _size(study, own) for arm, own in parts.items() if own is not None}


def _size(study: Study, parts: Parts) -> int:
    return len(study.seeds) * math.prod(part.size() for part in parts)


def trial_id(arm: str, varied: Values, seed: int) -> str:
    """Stable under reordering and extension: only the arm's name, the varied values and the seed enter."""
    text = json.dumps([arm, sorted(varied.items()), seed], ensure_ascii=False)
    return "t" + hashlib.sha256(text.encode()).hexdigest()[:12]


class _Chosen(NamedTuple):
    """A part of an arm at one point of its axes."""

    value: Any  # the part, resolved
    config: Config  # what a trial shows of it
    varied: Config  # by which trials are told apart


def _chosen(part: Part[Any] | Branching, point: Values) -> _Chosen:
    value = part.at(point)
    return _Chosen(value, part.config(value, point), {f"{part.place}.{field}": each for field, each in point.items()})


def _grid_trials(study: Study, arm: Arm) -> Iterator[PlannedTrial]:
    """Those of the arm, then those that verify its curve."""
    parts = parts_of(study, arm)
    yield from _combined(study, arm, parts)
    if (checking := verifying(parts)) is not None:
        yield from _combined(study, arm, checking, verifies=True)


def _combined(study: Study, arm: Arm, parts: Parts, verifies: bool = False) -> Iterator[PlannedTrial]:
    """Parts are resolved before they are combined: most have one point, which all trials share."""
    for chosen in itertools.product(*([_chosen(part, point) for point in part.points()] for part in parts)):
        config: Config = {}
        varied: Config = {"verifies": True} if verifies else {}
        for part in chosen:
            config |= part.config
            varied |= part.varied
        for seed in study.seeds:
            own = trial_id(arm.name, varied, seed)
            yield PlannedTrial(own, arm.name, seed, config, *(p.value for p in chosen))._replace(verifies=verifies)


def _at(
    parts: Parts, problem: Values, weighting: Values, model: Values, training: Values
) -> tuple[Problem, Weighting, Model, Training]:
    return (
        parts.problem.at(problem),
        parts.weighting.at(weighting),
        parts.model.at(model),
        parts.training.at(training),
    )


def _slots(study: Study, arm: Arm, search: Suggesting) -> Iterator[Slot]:
    """Trial i has the seed i mod S; its values come later."""
    parts = parts_of(study, arm)
    config = {key: value for part in parts for key, value in _constants(part).items()}
    for i in range(search.trials):
        seed = study.seeds[i % len(study.seeds)]
        yield Slot(trial_id(arm.name, {"search.number": i}, seed), arm.name, seed, config, parts)


def expand(study: Study) -> list[PlannedTrial | Slot]:
    """All trials of a study, arm by arm, in the order of the spec."""
    return [
        trial
        for arm in study.arms
        for trial in (
            _slots(study, arm, arm.search) if isinstance(arm.search, Suggesting) else _grid_trials(study, arm)
        )
    ]


def searched_keys(study: Study) -> dict[str, list[str]]:
    """What each search of the study may suggest, by arm; arms without a search are not in it.

    Where it chooses a weighting, a trial has the keys of that one alone.
    """
    keys: dict[str, list[str]] = {}
    for arm in study.arms:
        if isinstance(arm.search, Suggesting):
            parts = parts_of(study, arm)
            of_branches = parts.weighting.branches if isinstance(parts.weighting, Branching) else ()
            own = [f"{part.place}.{field}" for part in (*parts, *of_branches) for field in part.searched()]
            keys[arm.name] = list(dict.fromkeys(own))
    return keys


def searched(slot: Slot, values: Values = UNKNOWN) -> dict[str, Searched]:
    """What a slot's search suggests, as `weighting.beta`: with these values known, also what they make possible."""
    return {f"{part.place}.{field}": axis for part in slot.parts for field, axis in part.searched().items()} | (
        searched_in_branch(slot, values)
    )


def searched_in_branch(slot: Slot, values: Values) -> dict[str, Searched]:
    """What is suggested after a weighting was chosen, for it alone."""
    branch = slot.branch(values)
    return {} if branch is None else {f"{branch.place}.{field}": axis for field, axis in branch.searched().items()}


def shown(slot: Slot, values: Values) -> Config:
    """What a trial with these values shows of itself; of a weighting that was chosen, all that it has."""
    if (branch := slot.branch(values)) is None:
        return {**slot.config, **values}
    others = {key: value for key, value in slot.config.items() if not key.startswith(f"{branch.place}.")}
    return {**others, **_constants(branch), **values}


def _constants(part: Part[Any] | Branching) -> Config:
    """What it shows before anything was suggested."""
    all_of_it = part.config(part.value, {})
    return {key: value for key, value in all_of_it.items() if not isinstance(value, (Grid, Range, Choice))}


def resolve(slot: Slot, values: Values) -> PlannedTrial:
    """The trial of a slot with the suggested values in its parts and its config, each checked by its field."""
    missing = [key for key in searched(slot, values) if key not in values]
    if missing:
        raise ValueError(f"{missing[0]} of trial {slot.id} has no value, got {dict(values)!r}")
    own = ({k.partition(".")[2]: v for k, v in values.items() if k.partition(".")[0] == p.place} for p in slot.parts)
    return PlannedTrial(slot.id, slot.arm, slot.seed, shown(slot, values), *_at(slot.parts, *own))
