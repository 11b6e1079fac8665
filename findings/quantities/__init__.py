"""All that a text can ask of a study, by name."""

from __future__ import annotations

from findings.quantities import (
    early,
    exact,
    filling,
    gradients,
    learning_curves,
    marks,
    matching,
    metrics,
    picked,
    places,
    published,
    shares,
    standings,
    studies,
    tasks,
    verified,
    volumes,
)
from findings.quantities.quantity import Quantity

QUANTITIES: dict[str, Quantity] = {
    quantity.name: quantity
    for theme in (
        *(studies, places, volumes, exact, standings, tasks, metrics, marks, matching, learning_curves),
        *(gradients, verified, filling, early, picked, published, shares),
    )
    for quantity in theme.QUANTITIES
}


def quantity_named(name: str) -> Quantity:
    if name not in QUANTITIES:
        usages = "\n  ".join(quantity.usage for quantity in QUANTITIES.values())
        raise ValueError(f"{name!r} is not a quantity; known:\n  {usages}")
    return QUANTITIES[name]


__all__ = ["QUANTITIES", "Quantity", "quantity_named"]
