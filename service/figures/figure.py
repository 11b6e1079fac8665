"""What a figure is: a name, what it needs of a study, what a reader may choose, and how it is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from service.contract.metrics import Kind, of_kind
from service.contract.study.study import Study
from service.contract.wire.answers.figure_groups import GroupName
from service.contract.wire.answers.figures import FigureControl, FigureEntry, OfferedFigure
from service.contract.wire.plotly import DrawnFigure, PlotlyFigure
from service.figures.drawing.style import escaped
from service.views.maps import Maps
from service.views.view import View

NOTHING = "Nothing was reported for this figure."


class Asked(NamedTuple):
    """A study, and what the reader chose in the query."""

    view: View
    x: str | None = None
    y: str | None = None
    z: str | None = None
    trials: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    maps: Maps | None = None

    @property
    def choices(self) -> tuple[object, ...]:
        """All that the reader chose; by its repr no choice reads like another."""
        return (self.x, self.y, self.z, self.trials, self.arms)

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

    def answer(self) -> FigureControl:
        return FigureControl(**self._asdict())


def no_controls(view: View) -> list[Control]:
    return []


def always(study: Study) -> bool:
    return True


def _has(view: View, need: str | Kind) -> bool:
    return bool(of_kind(view.metrics, need)) if isinstance(need, Kind) else need in view.metrics


def is_empty(figure: PlotlyFigure) -> bool:
    """Nothing to draw: no trace has a value. Traces without x (parallel coordinates) carry theirs elsewhere."""
    return all("x" in trace and not any(value is not None for value in trace["x"]) for trace in figure["data"])


class Figure(NamedTuple):
    name: str
    title: str
    doc: str
    group: GroupName  # the tab of the study page it stands in
    needs: tuple[str | Kind, ...]  # metrics, or kinds of metric, without one of which there is nothing to draw
    build: Callable[[Asked], PlotlyFigure]
    controls: Callable[[View], list[Control]] = no_controls
    applies: Callable[[Study], bool] = always  # what metrics cannot tell

    def drawn(self, asked: Asked) -> PlotlyFigure:
        """What leaves the service: as built, with nothing in it that a user wrote and Plotly would read as markup."""
        return escaped(self.build(asked), [arm.name for arm in asked.view.study.arms])

    def with_words(self, asked: Asked) -> DrawnFigure:
        """The same, with its title and its words beside it."""
        plotly = self.drawn(asked)
        words: dict[str, str] = plotly["layout"].get("meta", {})
        subtitle = words.get("subtitle", "")
        finding = words.get("finding", "")
        summary = f"{self.title}. {words.get('summary') or finding or subtitle}"
        empty = words.get("empty") or NOTHING if is_empty(plotly) else None
        return DrawnFigure(self.title, subtitle, summary, empty, plotly["layout"].get("height"), plotly, finding)

    def entry(self) -> FigureEntry:
        return FigureEntry(name=self.name, title=self.title, doc=self.doc, group=self.group)

    def offer(self, view: View) -> OfferedFigure:
        controls = [control.answer() for control in self.controls(view)]
        return OfferedFigure(**self.entry().fields(), controls=controls)

    def is_for(self, view: View) -> bool:
        return all(_has(view, need) for need in self.needs) and self.applies(view.study)
