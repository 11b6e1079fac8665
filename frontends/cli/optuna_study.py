"""A study as an Optuna storage: one Optuna study with all arms, so that its tools compare them."""

from __future__ import annotations

import json
import math
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import event

from frontends.client import ClientError

LOG_WHEN_RATIO = 20.0
ARM, COLLAPSED = "arm", "collapsed"


def distribution_of(values: Sequence[Any]) -> BaseDistribution:
    """The space that a parameter's values came from, as far as they tell."""
    kinds = {type(value) for value in values}
    if kinds == {int}:
        return IntDistribution(min(values), max(values))
    if kinds <= {int, float} and all(map(math.isfinite, values)):
        low, high = float(min(values)), float(max(values))
        return FloatDistribution(low, high, log=low > 0 and high / low > LOG_WHEN_RATIO)
    return CategoricalDistribution(list(dict.fromkeys(values)))


def _plain(value: Any) -> Any:
    """Optuna's categories are plain values; a list becomes its JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def constants(trials: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Settings that all trials share: they tell none from another, and each would cost Optuna a row per trial."""
    first = trials[0]["config"] if trials else {}
    return {key: value for key, value in first.items() if all(t["config"].get(key) == value for t in trials)}


def parameters(trials: Sequence[dict[str, Any]]) -> dict[str, BaseDistribution]:
    """One distribution per parameter for all arms; a word among numbers makes it a category."""
    shared = constants(trials)
    names = dict.fromkeys(key for trial in trials for key in trial["config"] if key not in shared)
    found: dict[str, BaseDistribution] = {ARM: distribution_of([trial["arm"] for trial in trials])} if trials else {}
    for name in names:
        found[name] = distribution_of([_plain(t["config"][name]) for t in trials if name in t["config"]])
    return found


def _moment(text: str | None) -> datetime:
    """Optuna's times are local and say no zone."""
    moment = datetime.fromisoformat(text) if text else datetime.now(UTC)
    return moment.astimezone().replace(tzinfo=None)


def curves(reports: Sequence[dict[str, Any]]) -> dict[str, list[float | None]]:
    """Each metric over the reports; Optuna has no intermediate values for several objectives."""
    names = dict.fromkeys(name for report in reports for name in report)
    return {name: [report.get(name) for report in reports] for name in names}


def attributes(trial: dict[str, Any], note: str | None) -> dict[str, Any]:
    """What Optuna has no field for."""
    own = {key: trial[key] for key in ("arm", "seed", "state", "on_front", COLLAPSED, "host")}
    measured = {"metrics": trial["metrics"], "learning_curve": curves(trial["reports"])}
    found = {"trial": trial["id"], **own, **measured, "note": note}
    return {key: value for key, value in found.items() if value is not None}


def frozen(trial: dict[str, Any], spaces: dict[str, BaseDistribution], metrics: Sequence[str]) -> FrozenTrial:
    """Complete with its objectives when it finished with all of them, failed with a note otherwise.

    A collapsed trial breaks a constraint, so that it is in no front of Optuna's either.
    """
    values = [trial["metrics"].get(metric) for metric in metrics]
    complete = trial["state"] == "finished" and all(value is not None for value in values)
    note = trial["reason"] or (None if complete else f"was {trial['state']} when it was exported")
    config = {ARM: trial["arm"], **{key: _plain(value) for key, value in trial["config"].items() if key in spaces}}
    made = create_trial(
        state=TrialState.COMPLETE if complete else TrialState.FAIL,
        values=values if complete else None,
        params=config,
        distributions={key: spaces[key] for key in config},
        user_attrs=attributes(trial, note),
        system_attrs={"constraints": [1.0 if trial[COLLAPSED] else 0.0]},  # the form that the dashboard reads too
    )
    made.datetime_start = _moment(trial["started_at"])
    made.datetime_complete = _moment(trial["ended_at"])
    return made


def _check(path: Path) -> None:
    """Words instead of a database's own error for a file that is something else."""
    if not path.parent.is_dir():
        raise ClientError(f"{path} cannot be written: there is no folder {path.parent}", 422)
    if path.is_dir() or (path.is_file() and path.stat().st_size and path.read_bytes()[:15] != b"SQLite format 3"):
        raise ClientError(f"{path} is no SQLite database: choose another file", 422)


def _open(path: Path) -> optuna.storages.RDBStorage:
    """Commits do not wait for the disk: a thousand trials take seconds, not a minute."""
    _check(path)
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")

    @event.listens_for(storage.engine, "connect")
    def relax(connection: sqlite3.Connection, _record: Any) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    storage.engine.dispose()  # connections made before do not know it
    return storage


def write_storage(whole: dict[str, Any], path: Path, force: bool) -> dict[str, int]:
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


def _fill(storage: optuna.storages.RDBStorage, whole: dict[str, Any], path: Path, force: bool) -> dict[str, int]:
    study, axes = whole["study"], whole["comparison"]["objectives"]
    if study["name"] in optuna.get_all_study_names(storage):
        if not force:
            raise ClientError(f"{path} has a study {study['name']!r} already: --force replaces it", 409)
        optuna.delete_study(study_name=study["name"], storage=storage)
    made = optuna.create_study(storage=storage, study_name=study["name"], directions=[axis["goal"] for axis in axes])
    made.set_metric_names([axis["metric"] for axis in axes])
    begun = [trial for trial in whole["trials"] if trial["state"] != "planned"]
    for key, value in _facts(whole):
        made.set_user_attr(key, value)
    made.set_user_attr("constants", constants(begun))
    spaces, metrics = parameters(begun), [axis["metric"] for axis in axes]
    made.add_trials(frozen(trial, spaces, metrics) for trial in begun)
    return {"trials": len(begun), "never_begun": len(whole["trials"]) - len(begun)}


def _facts(whole: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    comparison = whole["comparison"]
    yield "paretoscope", {"version": whole["paretoscope"], "study": whole["study"]["id"]}
    yield "verdict", comparison["verdict"]
    yield "reference_point", [axis["reference"] for axis in comparison["objectives"]]
