"""Small plots over epochs, one per metric: per arm a line, a band and a mark at the end."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from service.analysis import LEAST_SEEDS
from service.contract.metrics import EPOCH, described
from service.contract.wire.plotly import Layout, PlotlyFigure, Trace
from service.contract.wording.numbers import number, plural
from service.contract.wording.palette import arm_style
from service.figures.drawing.hover import hover
from service.figures.drawing.over_epochs import ArmPaths, Band, PathsData
from service.figures.drawing.style import LOG_WHEN_RATIO, layout

MANY_ARMS = 6
LOG_DECADES = math.log10(LOG_WHEN_RATIO)  # from which powers of ten are ticks enough
WIDEST_STEP = math.log10(5 / 2)  # between ticks at 1, 2 and 5
BESIDE = 0.18  # of the epochs: how far the bars of many arms reach beyond the last
COLUMN_GAP, HEADING = 0.1, 0.08  # of the whole width and height


def _axes(count: int, place: int, title: str, decades: float | None) -> tuple[Layout, Layout]:
    """Axes of the plot at this place: up to three above each other, else in two columns. Logarithmic over decades."""
    columns = 1 if count <= 3 else 2
    rows = -(-count // columns)
    row, column = divmod(place, columns)
    wide = (1 - COLUMN_GAP * (columns - 1)) / columns
    left, top = column * (wide + COLUMN_GAP), 1 - row / rows
    number = axis_number(place)
    lowest = place + columns >= count
    x = {"title": {"text": described(EPOCH).label if lowest else ""}, "showticklabels": lowest, "zeroline": False}
    y = {"title": {"text": "" if column else title}, "nticks": 5, "zeroline": False, "automargin": True}
    x |= {"domain": [left, left + wide], "anchor": f"y{number}", **({"matches": "x"} if place else {})}
    y |= {"domain": [top - 1 / rows, top - HEADING], "anchor": f"x{number}"}
    if decades is None:
        return x, y | {"rangemode": "tozero"}
    return x, y | {"type": "log", "dtick": _log_ticks(decades), "exponentformat": "power"}


def _log_ticks(decades: float) -> int | str | None:
    """Ticks at powers of ten, of few of them at 2 and 5 too; where even that may be none Plotly finds its own."""
    if decades >= LOG_DECADES:
        return math.ceil(decades / 4)
    return "D2" if decades >= WIDEST_STEP else None


def _decades(data: PathsData, metric: str, is_log: bool) -> float | None:
    """How many powers of ten the plot spans if that asks for a log axis, or it has one; an interval is no reason."""
    values: list[float] = []
    for arm in data.arms:
        if metric in arm.bands:
            band = arm.bands[metric]
            ends = (*band.low, *band.high) if arm.spread == "range" else ()
            values += [*band.middle, *(end for end in ends if end is not None)]
    if not values or min(values) <= 0 or not (is_log or max(values) / min(values) > LOG_WHEN_RATIO):
        return None
    return math.log10(max(values) / min(values))


def axis_number(place: int) -> str:
    """Plotly's names: x, x2, x3."""
    return str(place + 1) if place else ""


def _spread(arm: ArmPaths, trials: int) -> str:
    return "95 % interval" if arm.spread == "interval" and trials >= LEAST_SEEDS else "range"


def _words(arm: ArmPaths, band: Band) -> list[str]:
    """The hover at each epoch."""
    return [
        f"epoch {epoch}: {number(middle)}<br>"
        + ("one trial" if lo is None else f"{_spread(arm, n)} {number(lo)} … {number(hi)}, {plural(n, 'trial')}")
        for epoch, middle, lo, hi, n in zip(*band, strict=True)
    ]


def _shade(band: Band, colour: str, floor: float) -> Trace:
    """The spread as an area, drawn no lower than the floor."""
    wide = [(e, lo, hi) for e, lo, hi in zip(band.epochs, band.low, band.high, strict=True) if lo is not None]
    return {
        "mode": "lines",
        "x": [e for e, _, _ in wide] + [e for e, _, _ in reversed(wide)],
        "y": [max(lo, floor) for _, lo, _ in wide] + [hi for _, _, hi in reversed(wide)],
        "fill": "toself",
        "fillcolor": colour,
        "line": {"width": 0},
        "opacity": 0.16,
        "hoverinfo": "skip",
    }


def _traces(arm: ArmPaths, index: int, metric: str, beside: float, floor: float) -> list[Trace]:
    """Spread, line and a mark at its end: arms differ by shape as well as by colour.

    Many areas would cover each other, so many arms have a bar each beside the end instead.
    """
    colour, symbol = arm_style(index)
    band = arm.bands[metric]
    words = _words(arm, band)
    line = {"x": band.epochs, "y": band.middle, **hover(words), "line": {"color": colour, "width": 1.5}}
    end: Trace = {"x": band.epochs[-1:], "y": band.middle[-1:], **hover(words[-1:])}
    end["marker"] = {"color": colour, "symbol": symbol, "size": 7}
    drawn = [{"mode": "lines", **line}, {"mode": "markers", **end}]
    if not beside:
        return [_shade(band, colour, floor), *drawn]
    low, middle, high = band.low[-1], band.middle[-1], band.high[-1]
    drawn[1]["x"] = [band.epochs[-1] * (1 + beside * (index + 1))]
    if low is not None and high is not None:
        bar = {"type": "data", "symmetric": False, "array": [high - middle], "arrayminus": [middle - max(low, floor)]}
        drawn[1]["error_y"] = {**bar, "color": colour, "thickness": 1, "width": 2}
    return drawn


def draw_paths(
    data: PathsData,
    names: Mapping[str, str],
    axis: str | Mapping[str, str],
    subtitle: str,
    revision: str,
    logs: Collection[str] = (),
) -> PlotlyFigure:
    """One small plot per metric above the other, at most three to a column; `names` are their headings.

    `axis` is the title of every vertical axis, or of each; those of `logs` are logarithmic in any case.
    """
    traces: list[Trace] = []
    notes: list[Layout] = []
    drawing = layout({}, {}, ("bars: last epoch · " if len(data.arms) > MANY_ARMS else "") + subtitle, revision)
    in_legend: set[str] = set()
    beside = BESIDE / len(data.arms) if len(data.arms) > MANY_ARMS else 0.0
    for place, metric in enumerate(data.metrics or [""]):
        number = axis_number(place)
        decades = _decades(data, metric, metric in logs)
        title = axis if isinstance(axis, str) else axis[metric]
        x, y = _axes(len(data.metrics) or 1, place, title, decades)
        drawing |= {f"xaxis{number}": x, f"yaxis{number}": y}
        where = {"x": x["domain"][0], "y": y["domain"][1], "xref": "paper", "yref": "paper", "showarrow": False}
        notes.append({**where, "xanchor": "left", "yanchor": "bottom", "text": names.get(metric, "")})
        for i, arm in enumerate(data.arms):
            if metric in arm.bands:
                common = {"type": "scatter", "name": arm.name, "legendgroup": arm.name, "showlegend": False}
                common |= {"xaxis": f"x{number}", "yaxis": f"y{number}"}
                # An interval may reach below 0, where a log axis has no place.
                bounded = decades is not None and arm.spread == "interval"
                floor = min(arm.bands[metric].middle) / 10 if bounded else -math.inf
                drawn = _traces(arm, i, metric, beside, floor)
                drawn[-1]["showlegend"] = arm.name not in in_legend
                in_legend.add(arm.name)
                traces += [{**common, **trace} for trace in drawn]
    return {"data": traces, "layout": {**drawing, "annotations": notes}}
