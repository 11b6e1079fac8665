"""A study of one configuration alone: what somebody submits who has picked a point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any

from service.contract.methods.searches import GridSearch
from service.contract.methods.weightings import Fixed, Weighting
from service.contract.study import balance_rules, training_rules
from service.contract.study.expansion import WEIGHTING, PlannedTrial, Slot, resolve, searched
from service.contract.study.study import Study, Training

LONGEST_NAME = 200
# What is said about arms that are gone, or about when trials or a search end.
OF_MANY_ARMS = ("arms", "baseline", "limits", "stopping", "problem", "model", "training")


def alone(study: Study, trial: PlannedTrial | Slot) -> dict[str, Any]:
    """The trial's arm with the trial's values, on the same data with all seeds: a spec that can be submitted."""
    planned = _resolved(trial)
    spec = study.model_dump(by_alias=True, mode="json")
    arm = next(arm for arm in study.arms if arm.name == planned.arm)
    own = {
        **arm.model_dump(by_alias=True, mode="json", exclude={"model", "training"}),
        "problem": planned.problem.model_dump(by_alias=True, mode="json"),
        "weighting": _weighting(planned.weighting),
        "search": GridSearch().model_dump(),
    }
    return {
        "name": f"{study.name}: {planned.arm} alone"[:LONGEST_NAME],
        **{key: value for key, value in spec.items() if key not in ("name", *OF_MANY_ARMS)},
        "model": planned.model.model_dump(by_alias=True, mode="json"),
        "training": _training(planned.training),
        "arms": [own],
    }


def with_values(trials: Iterable[PlannedTrial | Slot]) -> Iterator[str]:
    """Ids of those of which all is known that their search suggests: who trains one elsewhere may report without."""
    needed: dict[tuple[str, str], Set[str]] = {}
    for trial in trials:
        if isinstance(trial, Slot):
            kind = (trial.arm, repr(trial.config.get(WEIGHTING)))  # trials of a kind have the same keys
            if kind not in needed:
                needed[kind] = searched(trial, trial.config).keys()
            if not trial.config.keys() >= needed[kind]:
                continue
        yield trial.id


def _weighting(weighting: Weighting) -> dict[str, object]:
    """A point of a simplex grid has its weights, no grid any more."""
    of_grid = {"simplex"} if isinstance(weighting, Fixed) and weighting.weights else set[str]()
    return weighting.model_dump(by_alias=True, mode="json", exclude=of_grid)


def _training(training: Training) -> dict[str, object]:
    """Without the options that only other values of its grids made use of."""
    idle: dict[str, bool | set[str]] = dict.fromkeys(training_rules.idle_options(training), True)
    if training.balance is not None:
        idle.setdefault("balance", set(balance_rules.idle_options(training.balance)))
    return training.model_dump(by_alias=True, mode="json", exclude=idle)


def _resolved(trial: PlannedTrial | Slot) -> PlannedTrial:
    if isinstance(trial, PlannedTrial):
        return trial
    return resolve(trial, {key: trial.config[key] for key in searched(trial, trial.config)})
