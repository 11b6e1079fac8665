"""Watching in a terminal: progress per arm, the front, the verdict; asked for now and then, not all the time."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from typing import Any

import pytest
from rich.console import Console, RenderableType

from frontends.cli.follow import Watching
from frontends.client import Client, StudyHandle
from tests.frontends.test_cli import run
from tests.processes import BIN, Running, environment, until


def begin(service: Running, spec: dict[str, Any], end: bool) -> str:
    """Every trial of a study has reported; they finish, and the study with them, only if asked."""
    study = str(service.post("/api/studies", json={**spec, "name": "seen"}).json()["id"])
    trials = service.get(f"/api/studies/{study}/trials").json()["trials"]
    events: list[dict[str, Any]] = [{"kind": "study_started"}]
    for i, trial in enumerate(trials):
        metrics = {"epoch": 3, "seconds": 1.0, "i_xz_bits": 10.0 - i, "i_zy_bits": 3.0 - i / 10}
        events.append({"kind": "report", "trial": trial["id"], "metrics": metrics})
        events += [{"kind": "trial_finished", "trial": trial["id"]}] if end else []
    send(service, study, *events, *([{"kind": "study_finished"}] if end else []))
    return study


def send(service: Running, study: str, *events: dict[str, Any]) -> None:
    sent = [{"uid": str(event), **event} for event in events]
    service.post(f"/api/studies/{study}/reports", json={"events": sent}).raise_for_status()


def shown(view: RenderableType, width: int) -> list[str]:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(view)
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.mark.parametrize("width", [80, 40])
def test_progress_front_and_verdict_fit_the_terminal(service: Running, spec: dict[str, Any], width: int) -> None:
    study = begin(service, spec, end=False)
    with Client(service.url) as client:
        handle = client.study(study)
        lines = shown(Watching(handle).view(handle.read(), (width, 24)), width)
        verdict = handle.comparison()["verdict"]
    assert len(lines) <= 24 and max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "manual β" in text and "0/4 trials" in text and "I(X;Z) [bits], less is better" in text
    assert text.count("●") > 1 and text.count("◆") > 1
    assert " ".join(text.split()).endswith(" ".join(verdict.split()))


def test_a_low_terminal_gets_no_plot(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=False)
    with Client(service.url) as client:
        handle = client.study(study)
        assert "│" not in "\n".join(shown(Watching(handle).view(handle.read(), (80, 12)), 80))


class Counted(StudyHandle):
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


def test_without_a_terminal_there_are_lines_and_the_verdict_at_the_end(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=True)
    verdict = service.get(f"/api/studies/{study}/comparison").json()["verdict"]
    for command in ("watch", "show"):
        answer = run(command, study, url=service.url)
        assert answer.returncode == 0 and "\x1b" not in answer.stdout
        assert " ".join(answer.stdout.split()).endswith(" ".join(verdict.split()))
    assert run("watch", study, url=service.url).stdout.startswith("finished 100%  6/6 trials")


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
