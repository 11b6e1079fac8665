"""Rules of training: an option that would do nothing is refused, in an arm or for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from service.contract.methods.examples import Images
from service.contract.metrics import VALIDATION, described
from service.contract.parameters.axes import Range, largest, listed
from service.contract.study.study import Arm, Study, Training
from service.contract.wire.errors import Detail
from service.contract.wording.numbers import setting


class _Option(NamedTuple):
    """A field that only some values of another one make use of."""

    field: str
    of: str
    users: tuple[object, ...]

    @property
    def default(self) -> object:
        return Training.model_fields[self.field].default


OPTIONS = (
    _Option("momentum", "optimizer", ("sgd",)),
    _Option("nesterov", "optimizer", ("sgd",)),
    _Option("beta1", "optimizer", ("adam", "adamw")),
    _Option("beta2", "optimizer", ("adam", "adamw")),
    _Option("weight_decay", "optimizer", ("adamw",)),
    _Option("decay", "schedule", ("step", "exponential")),
    _Option("decay_epochs", "schedule", ("step",)),
    _Option("floor", "schedule", ("cosine",)),
)

OWN_COURSE = {
    "single": "which trains one term alone",
    "target-rate": "which finds β by itself",
    "fvib": "whose code follows from β after the training",
}


def broken(study: Study) -> Iterator[Detail]:
    """What the study says for all arms may be idle in some of them, but not in all."""
    idle: dict[str, list[str]] = {}
    for i, arm in enumerate(study.arms):
        training = study.training_of(arm)
        if training is None:
            continue
        for field, rule in _idle(training):
            if field in arm.training:
                yield Detail(path=f"arms[{i}].training.{field}", message=rule)
            else:
                idle.setdefault(field, []).append(rule)
        yield from _of_arm(study, i, arm, training)
    for field, rules in idle.items():
        if len(rules) == sum(field not in arm.training for arm in study.arms):
            yield Detail(path=f"training.{field}", message=rules[0])


def _of_arm(study: Study, i: int, arm: Arm, training: Training) -> Iterator[Detail]:
    """What cannot be with the arm's epochs, weighting or balance, or with the study's data."""

    def path(*fields: str) -> str:
        return f"arms[{i}].training.{fields[0]}" if {*fields} & arm.training.keys() else f"training.{fields[0]}"

    for field in ("warm_up", "anneal"):
        if too_long := _too_long(field, training):
            yield Detail(path=path(field, "epochs"), message=too_long)
    for field in ("flip", "shift"):
        value = getattr(training, field)
        if _above_zero(value) and (arm.problem.name == "toy" or not isinstance(study.data, Images)):
            why = "augment in losses" if study.code is not None else "leave it out"
            what = "problem 'toy'" if arm.problem.name == "toy" else f"data {study.data.name!r}"
            rule = f"{field} is for sets of images, not for {what}: {why}"
            yield Detail(path=path(field), message=f"{rule}, got {_words(value)}")
    if training.best is not None and VALIDATION.of(training.best) not in (names := study.metrics_of(arm)):
        held = [row.validation_of for row in map(described, names) if row.validation_of and not row.error_of]
        rule = "the best epoch is chosen on the validation split, on which"
        known = f"arm {arm.name!r} measures {', '.join(held) or 'nothing'}"
        yield Detail(path=path("best"), message=f"{rule} {known}, got {training.best!r}")
    if training.best is not None and study.limits.training_seconds is not None:
        rule = "the best epoch is kept at the end of a training, which limits.training_seconds may cut"
        yield Detail(path=path("best"), message=f"{rule}: leave one out, got {training.best!r}")
    if training.balance and "after" in listed(training.balance.mode):
        rule = "mode after balances after the last epoch"
        if study.limits.training_seconds is not None:
            cut = f"{rule}, which limits.training_seconds may cut: leave one out"
            yield Detail(path=f"{path('balance')}.mode", message=cut)
        if training.best is not None:
            other = f"{rule}, whose weights training.best may replace: leave one out, got {training.best!r}"
            yield Detail(path=path("best"), message=other)
    if _above_zero(training.average) and training.balance and training.balance.mode != "none":
        rule = "a mean of weights is not taken across a balance, which moves them without changing the function"
        yield Detail(path=path("average"), message=f"{rule}; leave one out, got {_words(training.average)}")
    if _above_zero(training.anneal) and arm.weighting.name in OWN_COURSE:
        rule = f"anneal is not for weighting {arm.weighting.name}, {OWN_COURSE[arm.weighting.name]}"
        yield Detail(path=path("anneal"), message=f"{rule}, got {_words(training.anneal)}")


def idle_options(training: Training) -> list[str]:
    """Options that this training does not use, though they are not at their defaults."""
    return [field for field, _ in _idle(training)]


def _idle(training: Training) -> Iterator[tuple[str, str]]:
    for option in OPTIONS:
        value = getattr(training, option.field)
        named = listed(getattr(training, option.of))
        if value != option.default and not any(each in option.users for each in named):
            users = " or ".join(str(user) for user in option.users)
            rule = f"{option.field} is of {option.of} {users} and does nothing here"
            yield option.field, f"{rule}, got {_words(value)} with {option.of} {' and '.join(map(str, named))}"
    momenta: object = training.momentum
    if "sgd" in listed(training.optimizer) and any(listed(training.nesterov)) and not _above_zero(momenta):
        yield "nesterov", f"nesterov needs a momentum above 0, got momentum {_words(momenta)}"


def _above_zero(axis: object) -> bool:
    return isinstance(axis, Range) or any(listed(axis))


def _too_long(field: str, training: Training) -> str | None:
    most = largest(getattr(training, field))
    if most < training.epochs:
        return None
    return f"{field} must be below the number of epochs, {training.epochs}, got {setting(most)}"


def _words(axis: object) -> str:
    """An axis by its values."""
    if isinstance(axis, Range):
        low, high = axis.ends()
        return f"{setting(low)} to {setting(high)}"
    return ", ".join(setting(value) for value in listed(axis))
