"""Figures: data first (a named tuple), then drawing (Plotly JSON). Used by page, report and notebook alike."""

from __future__ import annotations

from service.contract.wire.answers.figures import FigureEntry, OfferedFigure
from service.contract.wire.errors import NotFound
from service.figures import (
    accuracy_by_method,
    attainment,
    attainment_difference,
    balance,
    beta_sensitivity,
    convergence,
    expected_gain,
    filling,
    generalization_gap,
    gradients,
    hypervolume_cost,
    importance,
    information_plane,
    latent_map,
    learning_curves,
    parallel_coordinates,
    pareto_front,
    robustness,
    rungs,
    timeline,
    weight_paths,
)
from service.figures.figure import Figure
from service.views.view import View

# In the order of the page.
FIGURES: dict[str, Figure] = {
    module.FIGURE.name: module.FIGURE
    for module in (
        information_plane,
        pareto_front,
        hypervolume_cost,
        expected_gain,
        attainment,
        attainment_difference,
        beta_sensitivity,
        filling,
        importance,
        parallel_coordinates,
        robustness,
        learning_curves,
        accuracy_by_method,
        convergence,
        generalization_gap,
        weight_paths,
        gradients,
        balance,
        latent_map,
        rungs,
        timeline,
    )
}


def described() -> list[FigureEntry]:
    return [figure.entry() for figure in FIGURES.values()]


def named(name: str) -> Figure:
    if name not in FIGURES:
        raise NotFound(f"there is no figure {name!r}; known: {', '.join(FIGURES)}")
    return FIGURES[name]


def figures_of(view: View) -> list[str]:
    """The figures that this study has something for."""
    return [figure.name for figure in FIGURES.values() if figure.is_for(view)]


def offered(view: View) -> list[OfferedFigure]:
    """Those figures, with what a reader may choose in each."""
    return [FIGURES[name].offer(view) for name in figures_of(view)]
