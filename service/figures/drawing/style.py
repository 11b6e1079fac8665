"""One visual language: axes with names and units, quiet margins, stable zoom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from service.analysis.truth import Curve
from service.contract.metrics import described
from service.contract.wire.plotly import Layout, PlotlyFigure, Trace

LOG_WHEN_RATIO = 20.0
TRUTH_COLOUR = "#888888"  # readable on light and dark
TEMPLATE = "hovertemplate"
# Where Plotly reads markup, and which of it figures write there themselves.
MARKUP = {"name": "", "legendgroup": "", "text": r"<br>|^<b>\d+</b>$", "ticktext": "<br>", TEMPLATE: "<br>|</?extra>"}
SIGNS = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# The figures' own first, then the signs of tags and entities; any other & is shown as it is.
READ = {key: re.compile(f"{own or '(?!)'}|[<>]|&(?=#?\\w+;)") for key, own in MARKUP.items()}
# `meta` is shown by the page, not by Plotly; the ticks of parallel coordinates Plotly draws as they are.
AS_WRITTEN = ("meta", "dimensions")


class Measured(NamedTuple):
    """What an axis measures, and the least that it shows: smaller values stand there."""

    metric: str
    least: float | None = None


Axes = Sequence[Measured]


def short(value: float) -> float:
    """Four digits are more than a pixel shows, and a third of the bytes."""
    return float(f"{value:.4g}")


def title_of(metric: str) -> str:
    return described(metric).title


def axis_layout(metric: str, values: list[float]) -> Layout:
    """Name, unit, and a log scale when the values span more than a factor of twenty."""
    axis: Layout = {"title": {"text": title_of(metric)}, "zeroline": False, "automargin": True}
    positive = [value for value in values if value > 0]
    ratio = max(positive) / min(positive) if positive else 1.0
    if (
        described(metric).unit
        and described(metric).goal == "minimize"
        and len(positive) == len(values)
        and ratio > LOG_WHEN_RATIO
    ):
        axis.update(type="log", dtick="D2" if ratio < 300 else 1)
    return axis


def layout(
    x: Layout, y: Layout, subtitle: str, revision: str, *, summary: str = "", empty: str = "", axes: Axes = ()
) -> Layout:
    """Margins, legend and a stable `uirevision`, so that live updates keep zoom and selection.

    `summary` is the finding in a sentence, for those who hear the figure; `empty` what a figure without a point means.
    `axes` tell a page where it may put marks of its own.
    """
    words = {"subtitle": subtitle, "summary": summary, "empty": empty}
    measured = {"axes": [axis._asdict() for axis in axes]} if axes else {}
    return {
        "xaxis": x,
        "yaxis": y,
        "uirevision": revision,
        "margin": {"l": 56, "r": 12, "t": 8, "b": 48},
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "tracegroupgap": 0},
        "meta": {**{name: text for name, text in words.items() if text or name == "subtitle"}, **measured},
    }


def truth_traces(curves: list[Curve], smallest_x: float | None = None) -> list[Trace]:
    """Fronts known by formula, dashed and without a marker: nobody trained them. A log axis needs x above 0."""
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": curve.label,
            "x": [short(x if smallest_x is None else max(x, smallest_x)) for x in curve.x],
            "y": [short(y) for y in curve.y],
            "line": {"color": TRUTH_COLOUR, "width": 1.5, "dash": "dash"},
            "hoverinfo": "skip",
        }
        for curve in curves
    ]


def _is_plain(words: list[Any]) -> bool:
    """None of these labels has a sign that Plotly reads but for line breaks, seen at once: there may be thousands."""
    together = "".join(filter(lambda each: isinstance(each, str), words)).replace("<br>", "")
    return not any(sign in together for sign in SIGNS)


def _literal(key: str, words: str) -> str:
    return READ[key].sub(lambda sign: SIGNS.get(sign[0], sign[0]), words)


def escaped(figure: PlotlyFigure, names: Iterable[str]) -> PlotlyFigure:
    """The figure with the words of users shown as they were written: their `<b>`, `<a href>`, `%{x}` are no markup.

    What is not the figures' own is escaped wherever it stands, so that a name which was cut to fit is too. Only in a
    template nothing but the names tells whose `%{x}` it is; a name that is nothing else stays.
    """
    odd = [_literal(TEMPLATE, name) for name in names if "%{" in name and not re.fullmatch(r"%\{[^}]*\}?", name)]

    def walked(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {k: v if k in AS_WRITTEN else walked(k, v) for k, v in value.items()}
        if isinstance(value, list) and (key in MARKUP or (value and isinstance(value[0], dict))):
            return value if key == "text" and _is_plain(value) else [walked(key, each) for each in value]
        if key not in MARKUP or not isinstance(value, str):
            return value
        words = _literal(key, value)
        for name in odd if key == TEMPLATE else ():
            words = words.replace(name, name.replace("%{", "%&#123;"))
        return words

    return {"data": walked("data", figure["data"]), "layout": walked("layout", figure["layout"])}
