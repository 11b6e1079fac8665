"""What the log already has of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from service.contract.expansion import searched_keys
from service.contract.outcomes import objective_values
from service.contract.study import Study


class Past(NamedTuple):
    """A slot's suggested values; whether it is over, and what it reached (none: it failed or collapsed)."""

    values: dict[str, Any]
    over: bool
    objectives: list[float] | None


def past_of(study: Study, trials: Iterable[Mapping[str, Any]]) -> dict[str, Past]:
    """By id, from the service's trials: those of search arms that have their values or are over."""
    keys = searched_keys(study)
    found = {}
    for trial in trials:
        if trial["arm"] not in keys:
            continue
        values = {key: trial["config"][key] for key in keys[trial["arm"]] if key in trial["config"]}
        state = trial["state"]
        reached = objective_values(trial["metrics"], study.objectives) if state == "finished" else None
        if values or state in ("finished", "failed"):
            found[trial["id"]] = Past(values, state in ("finished", "failed"), reached)
    return found
