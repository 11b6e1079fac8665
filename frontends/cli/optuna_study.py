"""A study as an Optuna storage: one Optuna study with all arms, so that its tools compare them.

Of a trial with many points each is an Optuna trial.
"""

from __future__ import annotations

import json
import math
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import event

from frontends.client import Answer, ClientError
from service.contract.metrics import OF_TRAINING
from service.contract.study.constraints import Judged
from service.contract.study.outcomes import collapsed, feasible
from service.contract.study.study import Study

LOG_WHEN_RATIO = 20.0
ARM, COLLAPSED, FEASIBLE, POINTS = "arm", "collapsed", "feasible", "points"
Scalar = str | int | float | bool | None


class Counts(NamedTuple):
    """Trials in the storage, and those that had not begun and were left out."""

    trials: int
    never_begun: int


def distribution_of(values: Sequence[Scalar]) -> BaseDistribution:
    """The space that a parameter's values came from, as far as they tell."""
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v)]
    if not values or len(numbers) < len(values):
        return CategoricalDistribution(list(dict.fromkeys(values)))
    low, high = min(numbers), max(numbers)
    if all(isinstance(value, int) for value in numbers):
        return IntDistribution(int(low), int(high))
    return FloatDistribution(float(low), float(high), log=low > 0 and high / low > LOG_WHEN_RATIO)


def _plain(value: object) -> Scalar:
    """Optuna's categories are plain values; a list becomes its JSON."""
    if value is None or isinstance(value, str | int | float):
        return value
    return json.dumps(value, ensure_ascii=False)


def constants(trials: Sequence[Answer]) -> dict[str, object]:
    """Settings that all trials share: they tell none from another, and each would cost Optuna a row per trial."""
    first = trials[0]["config"] if trials else {}
    return {key: value for key, value in first.items() if all(t["config"].get(key) == value for t in trials)}


def parameters(trials: Sequence[Answer]) -> dict[str, BaseDistribution]:
    """One distribution per parameter for all arms; a word among numbers makes it a category."""
    shared = constants(trials)
    names = dict.fromkeys(key for trial in trials for key in trial["config"] if key not in shared)
    spaces: dict[str, BaseDistribution] = {ARM: distribution_of([trial["arm"] for trial in trials])} if trials else {}
    for name in names:
        spaces[name] = distribution_of([_plain(t["config"][name]) for t in trials if name in t["config"]])
    return spaces


def by_point(trial: Answer, bounds: Sequence[Judged] = ()) -> list[Answer]:
    """A trial that has many points as one of each, with the β or the preferences that it has there; others as they are.

    What its training took is the same for all of them. What is of the training, as its learning curve, stands with the
    first: Optuna would keep a copy for each.
    """
    points = []
    shared = {name: trial["metrics"][name] for name in OF_TRAINING if name in trial["metrics"]}
    for i, point in enumerate(trial.get(POINTS) or []):
        where, metrics = point["where"], {**shared, **point["metrics"]}
        place = {"weighting.beta" if name == "beta" else f"where.{name}": value for name, value in where.items()}
        own = {"where": where, "metrics": metrics, "config": {**trial["config"], **place}, "on_front": None}
        counts = {COLLAPSED: collapsed(metrics), FEASIBLE: feasible(metrics, bounds)}
        points.append({**trial, **own, **counts, "reports": [] if i else trial["reports"]})
    return points or [trial]


def moment(text: str | None) -> datetime:
    """Optuna's times are local and say no zone."""
    at = datetime.fromisoformat(text) if text else datetime.now(UTC)
    return at.astimezone().replace(tzinfo=None)


def curves(reports: Sequence[Answer]) -> dict[str, list[float | None]]:
    """Each metric over the reports; Optuna has no intermediate values for several objectives."""
    names = dict.fromkeys(name for report in reports for name in report if name != POINTS)
    return {name: [report.get(name) for report in reports] for name in names}


def attributes(trial: Answer, note: str | None) -> dict[str, object]:
    """What Optuna has no field for."""
    own = {key: trial.get(key) for key in ("arm", "seed", "state", "on_front", COLLAPSED, FEASIBLE, "host")}
    measured = {"metrics": trial["metrics"], "learning_curve": curves(trial["reports"])}
    facts = {"trial": trial["id"], "where": trial.get("where"), **own, **measured, "note": note}
    return {key: value for key, value in facts.items() if value is not None}


