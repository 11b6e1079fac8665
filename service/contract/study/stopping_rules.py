"""What stopping trials early needs of the other parts of a study."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.study.expansion import count_trials
from service.contract.study.halved import halved, whole
from service.contract.study.study import Study
from service.contract.wire.errors import Detail
from service.contract.wording.numbers import plural, setting


def broken(study: Study) -> Iterator[Detail]:
    """It decides alone who ends early, and before the last epoch."""
    if study.stopping is None:
        return
    for name in ("gain", "training_seconds"):
        if (asked := getattr(study.limits, name)) is not None:
            rule = "stopping halving decides by itself which trials end early: leave this limit out"
            yield Detail(path=f"limits.{name}", message=f"{rule}, got {setting(asked)}")
    for arm in halved(study):
        training = study.training_of(arm)
        if training is not None and study.stopping.first >= training.epochs:
            rule = f"the first rung must come before the last epoch, which is {training.epochs} in arm {arm.name!r}"
            yield Detail(path="stopping.first", message=f"{rule}, got {study.stopping.first}")


def idle(study: Study) -> Iterator[Detail]:
    """Asked of a study that is right otherwise: halving that would stop nobody."""
    if study.stopping is None:
        return
    sizes, halving = count_trials(study), study.stopping
    reasons = []
    for arm in study.arms:
        count, own = sizes[arm.name] // len(study.seeds), whole(arm)
        if own is None and halving.going_on(count) < count:
            return
        few = f"{plural(count, 'configuration')}, too few for a share of {setting(halving.keep)} to leave one behind"
        reasons.append(f"arm {arm.name!r}: {few if own is None else own.why}")
    said = "; ".join(reasons)
    yield Detail(path="stopping.name", message=f"halving would stop no trial of this study ({said})"[:400])


def warned(study: Study) -> Iterator[Detail]:
    """Arms that it leaves alone."""
    for i, arm in enumerate(study.arms if study.stopping else ()):
        if (own := whole(arm)) is not None:
            rule = f"stopping halving stops no trial of this arm: {own.why}"
            yield Detail(path=f"arms[{i}].{own.place}", message=f"{rule}, got {own.value!r}")
