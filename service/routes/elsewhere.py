"""Trials that are trained elsewhere: asked for here, reported like all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from service.contract.metrics import COMMON_METRICS
from service.contract.study.expansion import PlannedTrial, Slot, resolve
from service.contract.wire.elsewhere import Ask, HandedTrial
from service.contract.wire.errors import Conflict, Detail, Forbidden
from service.contract.wire.events import (
    Event,
    Report,
    TrialAlive,
    TrialEvent,
    TrialFailed,
    TrialFinished,
    TrialReturned,
    TrialStarted,
    TrialSuggested,
)
from service.routes.dependencies import CallerOf, Parts, PartsOf, StudyId
from service.views.fold import StudyView
from service.web.bodies import Body
from service.web.doorkeeper import Caller
from service.web.openapi import Route, ref, refuses, takes
from service.web.scopes import DRIVER, needs

OfHolder = Report | TrialFinished | TrialFailed | TrialAlive | TrialReturned  # what whoever holds a trial tells

router = APIRouter(tags=["elsewhere"], route_class=Route)


def _body(request: Request, parts: PartsOf) -> Body:
    return Body(request, parts.settings.max_study_bytes)


@router.post(
    "/studies/{study_id}/ask",
    openapi_extra={**takes({"application/json": ref(Ask)}), **needs("ingest")},
    responses=refuses(Conflict),
)
async def ask_for_trial(
    study_id: StudyId, body: Annotated[Body, Depends(_body)], parts: PartsOf, caller: CallerOf
) -> HandedTrial:
    """A trial of an arm with `run: elsewhere`, which its asker trains and reports with the lease. 409 when none is
    free: its detail `free` says `later` where asking again may help, `never` where it does not."""
    wish = await body.parsed(Ask)
    asker = caller.token.name if caller.token else caller.name
    token = caller.token.id if caller.token else None
    return await run_in_threadpool(parts.leases.ask, study_id, wish, asker, token)


def check_sender(parts: Parts, caller: Caller, study_id: str, batch: Sequence[Event]) -> None:
    """Drivers tell all of their study; a token that somebody made, of trials that it was asked for with alone.

    A study that got no driver of ours may have one of somebody else's, such as another scheduler: by who may write
    studies anyway, or where there is no Ray. Else whoever trains one trial could end all studies that wait.
    """
    if DRIVER in caller.scopes or (_may_drive(parts, caller) and not _has_driver(parts, study_id)):
        return
    if other := next((event for event in batch if not isinstance(event, OfHolder) or event.lease is None), None):
        rule = "this token may only tell of trials that were asked for with it, and sends their lease"
        raise Forbidden(f"{rule}; {other.kind} is for drivers")
    if not batch:
        return
    own = caller.token.id if caller.token else None
    with parts.views.read(study_id) as view:
        for event in batch:
            trial = view.all_trials.get(event.trial) if isinstance(event, OfHolder) else None
            lease = trial.lease if trial else None
            if isinstance(event, OfHolder) and lease and lease.id == event.lease and lease.token != own:
                raise Forbidden(f"trial {event.trial} was asked for with another token, which alone tells of it")


def _may_drive(parts: Parts, caller: Caller) -> bool:
    return parts.jobs is None or not caller.scopes.isdisjoint({"write", "admin"})


def _has_driver(parts: Parts, study_id: str) -> bool:
    """Whether the launcher has started one, or will because an arm is trained elsewhere."""
    with parts.views.read(study_id) as view:
        return view.has_own_driver or bool(view.study.arms_elsewhere)


def misplaced(parts: Parts, study_id: str, batch: Sequence[Event]) -> dict[str, Detail]:
    """Events, by uid, that a trial does not take by where it is trained; each with its place in the event.

    Where all are trained here nobody waits for whoever reads the view just now.
    """
    if not parts.views.arms_elsewhere(study_id) and not any(isinstance(event, TrialSuggested) for event in batch):
        return {}
    with parts.views.read(study_id) as view:
        of_trials = [event for event in batch if isinstance(event, TrialEvent) and event.trial in view.all_trials]
        refused = ((event.uid, _misplaced(event, view)) for event in of_trials)
        return {uid: detail for uid, detail in refused if detail is not None}


def _misplaced(event: TrialEvent, view: StudyView) -> Detail | None:
    trial = view.all_trials[event.trial].planned
    if trial.arm not in view.study.arms_elsewhere:
        if isinstance(event, TrialSuggested):
            return Detail(path="trial", message=f"arm {trial.arm!r} is not trained elsewhere: it needs no suggestions")
        return None
    if isinstance(event, TrialSuggested):
        return _unfit(event, trial)
    if isinstance(event, TrialStarted) or getattr(event, "lease", None) is None:
        rule = f"trial {event.trial} is trained elsewhere: ask for it, and send the lease with whatever is told of it"
        return Detail(path="lease", message=rule)
    return _undeclared(event, trial) if isinstance(event, Report) else None


def _unfit(event: TrialSuggested, trial: PlannedTrial | Slot) -> Detail | None:
    if not isinstance(trial, Slot):
        return Detail(path="trial", message=f"trial {trial.id} has its values by the plan, got {event.config!r}")
    try:
        resolve(trial, event.config)
    except (ValidationError, ValueError) as error:
        said = error.errors()[-1]["msg"] if isinstance(error, ValidationError) else str(error)
        return Detail(path="config", message=f"{said}, got {event.config!r}"[:1000])
    return None


def _undeclared(event: Report, trial: PlannedTrial | Slot) -> Detail | None:
    known = [*COMMON_METRICS, *trial.problem.metrics]
    unknown = next((name for name in event.metrics if name not in known), None)
    if unknown is None:
        return None
    rule = f"{unknown!r} is not declared by {trial.problem.name}, which reports {', '.join(trial.problem.metrics)}"
    return Detail(path=f"metrics.{unknown}", message=rule)
