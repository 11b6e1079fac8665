"""Trials of a study."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from service.answers import front_ids
from service.contract.errors import NotFound
from service.contract.events import TrialState
from service.routes.dependencies import PartsOf
from service.store.views import public_trial
from service.trial_table import Wanted, columns, matching, ordered, refuse

router = APIRouter(tags=["trials"])


@router.get("/studies/{study_id}/trials")
def list_trials(
    study_id: str,
    parts: PartsOf,
    arm: str | None = None,
    state: TrialState | None = None,
    front: bool | None = None,
    collapsed: bool | None = None,
    where: Annotated[str, Query(max_length=1000, description="accuracy > 0.9, weighting.beta <= 0.1")] = "",
    trial: Annotated[list[str] | None, Query(max_length=1000, description="only these")] = None,
    sort: str | None = None,
    limit: Annotated[int, Query(ge=1, le=20_000)] = 100,
    after: str | None = None,
) -> dict[str, Any]:
    """In the order of the spec, or sorted; `after` is the id of the last trial seen. `total` are all that match."""
    wanted = Wanted(arm, state, front, collapsed, where, tuple(trial or ()))
    with parts.views.read(study_id) as view:
        order = ordered(view, list(view.trials), sort) if sort else list(view.trials)
        if after is not None and after not in view.trials:
            raise refuse("after", f"there is no trial {after!r} in this study")
        rows = matching(view, order, wanted)
        total = len(rows)
        if after is not None:
            places = {trial_id: place for place, trial_id in enumerate(order)}
            rows = [trial_id for trial_id in rows if places[trial_id] > places[after]]
        on_front = front_ids(view)
        shown = [public_trial(view, trial_id, trial_id in on_front) for trial_id in rows[:limit]]
        found = view.memo("columns", lambda: columns(view))
    return {"trials": shown, "next": shown[-1]["id"] if len(rows) > limit else None, "total": total, "columns": found}


@router.get("/studies/{study_id}/trials/{trial_id}")
def read_trial(study_id: str, trial_id: str, parts: PartsOf) -> dict[str, Any]:
    """One trial with all its reports, the last lines of its log, and the bytes of its files."""
    with parts.views.read(study_id) as view:
        if trial_id not in view.trials:
            raise NotFound(f"there is no trial {trial_id!r} in study {study_id}")
        answer = public_trial(view, trial_id, trial_id in front_ids(view))
        trial = view.trials[trial_id]
        files = parts.artifacts.sizes(study_id, trial_id)
        return {**answer, "reports": list(trial.reports), "log": list(trial.log), "artifacts": files}
