"""A study followed to its end: progress per arm, the front, the verdict; lines where there is no terminal."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from frontends.cli.display import comparison_table, objectives_line, places_table, progress_view, state_words
from frontends.cli.plot import SHORTEST, ArmPoints, PlotAxis, front_plot
from frontends.cli.terminal import out, print_json, say
from frontends.client import Answer, ClientError, Study
from service.contract.wording.numbers import percent
from service.contract.wording.palette import arm_style

FRONT_EVERY = 1.0  # seconds, at least
FRONT_SHARE = 0.2  # of the time, at most: a large study takes longer to compare
WIDEST, TALLEST = 80, 14


def plot_of(state: Answer, front: Answer, width: int, height: int) -> Text:
    """The front as the service answers it, in the terminal's characters."""
    metrics = {metric["name"]: metric for metric in state["metrics"]}
    axes = []
    for name, goal in zip((front["x"], front["y"]), front["goals"], strict=True):
        label, unit = metrics[name]["label"], metrics[name]["unit"]
        shown = f"{label} [{unit}]" if unit else label
        axes.append(PlotAxis(shown, goal == "minimize", bool(unit) and goal == "minimize"))
    arms = [
        ArmPoints(arm["name"], i, arm_style(i)[0], [(point["x"], point["y"]) for point in arm["points"]])
        for i, arm in enumerate(front["arms"])
    ]
    return front_plot(arms, axes[0], axes[1], width, height)


def rows_of(view: RenderableType, width: int) -> int:
    """How many rows it takes on a terminal so wide."""
    return len(Console(width=width).render_lines(view))


class Watching:
    """What the terminal shows; the front and the verdict are asked for only now and then."""

    def __init__(self, study: Study, clock: Callable[[], float] = time.monotonic) -> None:
        self._study, self._clock = study, clock
        self._due, self._seen = -1.0, -1
        self._front: Answer | None = None
        self._verdict = ""

    def view(self, state: Answer, size: tuple[int, int]) -> RenderableType:
        """Progress, front and verdict; size is the terminal's columns and rows."""
        begun = self._clock()
        if begun >= self._due and state["last_seq"] != self._seen:
            try:
                self._front, self._verdict = self._study.front(), self._study.comparison()["verdict"]
                self._seen = state["last_seq"]
            except ClientError as error:
                if not error.is_temporary:  # else what was seen last stays, and is asked for again
                    raise
            took = self._clock() - begun
            self._due = begun + max(FRONT_EVERY, took / FRONT_SHARE)
        progress, verdict = progress_view(state, size[0]), Text(self._verdict, style="bold")
        if self._front is None:
            return Group(progress, verdict)
        width = min(WIDEST, size[0])
        least = Group(progress, Text(), plot_of(state, self._front, width, SHORTEST), Text(), verdict)
        left = size[1] - 1 - rows_of(least, size[0])  # the cursor has a row too
        if left < 0:
            return Group(progress, verdict)
        plot = plot_of(state, self._front, width, min(TALLEST, SHORTEST + left))
        return Group(progress, Text(), plot, Text(), verdict)


def follow(study: Study, as_json: bool) -> Answer:
    """Live until the study has ended: bars and the front on a terminal, a line per change elsewhere."""
    last: Answer = {}
    if as_json:
        for last in study.follow():
            print_json(last)
        return last
    if out.is_terminal:
        watching = Watching(study)
        with Live(console=out, refresh_per_second=4, transient=True) as live:
            for last in study.follow():
                live.update(watching.view(last, (out.width, out.height)))
        return last
    said = ""
    for last in study.follow():
        done = last["counts"]["finished"] + last["counts"]["failed"]
        why = f": {last['interrupted']}" if last.get("interrupted") else ""
        step = f"{last['state']} {int(last['progress'] * 10)}{why}"
        if step != said:
            share = percent(last["progress"])
            say(f"{state_words(last)} {share}  {done}/{last['counts']['planned']} trials{why}")
            said = step
    return last


def summarise(study: Study, state: Answer, as_json: bool) -> int:
    """The comparison and the verdict; exit code 0 only when the study finished."""
    comparison = study.comparison()
    if as_json:
        print_json({"study": state, "comparison": comparison})
    else:
        reason = f": {state['reason']}" if state["reason"] else ""
        out.print(Text(state["name"], style="bold").append(f"  {state['state']}{reason}", style="not bold"))
        if out.is_terminal:
            out.print(plot_of(state, study.front(), min(WIDEST, out.width), TALLEST))
        out.print(comparison_table(comparison))
        if comparison["pairs"]:
            out.print(places_table(comparison))
        out.print(Text(objectives_line(comparison), style="dim"))
        out.print(Text(comparison["verdict"], style="bold"))
        if comparison["gradients"]:
            out.print(Text(comparison["gradients"]))
    return 0 if state["state"] == "finished" else 1
