"""Robustness: accuracy clean and under each attack, by arm; below it the rank average over both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.analysis import mean_interval, metric_intervals
from service.analysis.candidates import chooser
from service.analysis.ranks import rank_averages
from service.contract.metrics import ACCURACY, ROBUST_IMAGES, Kind, described, of_kind
from service.contract.wire.events import Metrics
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.chosen_split import Chooser, on_split
from service.contract.wording.numbers import number, plural
from service.contract.wording.palette import arm_style
from service.figures.drawing.bands import bounds_of, drawn_of_seeds, ends
from service.figures.drawing.choices import one_of
from service.figures.drawing.configurations import Best, best_by, best_of, choosing_value, final_value, finite
from service.figures.drawing.hover import hover
from service.figures.drawing.style import layout, short
from service.figures.figure import Asked, Control, Figure
from service.views.view import View

CRITERIA = [("clean", "clean accuracy"), ("robust", "mean robust accuracy")]
OVER_IMAGES = "95 % interval over images (Wilson), not over trainings"
MOST_DOTS = 1_000
ROW = 0.84  # of the distance of two rows: where its arms stand
BESIDE, LEAST_ROW, PER_ARM = 200, 24, 7  # pixels that it needs: beside the rows, of a row at least, per arm in a row
RANKS = 0.1  # of the height: the rank average


class Cell(NamedTuple):
    """Accuracy of an arm in a row: mean over seeds and 95 %; of two the range, of one over its images (Wilson)."""

    value: float
    low: float | None
    high: float | None
    by_trial: dict[str, float]


class ArmRow(NamedTuple):
    best: Best
    cells: dict[str, Cell]  # by metric
    rank: float | None  # average over the rows that every arm has
    seed_ranks: dict[int, float]  # the same for each seed alone


class RobustnessData(NamedTuple):
    rows: list[str]  # metrics, clean first
    ranked: list[str]  # metrics behind the rank average
    by: str
    arms: list[ArmRow]
    seeds: dict[str, int]  # by trial
    images: int | None
    chooser: Chooser | None  # the split that chose among configurations


def _mean_robust(view: View, metrics: Metrics, attacks: Sequence[str]) -> float | None:
    values = [value for attack in attacks if finite(value := choosing_value(view, metrics, attack))]
    return sum(values) / len(values) if values and len(values) == len(attacks) else None


def _cell(view: View, best: Best, metric: str) -> Cell | None:
    finals = {trial: final_value(view.trials[trial], metric, best.where) for trial in best.trials}
    by_trial = {trial: value for trial, value in finals.items() if finite(value)}
    mean = mean_interval(list(by_trial.values()))
    if mean.mean is None:
        return None
    if len(by_trial) == 1:
        low, high = metric_intervals(view.trials[next(iter(by_trial))].at(best.where)).get(metric, (None, None))
    else:
        low, high = ends(mean, bounds_of(metric)) or (None, None)
    return Cell(mean.mean, low, high, by_trial)


def robustness_data(view: View, x: str | None) -> RobustnessData:
    """Of each arm the configuration that is best by the criterion (x), as the study chooses."""
    by = one_of(x, CRITERIA, "x", "clean")
    # Laid over each other, studies may call different attacks by one name.
    attacks = of_kind(view.metrics, Kind.ROBUSTNESS) if view.attacked_alike else []
    rows = [ACCURACY, *attacks]
    arms = []
    for arm in view.study.arms:
        robust = best_by(view, arm.name, lambda metrics: _mean_robust(view, metrics, attacks))
        best = robust if by == "robust" and robust.values else best_of(view, arm.name, ACCURACY)
        cells = {metric: cell for metric in rows if (cell := _cell(view, best, metric)) is not None}
        arms.append(ArmRow(best, cells, None, {}))
    images = [trial.metrics.get(ROBUST_IMAGES) for trial in view.trials.values()]
    most = max((int(count) for count in images if finite(count)), default=None)
    seeds = {trial: view.trials[trial].planned.seed for arm in arms for trial in arm.best.trials}
    return _ranked(RobustnessData(rows, [], by, arms, seeds, most, chooser(view)))


def _ranked(data: RobustnessData) -> RobustnessData:
    """With ranks over the rows that every measured arm has, the clean one too as in the MIB paper; one arm has none."""
    table = {arm.best.arm: {m: cell.value for m, cell in arm.cells.items()} for arm in data.arms if arm.cells}
    rows = [m for m in data.rows if table and all(m in values for values in table.values())]
    if len(table) < 2 or not of_kind(rows, Kind.ROBUSTNESS):
        return data
    averages = rank_averages(table, rows)
    by_seed: dict[int, dict[str, dict[str, float]]] = {}
    for arm in data.arms:
        for metric in rows:
            for trial, value in arm.cells[metric].by_trial.items() if arm.cells else ():
                by_seed.setdefault(data.seeds[trial], {}).setdefault(arm.best.arm, {})[metric] = value
    whole = {s: t for s, t in by_seed.items() if set(t) == set(table) and all(len(v) == len(rows) for v in t.values())}
    alone = {seed: rank_averages(values, rows) for seed, values in whole.items()}
    arms = [
        arm._replace(
            rank=averages.get(arm.best.arm),
            seed_ranks={seed: ranks[arm.best.arm] for seed, ranks in alone.items() if len(alone) > 1 and arm.cells},
        )
        for arm in data.arms
    ]
    return data._replace(ranked=rows, arms=arms)


def row_title(metric: str) -> str:
    return described(metric).subject or "clean"


def _words(arm: ArmRow, metric: str) -> str:
    cell = arm.cells[metric]
    seeds = "one seed" if len(cell.by_trial) == 1 else f"{len(cell.by_trial)} seeds"
    kind = "range" if len(cell.by_trial) == 2 else "95 %"
    spread = "" if cell.low is None else f", {kind} {number(cell.low)} … {number(cell.high)}"
    label = f"<br>best of {arm.best.of}: {arm.best.label}" if arm.best.of > 1 else ""
    return f"{row_title(metric)} {number(cell.value)}{spread}, {seeds}{label}"


def _accuracy_traces(data: RobustnessData, arm: ArmRow, index: int, place: float, few: bool) -> list[Trace]:
    """One trace of means with bars, one of single seeds."""
    colour, symbol = arm_style(index)
    shown = [(i + place, metric) for i, metric in enumerate(data.rows) if metric in arm.cells]
    cells = [arm.cells[metric] for _, metric in shown]
    common = {"type": "scatter", "mode": "markers", "name": arm.best.arm, "legendgroup": arm.best.arm}
    means: Trace = {
        "x": [short(cell.value) for cell in cells],
        "y": [short(y) for y, _ in shown],
        **hover(_words(arm, metric) for _, metric in shown),
        "marker": {"color": colour, "symbol": symbol, "size": 7},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [0.0 if cell.high is None else short(cell.high - cell.value) for cell in cells],
            "arrayminus": [0.0 if cell.low is None else short(cell.value - cell.low) for cell in cells],
            "color": colour,
            "thickness": 1.2,
            "width": 2,
        },
    }
    if all(len(cell.by_trial) == 1 for cell in cells):  # the mean is the trial
        return [{**common, **means, "customdata": [next(iter(cell.by_trial)) for cell in cells]}]
    dots = [(y, trial, v) for (y, _), cell in zip(shown, cells, strict=True) for trial, v in cell.by_trial.items()]
    single = {
        "x": [short(value) for _, _, value in dots if few],
        "y": [short(y) for y, _, _ in dots if few],
        **hover(f"seed {data.seeds[trial]}: {number(value)}" for _, trial, value in dots if few),
        "customdata": [trial for _, trial, _ in dots if few],
        "showlegend": False,
        "marker": {"color": colour, "symbol": symbol, "size": 4, "opacity": 0.4},
    }
    return [{**common, **single}, {**common, **means}]


def _rank_traces(arm: ArmRow, index: int, place: float) -> list[Trace]:
    colour, symbol = arm_style(index)
    common: Trace = {"type": "scatter", "mode": "markers", "name": arm.best.arm, "legendgroup": arm.best.arm}
    common |= {"showlegend": False, "xaxis": "x2", "yaxis": "y2"}
    seeds = {
        "x": [short(rank) for rank in arm.seed_ranks.values()],
        "y": [place] * len(arm.seed_ranks),
        **hover(f"seed {seed}: rank average {number(rank)}" for seed, rank in arm.seed_ranks.items()),
        "marker": {"color": colour, "symbol": symbol, "size": 4, "opacity": 0.4},
    }
    mean = {
        "x": [] if arm.rank is None else [short(arm.rank)],
        "y": [] if arm.rank is None else [place],
        **hover([] if arm.rank is None else [f"rank average {number(arm.rank)}"]),
        "marker": {"color": colour, "symbol": symbol, "size": 8},
    }
    return [{**common, **seeds}, {**common, **mean}]


def _subtitle(data: RobustnessData) -> str:
    most = max((len(cell.by_trial) for arm in data.arms for cell in arm.cells.values()), default=0)
    single = [a.best.arm for a in data.arms if a.cells and max(len(c.by_trial) for c in a.cells.values()) == 1]
    chosen = any(arm.best.of > 1 for arm in data.arms)
    parts = [
        f"one seed: {OVER_IMAGES}" if most == 1 else drawn_of_seeds(most),
        f"one seed ({', '.join(single)}): {OVER_IMAGES}" if single and most > 1 else "",
        f"{data.images:,} images attacked" if data.images else "",
        f"chosen by {dict(CRITERIA)[data.by]}{on_split(data.chooser)}" if chosen else "",
        "rank among arms, averaged over clean and attacks" if data.ranked else "",
    ]
    return " · ".join(filter(None, parts))


def _summary(data: RobustnessData) -> str:
    if data.ranked:
        order = sorted((arm for arm in data.arms if arm.rank is not None), key=lambda arm: arm.rank or 0.0)
        words = ", ".join(f"{arm.best.arm} {number(arm.rank)}" for arm in order)
        attacks = plural(len(of_kind(data.ranked, Kind.ROBUSTNESS)), "attack")
        return f"Rank average over clean and {attacks}, 1 is best: {words}."
    return ""


def draw_robustness(data: RobustnessData, revision: str) -> PlotlyFigure:
    count = len(data.arms)
    places = [ROW * ((i + 0.5) / count - 0.5) for i in range(count)]
    few = sum(len(cell.by_trial) for arm in data.arms for cell in arm.cells.values()) <= MOST_DOTS
    x = {"title": {"text": "accuracy, test split", "standoff": 4}, "zeroline": False}
    y = {
        "title": {"text": ""},
        "tickvals": list(range(len(data.rows))),
        "ticktext": [row_title(metric) for metric in data.rows],
        "range": [len(data.rows) - 0.5, -0.5],
        "automargin": True,
        "zeroline": False,
        "showgrid": False,
    }
    drawing = layout(x, y, _subtitle(data), revision, summary=_summary(data))
    drawing["meta"]["height"] = BESIDE + len(data.rows) * max(LEAST_ROW, PER_ARM * count)
    # Hairlines between the rows: which markers belong together.
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
    style = {"line": {"width": 1, "color": "rgba(136,136,136,0.35)"}}
    drawing["shapes"] = [{**line, **style, "y0": i + 0.5, "y1": i + 0.5} for i in range(len(data.rows) - 1)]
    traces = [t for i, arm in enumerate(data.arms) for t in _accuracy_traces(data, arm, i, places[i], few)]
    if data.ranked:
        y["domain"] = [RANKS + 0.2, 1]
        x["anchor"] = "y"
        drawing["xaxis2"] = {
            "title": {"text": "rank average, 1 is best", "standoff": 4},
            "range": [count + 0.2, 0.8],
            "anchor": "y2",
            "dtick": 1 if count < 10 else 5,
            "zeroline": False,
        }
        drawing["yaxis2"] = {"title": {"text": ""}, "domain": [0, RANKS], "range": [0.6, -0.6], "showticklabels": False}
        drawing["yaxis2"] |= {"anchor": "x2", "ticks": "", "showgrid": False, "zeroline": False}
        traces += [t for i, arm in enumerate(data.arms) for t in _rank_traces(arm, i, places[i])]
    return {"data": traces, "layout": drawing}


def figure(asked: Asked) -> PlotlyFigure:
    drawn = draw_robustness(robustness_data(asked.view, asked.x), asked.revision)
    if not asked.view.attacked_alike:
        drawn["layout"]["meta"]["subtitle"] += " · these studies attack differently: only clean accuracy is shown"
    return drawn


def controls(view: View) -> list[Control]:
    return [Control("x", "configuration by", "choice", CRITERIA, "clean")]


FIGURE = Figure(
    "robustness",
    "Robustness",
    "accuracy clean and under each attack by arm with 95 % intervals, and the rank average over both",
    "robustness",
    (ACCURACY, Kind.ROBUSTNESS),
    figure,
    controls,
)
