"""Epochs that nobody planned: what a driver of ours may not tell."""

from __future__ import annotations

from collections.abc import Sequence

from service.contract.methods.own_problems import OwnProblem
from service.contract.metrics import EPOCH
from service.contract.wire.errors import Detail
from service.contract.wire.events import Event, Report
from service.contract.wording.numbers import plural
from service.routes.dependencies import Parts
from service.views.fold import StudyView


def beyond_plan(parts: Parts, study_id: str, batch: Sequence[Event]) -> dict[str, Detail]:
    """Reports, by uid, of epochs that the plan does not have; each with its place in the event.

    A script counts as it likes, and so does a driver of somebody else's. The view is waited for only where an epoch
    looks like one of these.
    """
    most = parts.views.epochs(study_id)
    late = [event for event in batch if isinstance(event, Report) and _epoch(event) > most.get(event.arm or "", 0)]
    if not late:
        return {}
    with parts.views.read(study_id) as view:
        if not view.has_own_driver:
            return {}
        return {
            event.uid: Detail(
                path=f"metrics.{EPOCH}",
                message=f"trial {event.trial} has {plural(planned, 'epoch')} by its plan, got {_epoch(event)}",
            )
            for event in late
            if (planned := _planned(view, event.trial)) is not None and _epoch(event) > planned
        }


def _epoch(event: Report) -> int:
    epoch = event.metrics.get(EPOCH)
    return epoch if isinstance(epoch, int) else 0


def _planned(view: StudyView, trial_id: str) -> int | None:
    """How many epochs Paretoscope trains it; none where that is not said."""
    trial = view.all_trials.get(trial_id)
    if trial is None or (isinstance(trial.planned.problem, OwnProblem) and trial.planned.problem.is_script):
        return None
    return trial.planned.training.epochs
