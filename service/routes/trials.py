"""Trials of a study."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from service.answers import front_ids
from service.contract.errors import Detail, InvalidInput, NotFound
from service.contract.events import TrialState
from service.routes.dependencies import PartsOf
from service.store.views import public_trial

router = APIRouter(tags=["trials"])


def _sorted(trials: list[dict[str, Any]], sort: str) -> list[dict[str, Any]]:
    """By a field, a metric or a config key; a leading '-' turns it round; missing values last."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")

    def value(trial: dict[str, Any]) -> Any:
        for source in (trial, trial["metrics"], trial["config"]):
            if key in source:
                return source[key]
        return None

    known = {k for t in trials for k in (*t, *t["metrics"], *t["config"])} - {"metrics", "config"}
    if trials and key not in known:
        message = f"cannot sort by {key!r}; known: {', '.join(sorted(known))}"
        raise InvalidInput(message, [Detail(path="sort", message=message)])
    present = [t for t in trials if value(t) is not None]
    missing = [t for t in trials if value(t) is None]
    numbers = all(isinstance(value(t), (int, float)) for t in present)
    present.sort(key=lambda t: value(t) if numbers else str(value(t)), reverse=descending)
    return present + missing


@router.get("/studies/{study_id}/trials")
def list_trials(
    study_id: str,
    parts: PartsOf,
    arm: str | None = None,
    state: TrialState | None = None,
    front: bool | None = None,
    sort: str | None = None,
    limit: Annotated[int, Query(ge=1, le=20_000)] = 100,
    after: str | None = None,
) -> dict[str, Any]:
    """In the order of the spec, or sorted; `after` is the id of the last trial seen."""
    with parts.views.read(study_id) as view:
        on_front = front_ids(view)
        trials = [public_trial(view, trial_id, trial_id in on_front) for trial_id in view.trials]
    if sort:
        trials = _sorted(trials, sort)
    if after is not None:
        place = next((i for i, t in enumerate(trials) if t["id"] == after), None)
        if place is None:
            message = f"there is no trial {after!r} in this study"
            raise InvalidInput(message, [Detail(path="after", message=message)])
        trials = trials[place + 1 :]
    trials = [
        t
        for t in trials
        if (arm is None or t["arm"] == arm)
        and (state is None or t["state"] == state.value)
        and (front is None or t["on_front"] == front)
    ]
    more = len(trials) > limit
    return {"trials": trials[:limit], "next": trials[limit - 1]["id"] if more else None}


@router.get("/studies/{study_id}/trials/{trial_id}")
def read_trial(study_id: str, trial_id: str, parts: PartsOf) -> dict[str, Any]:
    """One trial with all its reports."""
    with parts.views.read(study_id) as view:
        if trial_id not in view.trials:
            raise NotFound(f"there is no trial {trial_id!r} in study {study_id}")
        answer = public_trial(view, trial_id, trial_id in front_ids(view))
        return {**answer, "reports": list(view.trials[trial_id].reports)}
