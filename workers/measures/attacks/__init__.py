"""L∞ attacks on K members at once. `workers.measures.attacks.<name>` holds a class named as in the contract."""

from __future__ import annotations

import importlib

from service.contract.methods.attacks import Attack as Spec
from workers.measures.attacks.steps.ascent import Attack


def build(spec: Spec) -> Attack:
    """The attack that an evaluation lists."""
    module = importlib.import_module(f"{__name__}.{spec.name}")
    attack: Attack = getattr(module, type(spec).__name__)(spec)
    return attack
