"""The keeper of the service: how often it starts it again, and how it ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from frontends.cli import local
from frontends.cli.local import ServiceKeeper
from service.contract.wire.exits import BAD_SETTINGS, STORE_AWAY
from tests.frontends.cli.test_local import Clock, Process


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(local, "time", clock)
    return clock


class Dying:
    """A service that dies at once; so many seconds pass until it is started again."""

    def __init__(self, clock: Clock, *seconds: float) -> None:
        self.clock, self.seconds, self.started = clock, list(seconds), 0

    def __call__(self) -> Process:
        self.started += 1
        process = Process()
        process.code = 1
        if self.seconds:
            self.clock.now += self.seconds.pop(0)
        return process


def kept(home: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, *seconds: float) -> tuple[ServiceKeeper, Dying]:
    (home / "service.log").write_text("".join(f"line {i}\n" for i in range(20)))
    keeper, dying = ServiceKeeper({}, home, {}), Dying(clock, *seconds)
    monkeypatch.setattr(keeper, "_start", dying)
    keeper.run()
    return keeper, dying


def test_six_ends_in_a_minute_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    keeper, dying = kept(tmp_path, monkeypatch, clock, *[11.9] * 5)
    assert dying.started == 6
    lines = [f"line {i}" for i in range(12, 20)]
    assert keeper.given_up == "\n".join(["the service ended 6 times in a minute; its log ends:", *lines])


def test_a_service_that_is_set_wrongly_is_started_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(Process, "poll", lambda process: BAD_SETTINGS)
    keeper, dying = kept(tmp_path, monkeypatch, clock)
    assert dying.started == 1 and keeper.given_up == "the service cannot start as it is set: line 19"


def test_how_long_it_leaves_is_the_service_s_to_check(tmp_path: Path) -> None:
    assert ServiceKeeper({"PARETOSCOPE_LEAVE_SECONDS": "long"}, tmp_path, {}).given_up is None


def test_ends_that_lie_further_apart_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """One in a quarter of an hour, for a day, and then one that never comes up."""
    keeper, dying = kept(tmp_path, monkeypatch, clock, *[900.0] * 100, *[12.1] * 100, 900.0, *[0.0] * 5)
    assert dying.started == 201 + 6 and keeper.given_up is not None


def test_ends_of_hours_ago_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Five in its first minute, then it runs for hours: its next end is the first of another minute."""
    keeper, dying = kept(tmp_path, monkeypatch, clock, *[1.0] * 5, 7200.0, *[1.0] * 5)
    assert dying.started == 6 + 6 and keeper.given_up is not None


class Waiting(Dying):
    """A service that was killed and then finds its store away, so many times."""

    def __init__(self, clock: Clock, first: int, times: int) -> None:
        super().__init__(clock)
        self.codes = [first, *[STORE_AWAY] * times]

    def __call__(self) -> Process:
        process = super().__call__()
        process.code = self.codes.pop(0) if self.codes else 1
        return process


@pytest.mark.parametrize(("first", "started"), [(-9, 41 + 5), (STORE_AWAY, 6)])
def test_a_store_that_is_away_is_waited_for_once_it_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, first: int, started: int
) -> None:
    monkeypatch.setattr(local, "STORE_LOOK_SECONDS", 0)
    (tmp_path / "service.log").write_text("")
    keeper, waiting = ServiceKeeper({}, tmp_path, {}), Waiting(clock, first, 40)
    monkeypatch.setattr(keeper, "_start", waiting)
    keeper.run()
    assert waiting.started == started and keeper.given_up is not None


class Full(Dying):
    """It is killed, then ends so many times because its disk is full, then as many times as it takes to give up."""

    def __init__(self, clock: Clock, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(clock)
        self.times = times
        monkeypatch.setattr(local, "has_no_room", lambda *_: 1 < self.started <= self.times + 1)


def test_a_service_whose_disk_is_full_is_tried_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(local, "STORE_LOOK_SECONDS", 0)
    (tmp_path / "service.log").write_text("the store's disk is full\n")
    keeper, full = ServiceKeeper({}, tmp_path, {}), Full(clock, 60, monkeypatch)
    monkeypatch.setattr(keeper, "_start", full)
    keeper.run()
    assert full.started == 60 + 6, "what it ends of otherwise is counted as ever"
    assert [record.getMessage() for record in caplog.records] == [
        "the service cannot start, and is tried until it can: the store's disk is full"
    ]


def test_a_service_that_cannot_even_be_started_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = ServiceKeeper({}, tmp_path, {})

    def start() -> Process:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(keeper, "_start", start)
    keeper.run()
    assert keeper.given_up == "the service could not be started: [Errno 12] Cannot allocate memory"


def test_a_keeper_that_is_ended_starts_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = ServiceKeeper({}, tmp_path, {})
    started: list[int] = []

    def start() -> Process:
        started.append(1)
        keeper._ending.set()
        process = Process()
        process.code = 0
        return process

    monkeypatch.setattr(keeper, "_start", start)
    keeper.run()
    assert (started, keeper.given_up) == ([1], None)


DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"


@pytest.fixture
def deaf() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"deaf\n"
        yield process
        process.kill()


def test_a_service_that_does_not_end_is_killed(deaf: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    plain, waited = deaf.wait, list[float | None]()

    def wait(timeout: float | None = None) -> int:
        waited.append(timeout)
        return plain(timeout=0.01 if len(waited) == 1 else timeout)

    monkeypatch.setattr(deaf, "wait", wait)
    ServiceKeeper._end_process(deaf, 25)
    assert (deaf.returncode, waited) == (-signal.SIGKILL, [25, 5])
