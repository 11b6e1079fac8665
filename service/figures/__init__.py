"""Figures: data first (a named tuple), then drawing (Plotly JSON). Used by page, report and notebook alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from service.contract.study import Study
from service.figures import (
    accuracy_by_method,
    balance,
    configurations,
    convergence,
    information_plane,
    pareto_front,
    weight_paths,
)
from service.store.views import StudyView


class Figure(NamedTuple):
    name: str
    doc: str
    needs: tuple[str, ...]  # patterns; where one matches no metric of a study, there is nothing to draw
    build: Callable[[StudyView, str | None, str | None], dict[str, Any]]


FIGURES = {
    figure.name: figure
    for figure in (
        Figure(
            "information-plane",
            "I(Z;Y) against I(X;Z), a path per trial over epochs",
            (information_plane.X, information_plane.Y),
            information_plane.figure,
        ),
        Figure("pareto-front", "the non-dominated trials of each arm for any two metrics", (), pareto_front.figure),
        Figure(
            "accuracy-by-method",
            "final accuracy (y) of each arm's best configuration, mean over seeds with its 95 % interval",
            (configurations.ACCURACY.pattern,),
            accuracy_by_method.figure,
        ),
        Figure(
            "convergence",
            "epochs until each arm reaches an accuracy (y) of at least x; none given: 95 % of the best arm's",
            (configurations.ACCURACY.pattern,),
            convergence.figure,
        ),
        Figure(
            "weight-paths",
            "the weight of each term over epochs, per arm with its spread over seeds",
            (weight_paths.METRICS,),
            weight_paths.figure,
        ),
        Figure(
            "balance",
            "the balance ratio of each layer over epochs, |ln OUT/IN| of its worst unit, with its spread over seeds",
            (balance.METRICS,),
            balance.figure,
        ),
    )
}


def described() -> list[dict[str, Any]]:
    return [{"name": figure.name, "doc": figure.doc} for figure in FIGURES.values()]


def figures_of(study: Study) -> list[str]:
    """The figures that this study has something for."""
    metrics = study.metrics
    return [
        figure.name
        for figure in FIGURES.values()
        if all(any(re.fullmatch(need, metric) for metric in metrics) for need in figure.needs)
    ]
