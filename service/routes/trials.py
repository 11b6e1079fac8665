"""Trials of a study."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from service.analysis.candidates import chooser
from service.analysis.trial_table import Wanted, columns, matching, ordered, refuse
from service.answers.trials import trial_answer, trial_rows
from service.contract.wire.answers.trials import TrialAnswer, TrialColumns, TrialPage
from service.contract.wire.errors import NotFound
from service.contract.wire.events import TrialState
from service.routes.dependencies import PartsOf, StudyId, TrialId, asks
from service.web.openapi import Route

router = APIRouter(tags=["trials"], route_class=Route)


@router.get("/studies/{study_id}/trials")
def list_trials(
    study_id: StudyId,
    parts: PartsOf,
    arm: Annotated[str | None, asks("only trials of this arm")] = None,
    state: Annotated[TrialState | None, asks("only trials in this state")] = None,
    front: Annotated[bool | None, asks("only trials that are on the study's front, or only those that are not")] = None,
    collapsed: Annotated[bool | None, asks("only collapsed trials, or only the others")] = None,
    feasible: Annotated[bool | None, asks("only trials that keep the study's constraints, or that break them")] = None,
    where: Annotated[str, Query(max_length=1000, description="accuracy > 0.9, weighting.beta <= 0.1")] = "",
    trial: Annotated[list[str] | None, Query(max_length=1000, description="only these")] = None,
    sort: Annotated[str | None, asks("a column, or `-` and a column; none: the order of the spec")] = None,
    limit: Annotated[int, Query(ge=1, le=20_000, description="how many at most")] = 100,
    after: Annotated[str | None, asks("the id of the last trial seen; the list continues after it")] = None,
) -> TrialPage:
    """In the order of the spec, or sorted; `after` is the id of the last trial seen. `total` are all that match."""
    wanted = Wanted(arm, state, front, collapsed, where, tuple(trial or ()), feasible)
    with parts.views.read(study_id) as view:
        order = ordered(view, list(view.all_trials), sort) if sort else list(view.all_trials)
        if after is not None and after not in view.all_trials:
            raise refuse("after", f"there is no trial {after!r} in this study")
        rows = matching(view, order, wanted)
        total = len(rows)
        if after is not None:
            places = {trial_id: place for place, trial_id in enumerate(order)}
            rows = [trial_id for trial_id in rows if places[trial_id] > places[after]]
        return TrialPage(
            trials=trial_rows(view, rows[:limit]),
            next=rows[limit - 1] if len(rows) > limit else None,
            total=total,
            columns=TrialColumns(**view.memo("columns", lambda: columns(view))),
            selection=chooser(view),
        )


@router.get("/studies/{study_id}/trials/{trial_id}")
def read_trial(study_id: StudyId, trial_id: TrialId, parts: PartsOf) -> TrialAnswer:
    """One trial with all its reports, the last lines of its log, and the bytes of its files."""
    with parts.views.read(study_id) as view:
        if trial_id not in view.all_trials:
            raise NotFound(f"there is no trial {trial_id!r} in study {study_id}")
        return trial_answer(view, trial_id, parts.artifacts.sizes(study_id, trial_id))
