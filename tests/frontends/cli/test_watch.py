"""Watching in a terminal: progress per arm, the front, the verdict; asked for now and then, not all the time."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console, RenderableType

from frontends.cli.follow import Watching, follow, plot_of
from frontends.client import Client, ClientError, Study
from tests.frontends.cli.command_line import run
from tests.frontends.played import Playing, begin, send
from tests.frontends.unreliable import Unreliable, answering, refused
from tests.processes import BIN, Running, environment, until

METRICS = [
    {"name": "i_xz_bits", "label": "I(X;Z)", "unit": "bits"},
    {"name": "accuracy", "label": "accuracy", "unit": ""},
]


def shown(view: RenderableType, width: int) -> list[str]:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(view)
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 32)])
def test_progress_front_and_verdict_fit_the_terminal(
    service: Running, spec: dict[str, Any], width: int, height: int
) -> None:
    study = begin(service, spec, end=False)
    with Client(service.url) as client:
        handle = client.study(study)
        lines = shown(Watching(handle).view(handle.read(), (width, height)), width)
        verdict = handle.comparison()["verdict"]
    assert len(lines) <= height and max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "manual β" in text and "0/4 trials" in text and "I(X;Z) [bits], less is better" in text
    assert "I(Z;Y) [bits], more is better" in text
    assert re.search(r"^3.00 │.*^2.50 │.*^ +5.00 +10.0$", text, re.DOTALL | re.MULTILINE), "x from 5 to 10, y to 3"
    assert text.count("●") > 1 and text.count("◆") > 1
    assert " ".join(text.split()).endswith(" ".join(verdict.split()))


def test_a_low_terminal_gets_no_plot(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=False)
    with Client(service.url) as client:
        handle = client.study(study)
        assert "│" not in "\n".join(shown(Watching(handle).view(handle.read(), (80, 12)), 80))


class Counted(Study):
    """How often the front is asked for."""

    fronts = 0

    def front(self, x: str | None = None, y: str | None = None) -> dict[str, Any]:
        self.fronts += 1
        return super().front(x, y)


def test_the_front_is_asked_for_once_a_second_and_only_when_something_came(
    service: Running, spec: dict[str, Any]
) -> None:
    study = begin(service, spec, end=False)
    now = [0.0]
    with Client(service.url) as client:
        handle = Counted(client, study)
        watching = Watching(handle, clock=lambda: now[0])
        state = handle.read()
        for at, seq, asked in ((0.0, 1, 1), (0.5, 2, 1), (0.99, 3, 1), (1.0, 3, 2), (5.0, 3, 2), (5.1, 4, 3)):
            now[0] = at
            watching.view({**state, "last_seq": seq}, (80, 24))
            assert handle.fronts == asked


def test_a_slow_comparison_is_asked_for_less_often(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=False)
    times = iter([0.0, 2.0, 9.9, 10.0, 12.0])
    with Client(service.url) as client:
        handle = Counted(client, study)
        watching = Watching(handle, clock=lambda: next(times))
        state = handle.read()
        for seq, asked in ((1, 1), (2, 1), (3, 2)):
            watching.view({**state, "last_seq": seq}, (80, 24))
            assert handle.fronts == asked, "two seconds of work are a fifth of ten"


def test_a_service_that_is_away_leaves_the_last_front_and_a_refusal_is_told(
    service: Running, spec: dict[str, Any]
) -> None:
    study = begin(service, spec, end=False)
    network = Unreliable()
    now = [0.0]
    with Client(service.url, transport=network) as client:
        handle = client.study(study)
        watching = Watching(handle, clock=lambda: now[0])
        state = handle.read()
        seen = shown(watching.view(state, (80, 24)), 80)
        for at, fault in ((5.0, refused), (10.0, answering(503))):
            network.fail(fault)
            now[0] = at
            assert shown(watching.view({**state, "last_seq": 99}, (80, 24)), 80) == seen
        before = len(network.requests)
        now[0] = 15.0
        watching.view({**state, "last_seq": 99}, (80, 24))
        assert len(network.requests) == before + 2, "what did not come is asked for again without a new event"
        service.post(f"/api/studies/{study}/cancel").raise_for_status()
        handle.delete()
        now[0] = 20.0
        with pytest.raises(ClientError, match="no study"):
            watching.view({**state, "last_seq": 100}, (80, 24))


def test_without_a_terminal_a_line_is_printed_when_something_changed(
    service: Running, spec: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    study = begin(service, spec, end=False)
    network = Playing(service, study, {"kind": "study_finished"})
    with Client(service.url, transport=network) as client:
        assert follow(Study(client, study), as_json=False)["state"] == "finished"
    assert len(network.requests) == 3
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["running", "finished"]


class Told(Study):
    """A study whose states are told by the test."""

    def __init__(self, *states: tuple[str, float, int, int]) -> None:
        self._states = states

    def follow(self, every: float = 0.5, timeout: float | None = None) -> Iterator[dict[str, Any]]:
        for state, progress, finished, failed in self._states:
            counts = {"finished": finished, "failed": failed, "planned": 40}
            yield {"state": state, "progress": progress, "counts": counts}


def test_an_interruption_is_a_line_with_its_reason_and_so_is_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted(Told):
        def follow(self, every: float = 0.5, timeout: float | None = None) -> Iterator[dict[str, Any]]:
            for state, why in zip(super().follow(), (None, "Ray is away", "Ray is away", None), strict=True):
                yield {**state, "interrupted": why}

    follow(Interrupted(*[("running", 0.5, 20, 0)] * 4), as_json=False)
    assert capsys.readouterr().out.splitlines() == [
        "running 50 %  20/40 trials",
        "running, interrupted 50 %  20/40 trials: Ray is away",
        "running 50 %  20/40 trials",
    ]


def test_a_line_is_printed_per_tenth_of_the_way_and_per_state(capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(
        ("queued", 0.0, 0, 0),
        ("running", 0.0, 0, 0),
        ("running", 0.099, 3, 0),
        ("running", 0.1, 3, 1),
        ("running", 0.19, 7, 1),
        ("running", 0.2, 7, 1),
        ("cancelled", 0.2, 7, 1),
    )
    assert follow(told, as_json=False)["state"] == "cancelled"
    assert capsys.readouterr().out.splitlines() == [
        "queued 0 %  0/40 trials",
        "running 0 %  0/40 trials",
        "running 10 %  4/40 trials",
        "running 20 %  8/40 trials",
        "cancelled 20 %  8/40 trials",
    ]


class Still(Study):
    """One arm with one point, and a verdict of one line."""

    def __init__(self) -> None:
        pass

    def front(self, x: str | None = None, y: str | None = None) -> dict[str, Any]:
        arms = [{"name": "a", "points": [{"x": 1.0, "y": 1.0}]}]
        return {"x": "i_xz_bits", "y": "accuracy", "goals": ["minimize", "maximize"], "arms": arms}

    def comparison(self) -> dict[str, Any]:
        return {"verdict": "one arm alone"}


@pytest.mark.parametrize(
    ("columns", "rows", "plot"), [(80, 14, 0), (80, 15, 4), (80, 16, 5), (80, 24, 13), (80, 25, 14), (200, 99, 14)]
)
def test_the_plot_takes_the_rows_that_are_left_up_to_fourteen_and_eighty_columns(
    columns: int, rows: int, plot: int
) -> None:
    counts = {"finished": 1, "failed": 0, "planned": 2}
    state = {
        "name": "s",
        "state": "running",
        "eta_seconds": None,
        "last_seq": 1,
        "metrics": METRICS,
        "arms": [{"name": "a", "counts": counts, "progress": 0.5, "hypervolume": 1.0}],
    }
    lines = shown(Watching(Still()).view(state, (columns, rows)), columns)
    drawn = [line for line in lines if "│" in line]
    assert len(drawn) == plot and len(lines) < rows and lines[-1] == "one arm alone"
    assert max(len(line) for line in lines if "─" in line or not plot) <= 80


def axes_drawn(**front: Any) -> tuple[str, str]:
    """The names of both axes, for points a hundredfold apart."""
    arms = [{"name": "a", "points": []}, {"name": "b", "points": [{"x": 0.1, "y": 0.1}, {"x": 10.0, "y": 10.0}]}]
    lines = plot_of({"metrics": METRICS}, {"arms": arms, **front}, 60, 4).plain.split("\n")
    assert lines[-1].strip() == "● a   ◆ b", "an arm without points keeps its marker"
    return lines[-2].strip(), lines[0]


def test_axes_have_their_label_unit_and_goal_and_a_log_scale_where_less_of_a_unit_is_better() -> None:
    less, more = "less is better", "more is better"
    assert axes_drawn(x="i_xz_bits", y="accuracy", goals=["minimize", "maximize"]) == (
        f"I(X;Z) [bits], {less}, log",
        f"accuracy, {more}",
    )
    assert axes_drawn(x="accuracy", y="i_xz_bits", goals=["minimize", "maximize"]) == (
        f"accuracy, {less}",
        f"I(X;Z) [bits], {more}",
    )


def test_without_a_terminal_there_are_lines_and_the_verdict_at_the_end(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=True)
    verdict = service.get(f"/api/studies/{study}/comparison").json()["verdict"]
    for command in ("watch", "show"):
        answer = run(command, study, url=service.url)
        assert answer.returncode == 0 and "\x1b" not in answer.stdout
        assert " ".join(answer.stdout.split()).endswith(" ".join(verdict.split()))
    assert run("watch", study, url=service.url).stdout.startswith("finished 100 %  6/6 trials")


def test_a_real_terminal_sees_the_front_move_and_then_the_summary(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=False)
    ours, theirs = pty.openpty()
    settings = {"PARETOSCOPE_URL": service.url, "COLUMNS": "80", "LINES": "30", "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [str(BIN / "paretoscope"), "watch", study], env=environment(**settings), stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = ""

    def reads(words: str) -> bool:
        nonlocal seen
        seen += os.read(ours, 65536).decode(errors="replace")
        return words in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen)

    try:
        until(lambda: reads("I(X;Z) [bits], less is better"), "the front is drawn")
        trials = service.get(f"/api/studies/{study}/trials").json()["trials"]
        ends = [{"kind": "trial_finished", "trial": trial["id"]} for trial in trials]
        send(service, study, *ends, {"kind": "study_finished"})
        until(lambda: reads("Objectives: minimize i_xz_bits"), "the summary")
        assert process.wait(timeout=30) == 0
    finally:
        process.terminate()
        process.wait(timeout=20)
        os.close(ours)
