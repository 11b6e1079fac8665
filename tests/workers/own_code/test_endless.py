"""User code without an end, or without measure: it is ended, with the line where it was."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from pathlib import Path
from textwrap import dedent

import pytest

from service.contract.methods.data import OwnData
from service.contract.methods.models import OwnModel
from service.contract.methods.own_description import Described
from service.contract.methods.own_problems import of_trial
from service.contract.methods.weightings import Uniform
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Training
from tests.workers.own_code.parts import CPU, reports, trial, two_heads, written
from workers.own_code import room
from workers.own_code.errors import CodeError
from workers.own_code.loaded import LoadedCode
from workers.own_code.script import run_script
from workers.own_code.watching import Watch

HANGS = two_heads().replace('return {"class"', 'while self.width: pass\n        return {"class"')
LINE = HANGS.splitlines().index("        while self.width: pass") + 1


@pytest.mark.timeout(60)
def test_an_endless_loop_in_losses_is_ended_at_its_line(tmp_path: Path) -> None:
    code = written(tmp_path, HANGS)
    words = rf"mine.py:{LINE}: StillRunning: the study's limits.seconds is over, and this had run for .* s without"
    with Watch(lambda: "the study's limits.seconds is over", least=0.2), pytest.raises(CodeError, match=words):
        reports(code, [trial("t0"), trial("t1", seed=1)])


@pytest.mark.timeout(60)
def test_a_script_that_catches_everything_is_ended_too(tmp_path: Path) -> None:
    code = written(
        tmp_path,
        """
        from paretoscope import trainable

        @trainable(metrics={"acc": "maximize"})
        def endless(trial):
            for _ in range(2):
                try:
                    while True:
                        pass
                except Exception:
                    pass
        """,
    )
    told = Described.model_validate(
        {"name": "endless", "kind": "script", "metrics": [{"name": "acc", "goal": "maximize"}]}
    )
    planned = PlannedTrial("t0", "a", 0, {}, of_trial(told)(name="endless"), Uniform(), OwnModel(), Training())
    with Watch(lambda: "the study's limits.seconds is over", least=0.2) as watch:
        (last,) = run_script(code, planned, watch=watch)
    assert last.failures == {"t0": "endless ended without a report: it has to call trial.report"}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("stacked", [False, True])
def test_a_batch_that_does_not_end_is_ended_by_itself_at_its_line(tmp_path: Path, stacked: bool) -> None:
    """Nobody has paused anything, and there is no time limit: the loop begins after some batches."""
    loops = 'self.calls = getattr(self, "calls", 0) + 1\n        while self.calls > 40: pass\n        return {"class"'
    text = two_heads().replace('return {"class"', loops)
    line = text.splitlines().index("        while self.calls > 40: pass") + 1
    (tmp_path / "mine.py").write_text(text)
    signs: list[Watch] = []
    code = LoadedCode(tmp_path, "mine.py", lambda: [watch.alive() for watch in signs] and None)
    cohort = code.cohort([trial("t0"), trial("t1", seed=1)], OwnData(), CPU)
    cohort._go(stacked)
    assert cohort.stacks is stacked
    words = rf"mine.py:{line}: StillRunning: this had run for .* s, and PARETOSCOPE_CODE_SILENT_SECONDS is 1 "
    with Watch(lambda: None, most=1.0) as watch, pytest.raises(CodeError, match=words):
        signs.append(watch)
        for epoch in range(99):
            cohort.train_epoch(epoch)
    assert watch.ended


def test_a_batch_has_its_own_time_however_many_there_are() -> None:
    now, looked = [0.0], threading.Event()

    def clock() -> float:
        looked.set()
        return now[0]

    with Watch(lambda: None, clock=clock, most=1.0) as watch:
        for _ in range(3):
            now[0] += 0.9
            watch.alive()
            looked.clear()
            assert looked.wait(10)
    assert watch.ended is None


def test_code_that_reports_in_time_or_is_still_waited_for_goes_on() -> None:
    now, asked = [0.0], threading.Event()

    def unwanted() -> None:
        asked.set()

    watch = Watch(unwanted, clock=lambda: now[0], least=1.0)
    now[0] = 100.0
    watch.heard()  # the longest was 100 s
    with watch:
        now[0] = 390.0
        assert not asked.wait(1.2), "it was silent for less than three times as long"
        now[0] = 410.0
        assert asked.wait(10), "asked, and told that reports are still wanted: nothing is raised"


def test_more_memory_than_there_is_for_it_is_told_at_the_line(tmp_path: Path) -> None:
    """In a process of its own, whose limit stays."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    greedy = two_heads().replace('return {"class"', 'torch.empty(4 * 10**9)\n        return {"class"')
    (tmp_path / "mine.py").write_text(greedy)
    line = greedy.splitlines().index("        torch.empty(4 * 10**9)") + 1
    (tmp_path / "run.py").write_text(
        dedent(
            """
            import sys
            from pathlib import Path
            from tests.workers.own_code.parts import reports, trial
            from workers.own_code.loaded import LoadedCode
            from workers.own_code.room import limit_memory
            limit_memory(1)
            try:
                reports(LoadedCode(Path(sys.argv[1]), "mine.py"), [trial("t0"), trial("t1", seed=1)])
            except Exception as error:
                print(error)
            """
        )
    )
    environment = {"PARETOSCOPE_CODE_MEMORY_GB": "8", "PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": ""}
    command = [sys.executable, str(tmp_path / "run.py"), str(tmp_path)]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"mine.py:{line}: out of memory: this process may use 8 GB; RuntimeError: "), said
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_those_that_run_at_once_share_three_quarters_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.delenv(room.SETTING, raising=False)
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: set_to.append(limits))
    monkeypatch.setattr(room, "OF_CONTAINER", tmp_path / "memory.max")
    (tmp_path / "memory.max").write_text("1000000000\n")
    room.limit_memory(processes)
    assert processes * set_to[0][0] == pytest.approx(750_000_000, abs=processes)
    assert set_to[0][1] == resource.getrlimit(resource.RLIMIT_DATA)[1]


def test_what_is_set_is_for_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(room.SETTING, "2.5")
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: set_to.append(limits))
    room.limit_memory(4)
    assert set_to[0][0] == 2_500_000_000
