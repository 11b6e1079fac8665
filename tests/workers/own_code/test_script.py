"""A function that trains by itself: its reports, its faults, and how it goes on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from service.contract.methods.models import OwnModel
from service.contract.methods.own_description import Described, OwnMetric, Parameter
from service.contract.methods.own_problems import of_trial
from service.contract.methods.weightings import Fixed
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Training
from service.contract.wire.epoch_report import EpochReport
from tests.workers.own_code.parts import written
from workers.own_code.script import run_script
from workers.training.loop import Progress

SPEC = Described(
    name="grow",
    kind="script",
    metrics=[OwnMetric(name="size", goal="maximize")],
    parameters=[Parameter(name="steps", kind="int", default=3)],
)


def run(folder: Path, body: str, steps: int = 3, **options: Any) -> list[EpochReport]:
    head = "import sys\nfrom paretoscope import trainable\n\n@trainable(metrics={'size': 'maximize'})\n"
    code = written(folder, f"{head}def grow(trial, steps: int = 3):\n{body}")
    problem = of_trial(SPEC).model_validate({"name": "grow", "steps": steps})
    planned = PlannedTrial("t", "arm", 7, {}, problem, Fixed(), OwnModel(), Training())
    return list(run_script(code, planned, **options))


def sizes(reports: list[EpochReport]) -> list[tuple[Any, Any]]:
    return [(report.epoch, report.metrics["t"]["size"]) for report in reports if report.metrics]


LOOP = """
    start = int(trial.saved or b"0")
    for i in range(start, steps):
        trial.report(size=10 * (i + 1))
        if i % 2 == 1:
            trial.save(str(i + 1).encode())
"""


def test_every_report_of_the_function_is_one_of_the_trial(tmp_path: Path) -> None:
    reports = run(tmp_path, LOOP)
    assert sizes(reports) == [(1, 10), (2, 20), (3, 30)]
    assert [report.final for report in reports] == [False, False, False, True]
    assert not reports[-1].failures and reports[-1].epoch == 3
    seconds = [report.metrics["t"]["seconds"] for report in reports[:-1]]
    assert seconds == sorted(seconds)  # type: ignore[type-var]


def test_it_knows_its_seed_its_values_and_a_folder_of_its_own(tmp_path: Path) -> None:
    body = """
    assert trial.config == {"steps": 5} and steps == 5 and trial.saved is None and not trial.should_stop
    (trial.folder / "notes").write_text("x")
    trial.report(size=trial.seed, epoch=20)
    """
    assert sizes(run(tmp_path, body, steps=5)) == [(20, 7)]


def test_the_next_report_waits_until_the_one_before_was_taken(tmp_path: Path) -> None:
    """So that what is saved belongs to what was told."""
    seen: list[tuple[int, int]] = []

    def between(progress: Progress) -> bool:
        seen.append((progress.epoch, len(progress.state())))
        return False

    run(tmp_path, LOOP, steps=4, between=between)
    assert seen == [(0, 0), (0, 0), (2, 1), (2, 1)]


def test_a_function_that_was_killed_goes_on_from_what_it_saved(tmp_path: Path) -> None:
    kept: list[Progress] = []

    def leave(progress: Progress) -> bool:
        kept.append(progress)
        return len(kept) == 4

    first = run(tmp_path, LOOP, steps=6, between=leave)
    assert sizes(first) == [(1, 10), (2, 20), (3, 30), (4, 40)] and not first[-1].final
    rest = run(tmp_path, LOOP, steps=6, begun=kept[-1])
    assert sizes(rest) == [(3, 30), (4, 40), (5, 50), (6, 60)] and rest[-1].final
    assert rest[0].metrics["t"]["seconds"] >= kept[-1].seconds  # type: ignore[operator]


def test_a_function_that_is_left_ends_with_its_next_report(tmp_path: Path) -> None:
    body = (
        "    try:\n        for i in range(99):\n            trial.report(size=i)\n    except Exception:\n        pass\n"
    )
    assert sizes(run(tmp_path, body, between=lambda progress: progress.epoch == 0)) == [(1, 0)]
    assert not [thread for thread in threading.enumerate() if thread.name == "grow"]


def test_what_it_is_at_its_end_may_be_kept(tmp_path: Path) -> None:
    kept: list[tuple[int, bool]] = []
    run(tmp_path, LOOP, steps=4, at_last=lambda progress, last: kept.append((progress.epoch, last.final)))
    assert kept == [(4, True)]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    1 / 0", "mine.py:6: ZeroDivisionError: division by zero"),
        ("    sys.exit(3)", "mine.py:6: it ended the process: sys.exit(3)"),
        ("    pass", "grow ended without a report: it has to call trial.report"),
        ("    trial.report(szie=3)", "mine.py:6: ValueError: trial.report got 'szie', which is none of the declared"),
        ("    trial.report()", "mine.py:6: ValueError: trial.report lacks 'size'"),
        ("    trial.report(size='x')", "mine.py:6: TypeError: metric 'size' must be a number, got str"),
        ("    trial.report(size=1, epoch=0)", "mine.py:6: ValueError: epoch must be a whole number above 0"),
        ("    trial.save('x')", "mine.py:6: TypeError: trial.save takes bytes, got str"),
    ],
)
def test_a_fault_fails_the_trial_with_the_users_own_line(tmp_path: Path, body: str, words: str) -> None:
    (last,) = run(tmp_path, body)
    assert last.final and last.failures["t"].startswith(words)


def test_random_numbers_stand_at_the_seed(tmp_path: Path) -> None:
    body = "    import random, torch\n    trial.report(size=random.random() + torch.rand(()).item())\n"
    assert sizes(run(tmp_path, body)) == sizes(run(tmp_path, body))
