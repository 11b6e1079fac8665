"""The table of a study's trials: which rows, in which order. Pure functions on a view."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from service.analysis.candidates import front_ids
from service.contract.wire.errors import Detail, InvalidInput
from service.contract.wire.events import TrialState
from service.contract.wording.keys import weight_keys
from service.views.selectors import varied_by_arm
from service.views.trial import TrialView
from service.views.view import View

FIELDS: dict[str, Callable[[TrialView], Any]] = {
    "arm": lambda trial: trial.planned.arm,
    "seed": lambda trial: trial.planned.seed,
    "state": lambda trial: trial.state.value,
    "reason": lambda trial: trial.reason,
    "collapsed": lambda trial: trial.collapsed,
    "feasible": lambda trial: trial.feasible,
    "verifies": lambda trial: trial.planned.verifies,
    "places": lambda trial: len(trial.points),
    "training_seconds": lambda trial: trial.training_seconds,
    "started_at": lambda trial: trial.started_at,
    "ended_at": lambda trial: trial.ended_at,
    "host": lambda trial: trial.host,
}
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
CONDITION = re.compile(r"([^<>=!]+)(<=|>=|!=|<|>|=)(.+)")


class Condition(NamedTuple):
    """`accuracy > 0.9`."""

    key: str
    sign: str
    value: str

    def holds(self, actual: Any) -> bool:
        """Numbers by size where both are numbers, else texts; what is missing fulfils nothing."""
        if actual is None:
            return False
        if isinstance(actual, (int, float)) and not isinstance(actual, bool):
            try:
                return OPERATORS[self.sign](float(actual), float(self.value))
            except ValueError:
                return False
        return OPERATORS[self.sign](str(actual).lower(), self.value.lower())


def refuse(path: str, message: str) -> InvalidInput:
    return InvalidInput(message, [Detail(path=path, message=message)])


def conditions(where: str) -> list[Condition]:
    """`accuracy > 0.9, weighting.beta <= 0.1`: all of them hold."""
    asked = []
    for part in filter(str.strip, where.split(",")):
        match = CONDITION.fullmatch(part.strip())
        if match is None:
            raise refuse(
                "where", f"{part.strip()!r} is not a condition: write a key, one of {' '.join(OPERATORS)}, a value"
            )
        asked.append(Condition(*map(str.strip, match.groups())))
    return asked


def known_keys(view: View) -> set[str]:
    """What can be sorted by or asked about."""
    metrics = {name for trial in view.all_trials.values() for name in trial.metrics}
    configs = {key for trial in view.all_trials.values() for key in trial.planned.config}
    return {*FIELDS, "id", "on_front", *view.metrics, *metrics, *configs}


def value_of(view: View, trial_id: str, key: str) -> Any:
    trial = view.all_trials[trial_id]
    if key in ("id", "on_front"):
        return trial_id if key == "id" else trial_id in front_ids(view)
    if key in FIELDS:
        return FIELDS[key](trial)
    return trial.metrics[key] if key in trial.metrics else trial.planned.config.get(key)


def check_key(view: View, key: str, path: str) -> None:
    known = view.memo("keys", lambda: known_keys(view))
    if key not in known:
        verb = "sort by" if path == "sort" else "ask about"
        raise refuse(path, f"cannot {verb} {key!r}; known: {', '.join(sorted(known))}")


def ordered(view: View, trials: Sequence[str], sort: str) -> list[str]:
    """By a field, a metric or a config key; a leading '-' turns it round; missing values last."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    check_key(view, key, "sort")
    values = {trial: value_of(view, trial, key) for trial in trials}
    present = [trial for trial in trials if values[trial] is not None]
    numbers = all(isinstance(values[trial], (int, float)) for trial in present)
    present.sort(key=lambda trial: values[trial] if numbers else str(values[trial]), reverse=descending)
    return present + [trial for trial in trials if values[trial] is None]


class Wanted(NamedTuple):
    """What a reader asked for."""

    arm: str | None = None
    state: TrialState | None = None
    front: bool | None = None
    collapsed: bool | None = None
    where: str = ""
    trials: tuple[str, ...] = ()
    feasible: bool | None = None


def matching(view: View, trials: Sequence[str], wanted: Wanted) -> list[str]:
    asked = conditions(wanted.where)
    for condition in asked:
        check_key(view, condition.key, "where")
    only, on_front = set(wanted.trials), front_ids(view)

    def matches(trial_id: str) -> bool:
        trial = view.all_trials[trial_id]
        return (
            (wanted.arm is None or trial.planned.arm == wanted.arm)
            and (wanted.state is None or trial.state is wanted.state)
            and (wanted.front is None or (trial_id in on_front) == wanted.front)
            and (wanted.collapsed is None or trial.collapsed == wanted.collapsed)
            and (wanted.feasible is None or trial.feasible is wanted.feasible)
            and (not only or trial_id in only)
            and all(condition.holds(value_of(view, trial_id, condition.key)) for condition in asked)
        )

    return [trial_id for trial_id in trials if matches(trial_id)]


def columns(view: View) -> dict[str, list[str]]:
    """Config keys of the trials: all, and those that differ between trials of one arm."""
    keys = list(dict.fromkeys(key for trial in view.all_trials.values() for key in trial.planned.config))
    varied = set().union(*varied_by_arm(view).values())
    checking = (trial.planned.config for trial in view.all_trials.values() if trial.planned.verifies)
    varied = varied.union(*map(weight_keys, checking))
    return {"config": keys, "varied": [key for key in keys if key in varied]}
