"""Latent codes: test examples in the plane, one small plot per trial, clean and attacked."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from service.contract.methods.problems import has_code
from service.contract.metrics import ACCURACY, I_ZY
from service.contract.study.study import Study
from service.contract.wire.errors import Detail, InvalidInput
from service.contract.wire.events import TrialState
from service.contract.wire.latent_map import MapFile, Place
from service.contract.wire.plotly import Layout, PlotlyFigure, Trace
from service.contract.wording.numbers import percent, setting
from service.figures.drawing.configurations import choosing_value
from service.figures.drawing.hover import hover
from service.figures.drawing.style import layout
from service.figures.drawing.trial_labels import labels_of
from service.figures.figure import Asked, Control, Figure
from service.views.maps import Maps
from service.views.overlay import Overlay
from service.views.view import View

MOST_TRIALS = 4
MOST_OPTIONS = 200
COLUMNS = 2
COLUMN_GAP, HEADING = 0.06, 36  # of the width, in px
ROW, GAP = 240, 12  # px
# Ten colours that stay apart for colour-blind readers (Petroff 2021); the classes' numbers stand there too.
CLASSES = ("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd")
Places = list[Place]


class Plot(NamedTuple):
    """Examples of one trial, clean or attacked."""

    trial: str
    heading: str
    condition: str  # "clean", "under pgd"
    places: Places
    labels: list[int] | None
    predicted: list[int] | None

    @property
    def right(self) -> float | None:
        """Share that is read right; none where labels are no classes."""
        if self.labels is None or self.predicted is None:
            return None
        return statistics.fmean(a == b for a, b in zip(self.labels, self.predicted, strict=True))


class MapsData(NamedTuple):
    trials: list[list[Plot]]  # the plots of each trial: clean, perhaps attacked
    points: int
    method: str  # what was done to the codes


def latent_data(view: View, maps: Maps, chosen: Sequence[str] = ()) -> MapsData:
    """The maps of the chosen trials, without a choice one per arm: of its most accurate trial that has one."""
    unknown = next((trial for trial in chosen if trial not in view.trials), None)
    if unknown is not None:
        message = f"there is no trial {unknown!r} in this study"
        raise InvalidInput(message, [Detail(path="trial", message=message)])
    labels = labels_of(view)
    trials: list[list[Plot]] = []
    last: MapFile | None = None
    for trial in [*(chosen or _best(view, maps))][:MOST_TRIALS]:
        read = maps.of(view, trial)
        if read is not None:
            last = read
            trials.append(list(_plots(trial, f"{view.trials[trial].planned.arm} · {labels[trial]}", read)))
    return MapsData(trials, last.points if last else 0, _method(last) if last else "")


def _plots(trial: str, heading: str, map_file: MapFile) -> Iterator[Plot]:
    yield Plot(trial, heading, "clean", map_file.clean, map_file.labels, map_file.predicted)
    if map_file.attacked is not None:
        condition = f"under {map_file.attack}"
        yield Plot(trial, heading, condition, map_file.attacked, map_file.labels, map_file.attacked_predicted)


def _mapped(view: View) -> list[str]:
    """Trials that may have a map."""
    done = [(trial_id, t) for trial_id, t in view.trials.items() if t.state is TrialState.FINISHED]
    return [trial_id for trial_id, t in done if has_code(t.planned.problem)]


def _best(view: View, maps: Maps) -> list[str]:
    """Per arm the most accurate trial with a map; where nothing is hit or missed, that with the most I(Z;Y).

    By the split that the study chooses by.
    """
    metric = ACCURACY if ACCURACY in view.metrics else I_ZY

    def judged(trial: str) -> float:
        return choosing_value(view, view.trials[trial].metrics, metric) or 0.0

    best: dict[str, str] = {}
    for trial in sorted(_mapped(view), key=judged, reverse=True):
        arm = view.trials[trial].planned.arm
        if arm not in best and maps.has(view, trial):
            best[arm] = trial
    return [best[arm.name] for arm in view.study.arms if arm.name in best]


def _method(map_file: MapFile) -> str:
    if map_file.method == "codes":
        return f"the code's own {'dimension' if map_file.latent == 1 else 'two dimensions'}"
    together = " of clean and attacked together" if map_file.attacked is not None else ""
    how = f"t-SNE{together}, {map_file.latent} dimensions, perplexity {setting(map_file.perplexity)}"
    return f"{how}: only neighbourhoods mean something"


def draw_latent(data: MapsData, revision: str) -> PlotlyFigure:
    """Two columns: clean and attacked of a trial side by side, or else one trial after the other."""
    plots = [plot for trial in data.trials for plot in trial]
    rows = -(-len(plots) // COLUMNS) or 1
    height = rows * ROW
    traces: list[Trace] = []
    notes: list[Layout] = []
    facts = f"means of q(z|x), first {data.points} test examples · {data.method} · open: misclassified"
    subtitle = facts if plots else "no map yet"
    empty = "Maps appear when their trials have finished."
    drawing = layout(_axis("code"), _axis("code"), subtitle, revision, summary=_summary(plots), empty=empty)
    for place, plot in enumerate(plots):
        row, column = divmod(place, COLUMNS)
        number = str(place + 1) if place else ""
        wide = (1 - COLUMN_GAP) / COLUMNS
        left, top = column * (wide + COLUMN_GAP), 1 - row / rows
        x = {**_axis(""), "domain": [left, left + wide], "anchor": f"y{number}"}
        y = {**_axis(""), "domain": [top - (ROW - GAP) / height, top - HEADING / height], "anchor": f"x{number}"}
        if plot.condition != "clean":  # on the axes of the clean one before it: what moved is seen
            before = str(place) if place > 1 else ""
            x, y = x | {"matches": f"x{before}"}, y | {"matches": f"y{before}"}
        drawing |= {f"xaxis{number}": x, f"yaxis{number}": y}
        where = {"x": left, "y": y["domain"][1], "xref": "paper", "yref": "paper", "showarrow": False, "align": "left"}
        notes.append({**where, "xanchor": "left", "yanchor": "bottom", "text": _heading(plot), "font": {"size": 11}})
        axes = {"type": "scatter", "xaxis": f"x{number}", "yaxis": f"y{number}", "showlegend": False}
        traces += [{**axes, **trace} for trace in _traces(plot)]
    drawing["meta"]["height"] = height + 16
    return {"data": traces, "layout": {**drawing, "annotations": notes, "margin": {"l": 12, "r": 12, "t": 4, "b": 12}}}


def _axis(title: str) -> Layout:
    """Without numbers: they mean nothing in a t-SNE, and little in a code."""
    return {"title": {"text": title}, "showticklabels": False, "ticks": "", "showgrid": False, "zeroline": False}


def _heading(plot: Plot) -> str:
    read = "" if plot.right is None else f", {percent(plot.right)} classified correctly"
    return f"{textwrap.shorten(plot.heading, 34, placeholder=' …')}<br>{plot.condition}{read}"


def _traces(plot: Plot) -> Iterator[Trace]:
    """The examples, and where they have classes the number of each in the middle of its own."""
    points: Trace = {
        "mode": "markers",
        "name": plot.heading,
        "x": [x for x, _ in plot.places],
        "y": [y for _, y in plot.places],
    }
    if plot.labels is None or plot.predicted is None:
        yield {**points, "marker": {"color": CLASSES[0], "size": 5}, "hoverinfo": "skip"}
        return
    pairs = list(zip(plot.labels, plot.predicted, strict=True))
    colours = [CLASSES[a % len(CLASSES)] for a, _ in pairs]
    symbols = ["circle" if a == b else "circle-open" for a, b in pairs]
    words = hover((f"class {a}, classified as {b}" for a, b in pairs), beside=plot.condition)
    yield {**points, **words, "marker": {"color": colours, "symbol": symbols, "size": 5}}
    of_class: dict[int, Places] = {}
    for place, label in zip(plot.places, plot.labels, strict=True):
        of_class.setdefault(label, []).append(place)
    middles = {label: _middle(places) for label, places in sorted(of_class.items())}
    yield {
        "mode": "text",
        "x": [x for x, _ in middles.values()],
        "y": [y for _, y in middles.values()],
        "text": [f"<b>{label}</b>" for label in middles],
        "textfont": {"size": 13},
        "hoverinfo": "skip",
    }


def _middle(places: Places) -> tuple[float, float]:
    """By medians: a mean would be drawn away by the few that lie elsewhere."""
    return statistics.median_low(x for x, _ in places), statistics.median_low(y for _, y in places)


def _summary(plots: Sequence[Plot]) -> str:
    read = [(f"{plot.heading} {plot.condition}", plot.right) for plot in plots]
    return "; ".join(f"{what}: {percent(right)} classified correctly" for what, right in read if right is not None)


def figure(asked: Asked) -> PlotlyFigure:
    data = latent_data(asked.view, asked.maps, asked.trials) if asked.maps else MapsData([], 0, "")
    return draw_latent(data, asked.revision)


def _choosable(view: View) -> list[str]:
    """Those of the seeds that get maps; in an overlay of all seeds, because its studies map different ones."""
    mapped = _mapped(view)
    if isinstance(view, Overlay) or not _has_maps(view.study):
        return mapped
    seeds = set(view.study.mapped_seeds)
    return [trial for trial in mapped if view.trials[trial].planned.seed in seeds]


def controls(view: View) -> list[Control]:
    labels, shown = labels_of(view), _choosable(view)[:MOST_OPTIONS]
    options = [(trial, f"{view.trials[trial].planned.arm} · {labels[trial]}") for trial in shown]
    return [Control("trial", "trial", "choice", [("", "best of each arm"), *options], "")]


def _has_maps(study: Study) -> bool:
    return study.evaluation.latent_map is not None


FIGURE = Figure(
    "latent-map",
    "Latent codes",
    "codes of test examples in the plane, clean and attacked, per trial (evaluation.latent_map)",
    "codes",
    (),
    figure,
    controls,
    _has_maps,
)
