"""What a reader may choose in a figure: metrics worth showing, one of a few words, an arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from service.analysis.candidates import metric_axis
from service.contract.metrics import ACCURACY, Kind, described, of_kind
from service.contract.wire.errors import Detail, InvalidInput
from service.figures.drawing.style import title_of
from service.figures.figure import Control
from service.views.view import View

Options = Sequence[tuple[str, str]]  # values of the query with their labels


def _refused(query: str, value: str, known: Sequence[str]) -> NoReturn:
    message = f"{query} must be one of {', '.join(known) or 'none'}, got {value!r}"
    raise InvalidInput(message, [Detail(path=query, message=message)])


def one_of(value: str | None, options: Options, query: str, default: str) -> str:
    """The choice asked for, else the default."""
    known = [name for name, _ in options]
    if value is None:
        return default
    return known[known.index(value)] if value in known else _refused(query, value, known)


def judged(view: View) -> list[str]:
    """Metrics of which less or more is better: those that a front can be measured by, and time."""
    rows = [(name, described(name)) for name in view.metrics]
    return [name for name, row in rows if row.reference is not None or row.kind in (Kind.TIME, Kind.OWN)]


def axes_of(view: View) -> list[tuple[str, str]]:
    """What an axis can be, with its title; what tells of another metric's estimator is shown beside that one."""
    beside = of_kind(view.metrics, Kind.CALIBRATION)
    return [(name, title_of(name)) for name in view.metrics if name not in beside]


def measured(view: View) -> list[str]:
    """Metrics that have a path over epochs; attacks have one where they run more often than at the end."""
    evaluation = view.study.evaluation
    once = evaluation.attack_metrics if evaluation.attack_every is None else []
    beside = of_kind(view.metrics, Kind.EPOCH, Kind.COUNT, Kind.ERROR, Kind.CALIBRATION)
    return [name for name in view.metrics if name not in beside and name not in once]


def default_metric(view: View) -> str:
    own = next((name for name in view.metrics if name == ACCURACY), None)
    return view.study.objectives[1].metric if own is None else own


def chosen_metric(view: View, y: str | None) -> str:
    """The metric asked for, else accuracy, else the second objective."""
    return metric_axis(view, y, "y").metric if y is not None else default_metric(view)


def metric_control(view: View, known: Sequence[str]) -> Control:
    return Control("y", "of", "metric", [(name, title_of(name)) for name in known], default_metric(view))


def chosen_arms(view: View, arms: Sequence[str], default: tuple[str, str]) -> tuple[str, str]:
    """Two arms: as asked for, each missing one by default."""
    known = [arm.name for arm in view.study.arms]
    for arm in arms:
        if arm not in known:
            _refused("arm", arm, known)
    first = arms[0] if arms else default[0]
    second = arms[1] if len(arms) > 1 else next((arm for arm in reversed(default) if arm != first), default[1])
    return first, second
