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
from workers.own_code import script
from workers.own_code.script import run_script
from workers.own_code.trial import Said, Saved, Trial
from workers.own_code.watching import PAUSED, Watch
from workers.training.loop import Progress

pytestmark = pytest.mark.timeout(60)

SPEC = Described(
    name="grow",
    kind="script",
    metrics=[OwnMetric(name="size", goal="maximize")],
    parameters=[Parameter(name="steps", kind="int", default=3)],
)


class Keeper:
    """Keeps what is saved; it is to leave after so many reports, or when something was kept."""

    def __init__(self, reports: int | None = None, kept: bool = False) -> None:
        self.is_to_leave = reports == 0
        self.leaves_after, self._leaves_when_kept = reports, kept
        self.kept: list[tuple[int, bytes]] = []
        self.left: list[Progress] = []

    def __call__(self, progress: Progress) -> bool:
        (content,) = progress.state().values()
        self.kept.append((progress.epoch, content.numpy().tobytes()))
        self.is_to_leave = self._leaves_when_kept
        return self.is_to_leave

    def leave(self, progress: Progress) -> None:
        self.left.append(progress)


def run(folder: Path, body: str, steps: int = 3, keeper: Keeper | None = None, **options: Any) -> list[EpochReport]:
    head = "import sys, time\nfrom paretoscope import trainable\n\n@trainable(metrics={'size': 'maximize'})\n"
    code = written(folder, f"{head}def grow(trial, steps: int = 3):\n{body}")
    problem = of_trial(SPEC).model_validate({"name": "grow", "steps": steps})
    planned = PlannedTrial("t", "arm", 7, {}, problem, Fixed(), OwnModel(), Training())
    reports = []
    for report in run_script(code, planned, keeper=keeper, **options):
        reports.append(report)
        if keeper and keeper.leaves_after == len(reports):
            keeper.is_to_leave = True
    return reports


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
    seconds = [report.metrics["t"]["seconds"] or 0 for report in reports[:-1]]
    assert seconds == sorted(seconds)


def test_seconds_are_those_of_training_alone_each_counted_once(tmp_path: Path) -> None:
    """Two seconds before each report, five until it was taken; and seven before the trial was killed."""
    clock, told = 0.0, list[float]()

    def say(said: Said) -> None:
        nonlocal clock
        told.append(said.seconds)
        clock += 5.0
        trial.go_on()

    trial = Trial(7, {}, tmp_path, ["size"], Saved(None, 0, 7.0), say, lambda: clock)
    for size in range(3):
        clock += 2.0
        trial.report(size=size)
    trial.save(b"x")
    assert told == [9.0, 11.0, 13.0] and trial.saved_at.seconds == 13.0


def test_it_knows_its_seed_its_values_and_a_folder_of_its_own(tmp_path: Path) -> None:
    body = """
    assert trial.config == {"steps": 5} and steps == 5 and trial.saved is None and not trial.should_stop
    (trial.folder / "notes").write_text("x")
    trial.report(size=trial.seed, epoch=20)
    """
    assert sizes(run(tmp_path, body, steps=5)) == [(20, 7)]


def test_the_next_report_waits_until_the_one_before_was_taken(tmp_path: Path) -> None:
    """So that what is saved belongs to what was told."""
    keeper = Keeper()
    run(tmp_path, LOOP, steps=4, keeper=keeper)
    assert keeper.kept == [(2, b"2")] and not keeper.left


def test_a_function_that_was_killed_goes_on_from_what_it_saved(tmp_path: Path) -> None:
    keeper = Keeper(reports=4)
    first = run(tmp_path, LOOP, steps=6, keeper=keeper)
    assert sizes(first) == [(1, 10), (2, 20), (3, 30), (4, 40)] and not first[-1].final
    (left,) = keeper.left
    rest = run(tmp_path, LOOP, steps=6, begun=left)
    assert sizes(rest) == [(5, 50), (6, 60)] and rest[-1].final, "it saved after its last report, and that counts"
    assert (rest[0].metrics["t"]["seconds"] or 0) >= left.seconds


