"""Studies that a search learns from: looked up when a study is submitted, and what they say is kept with it."""

from __future__ import annotations

from service.contract.methods.searches import MOST_TOLD, OptunaSearch, ToldTrial
from service.contract.study.study import Arm, Study
from service.contract.wire.errors import Detail, InvalidInput, NotFound, Unreadable
from service.routes.dependencies import Parts
from service.views.told import told_by, why_not


def with_earlier_trials(study: Study, parts: Parts) -> Study:
    """The study whose searches know what they are told, whatever becomes of the earlier studies."""
    return study.model_copy(update={"arms": [_arm(study, i, parts) for i in range(len(study.arms))]})


def _arm(study: Study, index: int, parts: Parts) -> Arm:
    arm = study.arms[index]
    if not isinstance(arm.search, OptunaSearch) or not arm.search.from_:
        return arm
    told: list[ToldTrial] = []
    for i, earlier in enumerate(arm.search.from_):
        told += _told(study, arm, earlier, parts, f"arms[{index}].search.from[{i}]")
    if len(told) > MOST_TOLD:
        rule = f"a search is told at most {MOST_TOLD:,} trials, these studies have {len(told):,}"
        raise _refused(f"arms[{index}].search.from", rule)
    return arm.model_copy(update={"search": arm.search.model_copy(update={"told": told})})


def _told(study: Study, arm: Arm, earlier: str, parts: Parts, path: str) -> list[ToldTrial]:
    try:
        with parts.views.read(earlier) as view:
            if rule := why_not(view, study, arm):
                raise _refused(path, rule)
            if told := told_by(view, study, arm.name):
                return told
    except (NotFound, Unreadable) as error:
        raise _refused(path, f"{error.message}; known are studies of this service that have ended") from error
    rule = (
        f"study {earlier} has no finished trial with the problem, the weighting and a seed of arm {arm.name!r} whose "
        "values lie in what is searched here; collapsed ones teach nothing"
    )
    raise _refused(path, rule)


def _refused(path: str, rule: str) -> InvalidInput:
    return InvalidInput(f"{path}: {rule}", [Detail(path=path, message=rule)])
