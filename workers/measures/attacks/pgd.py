"""Projected gradient descent (Madry et al. 2018)."""

from __future__ import annotations

from workers.measures.attacks.steps.ascent import Attack


class Pgd(Attack):
    """Steps of α along the gradient's sign from a random start: the loop as it is."""
