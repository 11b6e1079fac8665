"""Timeline: when each trial ran, side by side on the hosts that trained them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from service.contract.wire.events import TrialState
from service.contract.wire.plotly import PlotlyFigure, Trace
from service.contract.wording.numbers import duration, number, plural
from service.contract.wording.palette import arm_style
from service.figures.drawing.hover import hover
from service.figures.drawing.style import layout, short
from service.figures.drawing.trial_labels import labels_of
from service.figures.figure import Asked, Figure
from service.views.view import View

UNITS = (("h", 3600.0), ("min", 60.0), ("s", 1.0))
# Colour is the arm's; how a trial ended is told by hatching. Those under way are pale.
HATCHING = {TrialState.FAILED: "/", TrialState.STOPPED: "."}
UNKNOWN = "unknown host"
FEWEST_LANES = 8  # room for so many in any case: two bars need not fill the figure
EDGE = {"width": 0.5, "color": "rgba(128, 128, 128, 0.6)"}  # tells neighbours of one arm apart, on light and dark


class Bar(NamedTuple):
    trial: str
    label: str
    lane: int
    start: float  # seconds since the study's start
    end: float
    state: TrialState


class Host(NamedTuple):
    name: str
    first: int  # lane
    lanes: int


class TimelineData(NamedTuple):
    arms: list[tuple[str, list[Bar]]]
    hosts: list[Host]


def lanes_of(spans: Sequence[tuple[float, float]]) -> list[int]:
    """A lane for each (start, end), in the order given by their starts: the lowest that is free by then."""
    lanes = [0] * len(spans)
    busy: list[tuple[float, int]] = []
    free: list[int] = []
    for i in sorted(range(len(spans)), key=lambda i: spans[i][0]):
        start, end = spans[i]
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lanes[i] = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, lanes[i]))
    return lanes


def timeline_data(view: View, now: datetime) -> TimelineData:
    """Trials that ran or run; those of a host in as few lanes as ran at once on it. Those under way end now."""
    waiting = TrialState.PLANNED  # also what a driver that died left behind: nobody knows until when it ran
    ran = {
        trial_id: trial
        for trial_id, trial in view.all_trials.items()
        if trial.started_at and trial.state is not waiting
    }
    starts = {trial_id: _seconds(trial.started_at or "") for trial_id, trial in ran.items()}
    begin = min([*starts.values(), *([_seconds(view.started_at)] if view.started_at else [])], default=0.0)
    labels = labels_of(view, ran)
    arms: dict[str, list[Bar]] = {arm.name: [] for arm in view.study.arms}
    hosts: list[Host] = []
    for name in dict.fromkeys(trial.host or UNKNOWN for trial in ran.values()):
        own = [trial_id for trial_id, trial in ran.items() if (trial.host or UNKNOWN) == name]
        ends = [_seconds(ended) if (ended := ran[trial_id].ended_at) else now.timestamp() for trial_id in own]
        spans = [(starts[trial_id] - begin, end - begin) for trial_id, end in zip(own, ends, strict=True)]
        lanes = lanes_of(spans)
        first = sum(host.lanes for host in hosts)
        hosts.append(Host(name.partition("/")[0], first, max(lanes) + 1))
        for trial_id, (start, end), lane in zip(own, spans, lanes, strict=True):
            trial = ran[trial_id]
            arms[trial.planned.arm].append(Bar(trial_id, labels[trial_id], first + lane, start, end, trial.state))
    return TimelineData(list(arms.items()), hosts)


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def draw_timeline(data: TimelineData, revision: str) -> PlotlyFigure:
    """One trace per arm: a thousand trials draw fast."""
    bars = [bar for _, own in data.arms for bar in own]
    longest = max((bar.end for bar in bars), default=0.0)
    unit, seconds = next(((u, s) for u, s in UNITS if longest >= 3 * s), UNITS[-1])
    y = {
        "title": {"text": ""},
        "tickvals": [host.first + (host.lanes - 1) / 2 for host in data.hosts],
        "ticktext": [host.name for host in data.hosts],
        "range": [max(FEWEST_LANES, sum(host.lanes for host in data.hosts)) - 0.5, -0.5],
        "automargin": True,
        "zeroline": False,
        "showgrid": False,
        "ticks": "",
    }
    x = {"title": {"text": f"time since the study's start [{unit}]"}, "rangemode": "tozero", "zeroline": False}
    states = [bar.state for bar in bars]
    lanes = "one lane for each trial running at the same time"
    subtitle = " · ".join([_counted(states), lanes, "hatched: failed or stopped, pale: running"])
    empty = "Bars appear with the first trial."
    drawing = layout(x, y, subtitle, revision, summary=_summary(data, longest), empty=empty)
    drawing |= {"barmode": "overlay", "bargap": 0}
    traces = [_trace(name, own, i, seconds, unit) for i, (name, own) in enumerate(data.arms)]
    return {"data": traces, "layout": drawing}


def _trace(arm: str, bars: Sequence[Bar], index: int, seconds: float, unit: str) -> Trace:
    colour, _ = arm_style(index)
    spans = [(bar.start / seconds, (bar.end - bar.start) / seconds) for bar in bars]
    words = [f"started at {number(start)} {unit}, took {number(length)} {unit}" for start, length in spans]
    marker: Trace = {"color": colour, "line": EDGE}
    if any(bar.state is not TrialState.FINISHED for bar in bars):
        marker["opacity"] = [0.45 if bar.state is TrialState.RUNNING else 1.0 for bar in bars]
        marker["pattern"] = {"shape": [HATCHING.get(bar.state, "") for bar in bars], "size": 6, "solidity": 0.4}
    return {
        "type": "bar",
        "orientation": "h",
        "name": arm,
        "base": [short(start) for start, _ in spans],
        "x": [short(length) for _, length in spans],
        "y": [bar.lane for bar in bars],
        "width": 0.8,
        **hover(f"{bar.label}, {bar.state.value}<br>{said}" for bar, said in zip(bars, words, strict=True)),
        "textposition": "none",
        "customdata": [bar.trial for bar in bars],
        "marker": marker,
    }


def _counted(states: Iterable[TrialState]) -> str:
    """`12 finished, 1 failed`."""
    listed = list(states)
    return ", ".join(f"{n} {state.value}" for state in TrialState if (n := listed.count(state))) or "no trial yet"


def _summary(data: TimelineData, longest: float) -> str:
    bars = [bar for _, own in data.arms for bar in own]
    lanes = sum(host.lanes for host in data.hosts)
    where = plural(len(data.hosts), "host")
    return (
        f"{plural(len(bars), 'trial')} on {where} within {duration(longest)}, at most {lanes} at once"
        if bars
        else "no trial yet"
    )


def figure(asked: Asked) -> PlotlyFigure:
    return draw_timeline(timeline_data(asked.view, datetime.now(UTC)), asked.revision)


FIGURE = Figure(
    "timeline",
    "Timeline of trials",
    "when each trial ran, side by side on the hosts that trained them",
    "runs",
    (),
    figure,
)
