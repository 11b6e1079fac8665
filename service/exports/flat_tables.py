"""A study as flat tables: a row per trial, per point, or per report. Columns have one type each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple

from service.analysis.candidates import chooser, front_ids, front_keys
from service.analysis.fronts import key_of
from service.contract.metrics import EPOCH
from service.contract.study import outcomes
from service.exports.front_columns import FrontColumns
from service.views.view import View

Kind = Literal["int", "float", "bool", "string"]
Cell = int | float | bool | str | None
TableName = Literal["trials", "points", "reports"]


class Column(NamedTuple):
    name: str
    kind: Kind


class Table(NamedTuple):
    columns: list[Column]
    rows: Iterator[tuple[Cell, ...]]


TRIAL_COLUMNS = [
    Column("study", "string"),
    Column("trial", "string"),
    Column("arm", "string"),
    Column("seed", "int"),
    Column("state", "string"),
    Column("reason", "string"),
    Column("collapsed", "bool"),
    Column("feasible", "bool"),
    Column("on_front", "bool"),
    Column("selection", "string"),  # the split that chose what is on it
    Column("verifies", "bool"),
    Column("started_at", "string"),
    Column("ended_at", "string"),
    Column("host", "string"),
    Column("training_seconds", "float"),
]
POINT_COLUMNS = [*TRIAL_COLUMNS[:5], *TRIAL_COLUMNS[6:10]]
REPORT_COLUMNS = [*TRIAL_COLUMNS[:4], Column(EPOCH, "int")]


def kind_of(values: Iterable[Any]) -> Kind:
    """The narrowest type that holds all of them; what is missing has none."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int"
    return "float" if kinds and kinds <= {int, float} else "string"


def as_kind(value: Any, kind: Kind) -> Cell:
    """The value in the type of its column: lists and numbers among words as JSON writes them."""
    if value is None:
        return None
    if kind == "float":
        return float(value)
    if kind == "int":
        return int(value)
    return value if kind == "bool" or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _metrics(view: View) -> list[str]:
    """Those the study promises, then whatever else was reported."""
    reported = {name for trial in view.all_trials.values() for name in trial.metrics}
    return [*view.metrics, *sorted(reported.difference(view.metrics))]


def trials_table(view: View) -> Table:
    """A row per trial with its configuration and its last metrics, also of those that verify a curve.

    A trial with a curve lies against the front by the mean over its points that no other of them dominates.
    """
    on_front, split, front = front_ids(view), chooser(view), FrontColumns(view)
    trials = [
        (trial_id, trial, trial.planned.config, trial.metrics, trial.collapsed, trial.feasible)
        for trial_id, trial in view.all_trials.items()
    ]
    keys = list(dict.fromkeys(key for _, _, config, *_ in trials for key in config))
    kinds = {key: kind_of(config.get(key) for _, _, config, *_ in trials) for key in keys}
    metrics = _metrics(view)
    rows = [
        (
            view.id,
            trial_id,
            trial.planned.arm,
            trial.planned.seed,
            trial.state.value,
            trial.reason,
            collapsed,
            feasible,
            trial_id in on_front,
            split,
            trial.planned.verifies,
            trial.started_at,
            trial.ended_at,
            trial.host,
            trial.training_seconds,
            *front.of_trial(trial_id),
            *(as_kind(config.get(key), kinds[key]) for key in keys),
            *(as_kind(last.get(name), "float") for name in metrics),
        )
        for trial_id, trial, config, last, collapsed, feasible in trials
    ]
    columns = [
        *TRIAL_COLUMNS,
        *(Column(name, "float") for name in front.names),
        *(Column(f"config.{key}", kinds[key]) for key in keys),
        *(Column(name, "float") for name in metrics),
    ]
    return Table(columns, iter(rows))


def reports_table(view: View) -> Table:
    """A row per report. The reports are kept now and made into rows as they are read, for there may be millions."""
    kept = [(trial_id, t.planned.arm, t.planned.seed, list(t.reports)) for trial_id, t in view.all_trials.items()]
    metrics = [name for name in _metrics(view) if name != EPOCH]

    def rows() -> Iterator[tuple[Cell, ...]]:
        for trial_id, arm, seed, reports in kept:
            for report in reports:
                epoch = as_kind(report.get(EPOCH), "int")
                yield (view_id, trial_id, arm, seed, epoch, *(as_kind(report.get(m), "float") for m in metrics))

    view_id = view.id
    return Table([*REPORT_COLUMNS, *(Column(name, "float") for name in metrics)], rows())


def points_table(view: View) -> Table:
    """A row per trial that reported, of one with many points a row for each, with what it reported last.

    What verifies a curve is no point of it.
    """
    on_front, split, front = front_keys(view), chooser(view), FrontColumns(view)
    begun = [(trial_id, trial) for trial_id, trial in view.trials.items() if trial.metrics]
    measured = [(trial_id, trial, where, last) for trial_id, trial in begun for where, last in trial.measured()]
    keys = list(dict.fromkeys(key for _, _, where, _ in measured for key in where or ()))
    metrics = _metrics(view)
    places = {key: cells for trial_id, _ in begun for key, cells in front.of_points(trial_id).items()}
    rows = [
        (
            view.id,
            trial_id,
            trial.planned.arm,
            trial.planned.seed,
            trial.state.value,
            outcomes.collapsed(last) if where else trial.collapsed,
            outcomes.feasible(last, trial.bounds) if where else trial.feasible,
            key_of(trial_id, where) in on_front,
            split,
            *places.get(key_of(trial_id, where), front.empty),
            *((where or {}).get(key) for key in keys),
            *(as_kind(last.get(name), "float") for name in metrics),
        )
        for trial_id, trial, where, last in measured
    ]
    names = [*front.names, *(f"where.{key}" for key in keys), *metrics]
    return Table([*POINT_COLUMNS, *(Column(name, "float") for name in names)], iter(rows))


TABLES: dict[TableName, Callable[[View], Table]] = {
    "trials": trials_table,
    "points": points_table,
    "reports": reports_table,
}


def table_of(view: View, name: TableName) -> Table:
    return TABLES[name](view)
