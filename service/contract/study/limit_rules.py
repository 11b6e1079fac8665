"""What the limits of a study need of each other, and of its arms."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.methods.searches import FillSearch
from service.contract.methods.weightings import OfCurves
from service.contract.study.batches import count_batches
from service.contract.study.expansion import count_trials
from service.contract.study.expected_gain import least_batches
from service.contract.study.study import Arm, Study
from service.contract.wire.errors import Detail
from service.contract.wording.numbers import setting


def broken(study: Study) -> Iterator[Detail]:
    """Asked of a study that is right otherwise: its arms can be counted."""
    limits = study.limits
    if limits.training_seconds is not None and (away := sorted(study.arms_elsewhere)):
        rule = (
            f"training is timed where Ray trains, and arm {away[0]!r} is trained elsewhere: leave training_seconds out"
        )
        yield Detail(path="limits.training_seconds", message=f"{rule}, got {setting(limits.training_seconds)}")
    if limits.training_seconds is not None:
        yield from _verified(study)
    if limits.gain is None:
        if limits.patience is not None:
            rule = "patience is how often the expected gain must be below limits.gain: give gain too"
            yield Detail(path="limits.patience", message=f"{rule}, got {limits.patience}")
        return
    yield from _curves(study)
    least, batches = least_batches(limits.batches_in_a_row), count_batches(study)
    if not batches:
        why = "; ".join(dict.fromkeys(_ends_otherwise(arm) for arm in study.arms))
        rule = f"gain ends a search by optuna, or a grid that is trained here, and no arm is one ({why}): leave it out"
        yield Detail(path="limits.gain", message=f"{rule}, got {setting(limits.gain)}")
    elif (most := max(batches.values())) < least:
        rule = f"with a patience of {limits.batches_in_a_row} an arm needs {least} batches to end before its last"
        rule += ": give more trials or smaller batches, or leave gain out"
        yield Detail(path="limits.gain", message=f"{rule}, got {most} at most")


def _verified(study: Study) -> Iterator[Detail]:
    """A curve that the clock ends early has had other epochs than the networks that would verify it."""
    for i, arm in enumerate(study.arms):
        if isinstance(arm.weighting, OfCurves) and arm.weighting.verify:
            rule = (
                "networks that verify a curve train as many epochs as it, and limits.training_seconds ends it by the "
            )
            rule += "clock: leave verify or training_seconds out"
            yield Detail(path=f"arms[{i}].weighting.verify", message=f"{rule}, got {arm.weighting.verify}")


def _curves(study: Study) -> Iterator[Detail]:
    """A driver is told one point of each trial: too little to say what another curve would gain."""
    sizes = count_trials(study)
    for arm in study.arms:
        if isinstance(arm.weighting, OfCurves) and sizes[arm.name] > len(study.seeds):
            rule = f"gain is judged by one point per trial, and each trial of arm {arm.name!r} ({arm.weighting.name}) "
            rule += "has many: give that arm one configuration, or leave gain out"
            got = sizes[arm.name] // len(study.seeds)
            yield Detail(path="limits.gain", message=f"{rule}, got {got} configurations")


def warned(study: Study) -> Iterator[Detail]:
    """Arms of several trials that `limits.gain` never ends."""
    if study.limits.gain is None:
        return
    least, batches, sizes = least_batches(study.limits.batches_in_a_row), count_batches(study), count_trials(study)
    for i, arm in enumerate(study.arms):
        if arm.name not in batches:
            rule = f"limits.gain does not end this arm: {_ends_otherwise(arm)}"
            place, got = ("search.name", arm.search.name) if isinstance(arm.search, FillSearch) else ("run", arm.run)
            yield Detail(path=f"arms[{i}].{place}", message=f"{rule}, got {got!r}")
        elif batches[arm.name] < least and sizes[arm.name] > len(study.seeds):
            rule = f"limits.gain does not end this arm: it would need {least} batches to end before its last"
            yield Detail(path=f"arms[{i}]", message=f"{rule}, got {batches[arm.name]}")


def _ends_otherwise(arm: Arm) -> str:
    """Of an arm whose trials do not come in batches."""
    if isinstance(arm.search, FillSearch):
        return "fill ends by its own tolerance"
    return "a grid that is trained elsewhere is handed out as a whole"
