"""Information plane: I(Z;Y) against I(X;Z), one path per trial over its epochs, ends marked."""

from __future__ import annotations

from typing import Any, NamedTuple

from service.contract.events import TrialState
from service.contract.outcomes import COLLAPSED_BELOW_BITS
from service.contract.palette import arm_style
from service.figures.pareto_front import labels_of
from service.figures.style import axis_layout, layout, short, truth_traces
from service.store.views import StudyView
from service.truth import Curve, curves

X, Y = "i_xz_bits", "i_zy_bits"
SMALLEST_BITS = 1e-2
MANY = 300
HOVER = "%{text}<br>I(X;Z) %{x:.3g} bits<br>I(Z;Y) %{y:.3g} bits<extra>%{fullData.name}</extra>"


class Path(NamedTuple):
    trial: str
    label: str
    epochs: list[int]
    x: list[float]
    y: list[float]
    failed: bool


class PlaneData(NamedTuple):
    arms: list[tuple[str, list[Path]]]
    seeds: int
    truth: list[Curve]


def plane_data(view: StudyView) -> PlaneData:
    """Evaluated epochs with finite values; a failed trial keeps the path it had."""
    labels = labels_of(view)
    arms: dict[str, list[Path]] = {arm.name: [] for arm in view.study.arms}
    for trial_id, trial in view.trials.items():
        steps = [r for r in trial.reports if r.get(X) is not None and r.get(Y) is not None]
        if steps:
            arms[trial.planned.arm].append(
                Path(
                    trial_id,
                    labels[trial_id],
                    [int(step["epoch"] or 0) for step in steps],
                    [max(short(step[X] or 0.0), SMALLEST_BITS) for step in steps],
                    [short(step[Y] or 0.0) for step in steps],
                    trial.state is TrialState.FAILED,
                )
            )
    most = max((path.x[-1] for paths in arms.values() for path in paths), default=1.0)
    return PlaneData(list(arms.items()), len(view.study.seeds), curves(view.study, X, Y, most))


def draw_plane(data: PlaneData, revision: str) -> dict[str, Any]:
    """Per arm one trace of all paths (gaps between trials) and one of the ends: few traces draw fast."""
    lines: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []  # drawn after all lines, so that no path covers an end
    trials = sum(len(paths) for _, paths in data.arms)
    many = trials > MANY
    for i, (arm, paths) in enumerate(data.arms):
        colour, symbol = arm_style(i)
        lines_x: list[float | None] = []
        lines_y: list[float | None] = []
        for path in paths:
            lines_x += [*path.x, None]
            lines_y += [*path.y, None]
        lines.append(
            {
                "type": "scattergl" if len(lines_x) > 20_000 else "scatter",
                "mode": "lines",
                "name": arm,
                "legendgroup": arm,
                "showlegend": False,
                "x": lines_x,
                "y": lines_y,
                "line": {"color": colour, "width": 1},
                "opacity": 0.2 if many else 0.35,
                "hoverinfo": "skip",
            }
        )
        ends = [path for path in paths if not path.failed]
        marks.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": arm,
                "legendgroup": arm,
                "x": [path.x[-1] for path in ends],
                "y": [path.y[-1] for path in ends],
                "text": [f"{path.label} · epoch {path.epochs[-1]}" for path in ends],
                "customdata": [path.trial for path in ends],
                "hovertemplate": HOVER,
                "marker": {
                    "color": colour,
                    "symbol": symbol,
                    "size": 5 if many else 8,
                    "opacity": 0.7 if many else 1.0,
                },
            }
        )
    # A collapsed code lies at zero on a linear axis; it is no reason for a log one.
    xs = [x for _, paths in data.arms for path in paths for x in path.x if path.x[-1] >= COLLAPSED_BELOW_BITS]
    ys = [y for _, paths in data.arms for path in paths for y in path.y]
    x_axis, y_axis = ({"rangemode": "tozero", **axis_layout(m, values)} for m, values in ((X, xs), (Y, ys)))
    subtitle = f"I(X;Z) ≤ KL to the prior, I(Z;Y) ≥ H(Y) − cross-entropy, test split · {trials} trials" + (
        " · one seed" if data.seeds == 1 else f" · {data.seeds} seeds"
    )
    truth = truth_traces(data.truth, SMALLEST_BITS)
    return {"data": [*truth, *lines, *marks], "layout": layout(x_axis, y_axis, subtitle, revision)}


def figure(view: StudyView, x: str | None, y: str | None) -> dict[str, Any]:
    return draw_plane(plane_data(view), view.id)
