"""What a search learns from an earlier study: those of its trials that could have been trials of the arm itself."""

from __future__ import annotations

from collections.abc import Mapping

from service.contract.methods.searches import ToldTrial
from service.contract.parameters.axes import Choice, Searched
from service.contract.study.expansion import WEIGHTING, Config, Slot, expand, searched, shown
from service.contract.study.metric_settings import measured_with
from service.contract.study.outcomes import excesses, objective_values
from service.contract.study.study import Arm, Study
from service.contract.wire.events import TrialState
from service.contract.wording.numbers import setting
from service.views.view import View

OF_METHOD = ("problem.", "weighting.")  # settings in which an earlier arm must agree; model and training may be others


def why_not(earlier: View, study: Study, arm: Arm) -> str | None:
    """The rule by which this arm cannot learn anything from that study, if there is one."""
    if not earlier.state.is_ended():
        return f"study {earlier.id} is {earlier.state.value}: a warm start needs one that has ended"
    other, own = (each.code.hash if each.code else None for each in (earlier.study, study))
    if earlier.study.data != study.data or other != own:
        return f"study {earlier.id} has other data ({_data(earlier.study)}), this one has {_data(study)}"
    if _axes(earlier.study) != _axes(study):
        return f"study {earlier.id} has other objectives ({_axes(earlier.study)}), this one has {_axes(study)}"
    return _measured_otherwise(earlier, study, arm)


def _measured_otherwise(earlier: View, study: Study, arm: Arm) -> str | None:
    """The first metric that a search goes by and that has another meaning there, if there is one."""
    for metric in (*(each.metric for each in study.objectives), *(each.metric for each in study.constraints)):
        there, here = (measured_with(each, arm, metric) for each in (earlier.study, study))
        other = [key for key in {**there, **here} if there.get(key) != here.get(key)]
        if other:
            theirs, ours = (", ".join(f"{key} {_word(own.get(key))}" for key in other) for own in (there, here))
            return f"study {earlier.id} measures {metric} otherwise ({theirs}), this one has {ours}"
    return None


def _word(value: object) -> str:
    return "none" if value is None else setting(value)


def _data(study: Study) -> str:
    """`digits {"train_fraction":0.5}`: what it says besides the defaults."""
    said = study.data.model_dump_json(exclude_defaults=True, exclude={"name"})
    return study.data.name if said == "{}" else f"{study.data.name} {said}"


def _axes(study: Study) -> str:
    """As what chooses sees them: a value of the test split says nothing about one of the validation split."""
    goals = (objective.goal for objective in study.objectives)
    return ", ".join(f"{goal} {name}" for goal, name in zip(goals, study.choosing, strict=True))


def told_by(earlier: View, study: Study, arm: str) -> list[ToldTrial]:
    """Finished trials with the arm's problem and weighting whose searched values the arm could have suggested.

    Seed by seed: the searches of other seeds stay independent of each other.
    """
    slot = next(trial for trial in expand(study) if isinstance(trial, Slot) and trial.arm == arm)
    bounds, told = study.bounds, list[ToldTrial]()
    for trial in earlier.trials.values():
        config, seed = trial.planned.config, trial.planned.seed
        space = searched(slot, config)
        if trial.state is not TrialState.FINISHED or seed not in study.seeds or not _agrees(config, slot, space):
            continue
        reached, broken = objective_values(trial.metrics, study.choosing), excesses(trial.metrics, bounds)
        if reached is not None and broken is not None:
            values = {key: config[key] for key in space}
            told.append(ToldTrial(seed=seed, values=values, objectives=reached, excesses=broken))
    return told


def _agrees(config: Config, slot: Slot, space: Mapping[str, Searched]) -> bool:
    own = shown(slot, {WEIGHTING: config.get(WEIGHTING)}) if slot.branch(config) else slot.config
    fixed = {key: value for key, value in own.items() if key.startswith(OF_METHOD) and key not in space}
    return all(config.get(key) == value for key, value in fixed.items()) and all(
        key in config and _is_in(config[key], axis) for key, axis in space.items()
    )


def _is_in(value: object, axis: Searched) -> bool:
    if isinstance(axis, Choice):
        return any(value == each and type(value) is type(each) for each in axis.choice)
    low, high = axis.ends()
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high
