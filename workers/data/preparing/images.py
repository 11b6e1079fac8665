"""From prepared images to draws."""

from __future__ import annotations

from pathlib import Path

from service.contract.methods.data import Images
from workers.data import Draw
from workers.data.assembly import Facts, as_bytes, assemble
from workers.data.preparing import prepared
from workers.data.preparing.recipes import Recipe


def load(recipe: Recipe, spec: Images, folder: Path) -> Draw:
    """The data set, prepared first when only its source files are there."""
    splits = prepared.open_or_prepare(recipe, folder)
    facts = Facts(recipe.classes, recipe.mean, recipe.std, recipe.tasks, recipe.coarse)
    return assemble(splits, spec, facts, as_bytes, spec.test_images)
