"""Tasks of the multitask problem, by name: those made from any images, and the columns of the data."""

from __future__ import annotations

from collections.abc import Callable

from service.contract.wire.errors import InvalidInput
from workers.problems.tasks import classes
from workers.problems.tasks.exemplar import Exemplar
from workers.problems.tasks.reconstruction import Reconstruction
from workers.problems.tasks.rotation import Rotation
from workers.problems.tasks.task import Setting, Task

MADE: dict[str, Callable[[Setting], Task]] = {
    "class": classes.given,
    "coarse-class": classes.coarse,
    "rotation": Rotation,
    "exemplar": Exemplar,
    "reconstruction": Reconstruction,
    "random-labels": classes.random,
}


def build(name: str, setting: Setting) -> Task:
    """The task of this name on this data; a column of the data goes before a made task."""
    if name in setting.data.tasks:
        return classes.column(setting, name)
    if name not in MADE:
        known = ", ".join([*MADE, *setting.data.tasks])
        raise InvalidInput(f"this data has no task {name!r}; known: {known}")
    return MADE[name](setting)