def test_a_function_that_is_left_ends_with_its_next_report(tmp_path: Path) -> None:
    body = (
        "    try:\n        for i in range(99):\n            trial.report(size=i)\n    except Exception:\n        pass\n"
    )
    assert sizes(run(tmp_path, body, keeper=Keeper(reports=1))) == [(1, 0)]
    assert not [thread for thread in threading.enumerate() if thread.name == "grow"]


def test_a_function_that_looks_sees_that_it_is_to_stop_and_has_a_last_word(tmp_path: Path) -> None:
    body = """
    while not trial.should_stop:
        time.sleep(0.001)
    trial.report(size=5)
    trial.save(b"half way")
    """
    keeper = Keeper(reports=0)
    reports = run(tmp_path, body, keeper=keeper)
    assert sizes(reports) == [(1, 5)] and not reports[-1].final
    (left,) = keeper.left
    assert left.epoch == 1 and left.state()["saved"].numpy().tobytes() == b"half way"


def test_what_is_saved_is_kept_before_anything_was_reported(tmp_path: Path) -> None:
    body = """
    if trial.saved is None:
        trial.save(b"much work")
        while not trial.should_stop:
            time.sleep(0.001)
    else:
        trial.report(size=len(trial.saved))
    """
    keeper = Keeper(kept=True)
    assert run(tmp_path, body, keeper=keeper) == [] and keeper.kept == [(0, b"much work")]
    (left,) = keeper.left
    assert not left.is_empty
    assert sizes(run(tmp_path, body, begun=left)) == [(1, 9)]


def test_a_function_that_never_looks_is_made_to_leave_and_has_not_failed(tmp_path: Path) -> None:
    body = """
    try:
        for _ in range(10**7):
            time.sleep(0.001)
    except Exception:
        pass
    trial.report(size=1)
    """
    keeper = Keeper(reports=0)
    with Watch(lambda: PAUSED, least=0.2) as watch:
        reports = run(tmp_path, body, keeper=keeper, watch=watch)
    assert sizes(reports) in ([], [(1, 1)]) and not any(report.failures or report.final for report in reports)
    assert [progress.is_empty for progress in keeper.left] == [True], "it begins anew"


def test_a_function_in_a_call_that_does_not_return_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "PATIENCE", 0.1)
    keeper = Keeper(reports=0)
    with Watch(lambda: PAUSED, least=0.1) as watch:
        assert run(tmp_path, "    time.sleep(4)\n", keeper=keeper, watch=watch) == []
    assert len(keeper.left) == 1


def test_a_function_that_ends_before_it_knows_has_ended(tmp_path: Path) -> None:
    keeper = Keeper(reports=1)
    reports = run(tmp_path, "    trial.report(size=1)\n", keeper=keeper)
    assert [report.final for report in reports] == [False, True] and not keeper.left


def test_a_function_that_had_only_its_end_left_has_ended_well(tmp_path: Path) -> None:
    keeper = Keeper(reports=2)
    run(tmp_path, LOOP + "    trial.report(size=0)\n", steps=2, keeper=keeper)
    (last,) = run(tmp_path, LOOP, steps=2, begun=keeper.left[0])
    assert last.final and not last.failures, "what it reported before counts"


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


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_last_report_without_a_number_fails_the_trial_at_its_line(tmp_path: Path, value: str) -> None:
    reports = run(tmp_path, f"\n    trial.report(size=1)\n    trial.report(size=float('{value}'))\n")
    assert reports[-1].failures == {"t": f"mine.py:8: trial.report got {value} for size, and nothing after it"}
    assert sizes(reports) == [(1, 1), (2, None)]


def test_a_report_without_a_number_before_another_fails_nothing(tmp_path: Path) -> None:
    reports = run(tmp_path, "\n    trial.report(size=float('nan'))\n    trial.report(size=1)\n")
    assert not reports[-1].failures and sizes(reports) == [(1, None), (2, 1)]