def frozen(trial: Answer, spaces: dict[str, BaseDistribution], metrics: Sequence[str]) -> FrozenTrial:
    """Complete with its objectives when it counts for a front and has all of them, failed with a note otherwise.

    What the clock or the end of its study stopped counts with what it reached, what halving stopped does not.
    A collapsed or infeasible trial breaks a constraint, so that it is in no front of Optuna's either.
    """
    values = [trial["metrics"].get(metric) for metric in metrics]
    counts = trial["state"] == "finished" or (trial["state"] == "stopped" and trial.get("stopped_after") is None)
    complete = counts and all(value is not None for value in values)
    note = trial["reason"] or (None if complete else f"was {trial['state']} when it was exported")
    config = {ARM: trial["arm"], **{key: _plain(value) for key, value in trial["config"].items() if key in spaces}}
    made = create_trial(
        state=TrialState.COMPLETE if complete else TrialState.FAIL,
        values=values if complete else None,
        params=config,
        distributions={key: spaces[key] for key in config},
        user_attrs=attributes(trial, note),
        system_attrs={
            "constraints": [1.0 if trial[COLLAPSED] or trial.get(FEASIBLE) is False else 0.0]
        },  # the form that the dashboard reads too
    )
    made.datetime_start = moment(trial["started_at"])
    made.datetime_complete = moment(trial["ended_at"])
    return made


def _check(path: Path) -> None:
    """Words instead of a database's own error for a file that is something else."""
    if not path.parent.is_dir():
        raise ClientError(f"{path} cannot be written: there is no folder {path.parent}", 422)
    if path.is_dir() or (path.is_file() and path.stat().st_size and path.read_bytes()[:15] != b"SQLite format 3"):
        raise ClientError(f"{path} is not an SQLite database: choose another file", 422)


def _open(path: Path) -> optuna.storages.RDBStorage:
    """Commits do not wait for the disk: a thousand trials take seconds, not a minute."""
    _check(path)
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")

    @event.listens_for(storage.engine, "connect")
    def relax(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    storage.engine.dispose()  # connections made before do not know it
    return storage


def write_storage(whole: Answer, path: Path, force: bool) -> Counts:
    """The JSON export as an Optuna study of the study's name. Trials that never began are left out and counted."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = _open(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            return _fill(storage, whole, path, force)
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _fill(storage: optuna.storages.RDBStorage, whole: Answer, path: Path, force: bool) -> Counts:
    study, axes = whole["study"], whole["comparison"]["objectives"]
    if study["name"] in optuna.get_all_study_names(storage):
        if not force:
            raise ClientError(f"{path} already has a study {study['name']!r}: --force replaces it", 409)
        optuna.delete_study(study_name=study["name"], storage=storage)
    made = optuna.create_study(storage=storage, study_name=study["name"], directions=[axis["goal"] for axis in axes])
    made.set_metric_names([axis["metric"] for axis in axes])
    compared = [trial for trial in whole["trials"] if not trial.get("verifies")]  # the others are on no front
    begun = [trial for trial in compared if trial["state"] != "planned"]
    for key, value in _facts(whole):
        made.set_user_attr(key, value)
    made.set_user_attr("constants", constants(begun))
    spec = study.get("spec") or {}
    bounds = Study.model_validate(spec).bounds if spec.get("constraints") else []
    points = [point for trial in begun for point in by_point(trial, bounds)]
    spaces, metrics = parameters(points), [axis["metric"] for axis in axes]
    made.add_trials(frozen(point, spaces, metrics) for point in points)
    return Counts(len(begun), len(compared) - len(begun))


def _facts(whole: Answer) -> Iterator[tuple[str, object]]:
    comparison = whole["comparison"]
    yield "paretoscope", {"version": whole["paretoscope"], "study": whole["study"]["id"]}
    yield "verdict", comparison["verdict"]
    yield "selection", comparison.get("selection_words", "")  # a file from before there were splits has none
    yield "reference_point", [axis["reference"] for axis in comparison["objectives"]]
