"""How many values the axes of a study have, as it is written: what is looked at one by one is counted before."""

from __future__ import annotations

from typing import Any

from service.contract.study.limits import MAX_TRIALS
from service.contract.wire.errors import Detail, InvalidInput

MOST_VALUES = MAX_TRIALS
SHARED = ("problem", "model", "training")  # what every arm has that does not override it


def refuse_crowded(body: Any) -> None:
    """More values than a study may have trials are refused; those of a search's choices count as those of grids do."""
    if not isinstance(body, dict):
        return
    arms = body.get("arms")
    times = sum(map(_weightings, arms)) if isinstance(arms, list) else 1
    values = _values(arms) + times * _values([body.get(place) for place in SHARED])
    if values > MOST_VALUES:
        rule = f"grids and choices of all arms together have {values:,} values, over {MOST_VALUES:,}"
        message = f"{rule}; those that arms share count for each arm, and for each weighting of its choice"
        raise InvalidInput(f"arms: {message}", [Detail(path="arms", message=message)])


def _weightings(arm: Any) -> int:
    """How many times an arm is looked at."""
    match arm:
        case {"weighting": {"choice": list() as weightings}}:
            return max(len(weightings), 1)
    return 1


def _values(parts: Any) -> int:
    """Of all axes in it; what is no axis, or none that could be right, counts nothing."""
    count, waiting = 0, [parts]
    while waiting:
        match waiting.pop():
            case {"grid": list() as values} | {"choice": list() as values}:
                count += len(values)
                waiting += values  # a choice of weightings has axes of its own
            case {"grid": {"count": int() as values}}:
                count += max(values, 0)
            case dict() as mapping:
                waiting += mapping.values()
            case list() as several:
                waiting += several
    return count
