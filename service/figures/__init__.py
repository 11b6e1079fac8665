"""Figures: data first (a named tuple), then drawing (Plotly JSON). Used by page, report and notebook alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from service.contract.study import Study
from service.figures import information_plane, pareto_front
from service.store.views import StudyView


class Figure(NamedTuple):
    name: str
    doc: str
    needs: tuple[str, ...]  # metrics without which there is nothing to draw
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
    )
}


def described() -> list[dict[str, Any]]:
    return [{"name": figure.name, "doc": figure.doc} for figure in FIGURES.values()]


def figures_of(study: Study) -> list[str]:
    """The figures that this study has something for."""
    return [figure.name for figure in FIGURES.values() if set(figure.needs) <= set(study.metrics)]
