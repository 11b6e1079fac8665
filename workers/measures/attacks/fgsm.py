"""Fast gradient sign method (Goodfellow et al. 2015)."""

from __future__ import annotations

from workers.measures.attacks.steps.ascent import Attack


class Fgsm(Attack):
    """One step of ε along the gradient's sign: the loop as it is."""
