"""What a text asks of a study: `difference(accuracy; ARML; equal weights)`, taken apart by what the study has.

Arguments stand between semicolons, since names of arms hold commas, and in any order: what is an arm's name is an
arm, what is a metric's name a metric, and so on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from findings.finding import Finding
from service.analysis.trial_table import CONDITION, Condition, conditions, known_keys, value_of
from service.contract.wire.events import TrialState
from service.contract.wording.numbers import setting
from service.views.view import View

CALL = re.compile(r"([a-z]+(?: [a-z]+)*) ?(?:\((.*)\))?")
ALL = "all"  # the word that lets an average go over several configurations of an arm


class Arguments(NamedTuple):
    """What was asked about, by kind, each in the order of the text."""

    arms: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    conditions: tuple[Condition, ...] = ()
    words: tuple[str, ...] = ()
    among: frozenset[str] | None = None  # the trials of a row, where it is a configuration

    def counts(self) -> dict[str, int]:
        return {
            "ARM": len(self.arms),
            "METRIC": len(self.metrics),
            "NUMBER": len(self.numbers),
            "CONDITION": len(self.conditions),
            "PATH": len(self.words),
        }


class Question(NamedTuple):
    """A quantity's question: of which study, about what."""

    finding: Finding
    view: View
    given: Arguments

    @property
    def seeds(self) -> int:
        return len(self.view.study.seeds)

    @property
    def arm(self) -> str:
        return self.given.arms[0]

    @property
    def metric(self) -> str:
        return self.given.metrics[0]

    def trials(self, *arms: str) -> list[str]:
        """Trials of these arms, of all without one, that finished or that a clock ended, for which the conditions hold.
        None is an error.
        """
        known = self.view.trials
        chosen = [t for t in self.planned(*arms) if known[t].state is TrialState.FINISHED or known[t].cut_off]
        if not chosen:
            told = ", ".join("".join(condition) for condition in self.given.conditions)
            raise ValueError(f"no finished trial{f' of {arms[0]}' if arms else ''}{f' with {told}' if told else ''}")
        return chosen

    def alike(self, *arms: str) -> list[str]:
        """The same, refused where they differ in more than their seed: no method is the average of a grid."""
        chosen = self.trials(*arms)
        configs = {json.dumps(self.view.trials[trial].planned.config, default=str) for trial in chosen}
        if arms and len(configs) > 1 and ALL not in self.given.words:
            better = "add a condition, ask for the best, or add the word all"
            raise ValueError(
                f"{arms[0]} has {len(configs)} configurations here, and their average is no result: {better}"
            )
        return chosen

    def planned(self, *arms: str) -> list[str]:
        """The same, however they ended."""
        return [
            trial_id
            for trial_id, trial in self.view.trials.items()
            if (not arms or trial.planned.arm in arms)
            and self._in_row(trial_id)
            and all(
                holds(self.view, trial_id, condition)
                for condition in self.given.conditions
                if self._is_about(condition.key, trial.planned.arm)
            )
        ]

    def _in_row(self, trial_id: str) -> bool:
        """A row that is a configuration says nothing of the arms that it is held against."""
        among = self.given.among
        return among is None or trial_id in among or self.view.trials[trial_id].planned.arm != self.arm

    def _is_about(self, key: str, arm: str) -> bool:
        """Of two arms one may have no such setting: `weighting.beta = 0.1` picks of a grid what MIB is held against."""
        keys = {trial.planned.arm: trial.planned.config for trial in self.view.trials.values()}
        having = [name for name in self.given.arms if key in keys[name]]
        return arm in having or not having


def holds(view: View, trial_id: str, condition: Condition) -> bool:
    """Numbers are also equal where they are written the same: `weighting.beta = 0.0231` of a logarithmic grid."""
    actual = value_of(view, trial_id, condition.key)
    alike = condition.sign == "=" and isinstance(actual, float) and setting(actual) == condition.value
    return alike or condition.holds(actual)


def parsed(text: str) -> tuple[str, list[str]]:
    """The quantity's name and its arguments."""
    match = CALL.fullmatch(" ".join(text.split()))
    if match is None:
        raise ValueError(f"{text!r} is no quantity: write a name, or name(argument; argument)")
    name, inner = match.groups()
    return name, [part.strip() for part in (inner or "").split(";") if part.strip()]


def arguments(view: View, parts: Sequence[str]) -> Arguments:
    """Each part as what it is in this study."""
    arms = {arm.name for arm in view.study.arms}
    known = known_keys(view)
    reported = {*view.metrics, *(name for trial in view.trials.values() for name in trial.metrics)}
    given = Arguments()
    for part in parts:
        if part in arms:
            given = given._replace(arms=(*given.arms, part))
        elif part in reported:
            given = given._replace(metrics=(*given.metrics, part))
        elif _is_number(part):
            given = given._replace(numbers=(*given.numbers, float(part)))
        elif CONDITION.fullmatch(part):
            (condition,) = conditions(part)
            if condition.key not in known:
                raise ValueError(f"{part!r}: no trial has {condition.key!r}; known: {', '.join(sorted(known))}")
            given = given._replace(conditions=(*given.conditions, condition))
        else:
            given = given._replace(words=(*given.words, part))
    return given


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def unknown(view: View, word: str) -> str:
    """What a misspelt argument could have been."""
    arms = ", ".join(arm.name for arm in view.study.arms)
    reported = dict.fromkeys(name for trial in view.trials.values() for name in trial.metrics)
    return f"{word!r} is neither an arm ({arms}) nor a metric ({', '.join(reported)}) of this study"
