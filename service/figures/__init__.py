"""Figures: data first (a named tuple), then drawing (Plotly JSON). Used by page, report and notebook alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from service.figures import information_plane, pareto_front
from service.store.views import StudyView


class Figure(NamedTuple):
    name: str
    doc: str
    build: Callable[[StudyView, str | None, str | None], dict[str, Any]]


FIGURES = {
    figure.name: figure
    for figure in (
        Figure(
            "information-plane",
            "I(Z;Y) against I(X;Z), a path per trial over epochs",
            information_plane.figure,
        ),
        Figure("pareto-front", "the non-dominated trials of each arm for any two metrics", pareto_front.figure),
    )
}


def described() -> list[dict[str, Any]]:
    return [{"name": figure.name, "doc": figure.doc} for figure in FIGURES.values()]
