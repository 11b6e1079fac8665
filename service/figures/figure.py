"""What a figure is: a name, what it needs of a study, what a reader may choose, and how it is built."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from service.artifacts import Artifacts
from service.contract.study import Study
from service.figures.style import escaped
from service.store.views import StudyView

Group = Literal["main", "cost", "sensitivity", "robustness", "curves", "weights", "codes", "runs"]


class Asked(NamedTuple):
    """A study, and what the reader chose in the query."""

    view: StudyView
    x: str | None = None
    y: str | None = None
    z: str | None = None
    trials: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    artifacts: Artifacts | None = None

    @property
    def revision(self) -> str:
        """Zoom and selection stay while this stays."""
        return ":".join(map(str, (self.view.id, self.x, self.y, self.z, *self.trials, *self.arms)))


class Control(NamedTuple):
    """A choice beside the figure: `param` of the query, its values with their labels, and the one taken without it."""

    param: Literal["x", "y", "z", "arm", "trial"]
    label: str
    kind: Literal["metric", "choice", "number"]
    options: list[tuple[str, str]]
    default: str


def no_controls(view: StudyView) -> list[Control]:
    return []


def always(study: Study) -> bool:
    return True


class Figure(NamedTuple):
    name: str
    title: str
    doc: str
    group: Group  # the tab of the study page it stands in
    needs: tuple[str, ...]  # patterns; where one matches no metric of a study, there is nothing to draw
    build: Callable[[Asked], dict[str, Any]]
    controls: Callable[[StudyView], list[Control]] = no_controls
    applies: Callable[[Study], bool] = always  # what metrics cannot tell

    def drawn(self, asked: Asked) -> dict[str, Any]:
        """What leaves the service: as built, with nothing in it that a user wrote and Plotly would read as markup."""
        return escaped(self.build(asked), [arm.name for arm in asked.view.study.arms])

    def is_for(self, study: Study) -> bool:
        metrics = study.metrics
        matched = all(any(re.fullmatch(need, metric) for metric in metrics) for need in self.needs)
        return matched and self.applies(study)
