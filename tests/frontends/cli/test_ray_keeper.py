"""The keeper of Ray: it comes back where the service knows it, and not for ever."""

from __future__ import annotations

import errno
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from frontends.cli import ray_keeper
from frontends.cli.local_ray import LocalRay, RayDidNotStart
from frontends.cli.ray_keeper import ENDS, RayKeeper
from frontends.home import NEEDED_BYTES
from tests.frontends.cli.test_local import Clock, Process


class Ray:
    """Stands in for a `LocalRay` that ends at once whenever it was started again, until so many lives are over."""

    def __init__(self, lives: int, failure: Exception | None = None) -> None:
        self.lives, self.failure, self.stopped = lives, failure, 0
        self.process = Process()

    def alive(self) -> bool:
        return False

    def stop(self) -> None:
        self.stopped += 1

    def again(self, home: Path, cpus: int | None, ending: threading.Event) -> Ray:
        if self.failure is not None:
            raise self.failure
        self.lives -= 1
        if self.lives == 0:
            ending.set()
        return self


def kept(monkeypatch: pytest.MonkeyPatch, home: Path, ray: Any, seconds: float = 0.0) -> RayKeeper:
    """After `run`, with so many seconds between two looks."""
    clock = Clock()
    monkeypatch.setattr(ray_keeper, "time", clock)
    monkeypatch.setattr(ray_keeper, "LOOK_SECONDS", 0)
    keeper = RayKeeper(ray, home, 1)
    again = ray.again

    def later(*arguments: Any) -> Any:
        clock.now += seconds
        return again(*arguments)

    ray.again = later
    keeper.run()
    return keeper


def test_a_ray_that_ends_is_started_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ray = Ray(lives=ENDS)
    assert kept(monkeypatch, tmp_path, ray).given_up is None
    assert (ray.stopped, ray.lives) == (ENDS, 0), "what outlived it is ended first"


def test_a_ray_that_ends_too_often_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ray = Ray(lives=100)
    said = f"Ray ended {ENDS + 1} times in ten minutes; see {tmp_path / 'ray.log'}"
    assert kept(monkeypatch, tmp_path, ray, 119).given_up == said
    assert ray.lives == 100 - ENDS


def test_ends_that_lie_further_apart_are_not_too_many(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ray = Ray(lives=100)
    assert kept(monkeypatch, tmp_path, ray, 121).given_up is None and ray.lives == 0


@pytest.mark.parametrize("failure", [RayDidNotStart("its port is taken"), OSError("its port is taken")])
def test_a_ray_that_cannot_be_started_again_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failure: Exception
) -> None:
    said = "Ray ended by itself and could not be started again: its port is taken"
    assert kept(monkeypatch, tmp_path, Ray(lives=1, failure=failure)).given_up == said


class Crowded(Ray):
    """One whose disk is full for so many starts."""

    def __init__(self, starts: int, failure: Exception) -> None:
        super().__init__(lives=1)
        self.starts, self.refusal = starts, failure

    def again(self, home: Path, cpus: int | None, ending: threading.Event) -> Ray:
        self.starts -= 1
        if self.starts >= 0:
            raise self.refusal
        return super().again(home, cpus, ending)


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left"), RayDidNotStart("it could not write")])
def test_a_ray_whose_disk_is_full_is_started_when_there_is_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ray_keeper, "ROOM_LOOK_SECONDS", 0)
    full = SimpleNamespace(free=NEEDED_BYTES - 1)
    monkeypatch.setattr("frontends.home.shutil", SimpleNamespace(disk_usage=lambda place: full))
    ray = Crowded(5 * ENDS, failure)
    assert kept(monkeypatch, tmp_path, ray).given_up is None and ray.lives == 0
    assert [record.getMessage() for record in caplog.records] == [
        "Ray ended by itself and is started again; studies go on",
        f"the disk of {tmp_path} is full: Ray is started again when there is room",
    ]


def test_a_start_that_is_no_longer_wanted_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ended = threading.Event()
    ended.set()
    process: Any = Process()
    stopped: list[LocalRay] = []
    ray = LocalRay("http://127.0.0.1:9", "", "", "secret", tmp_path / "t", tmp_path, process)
    monkeypatch.setattr(LocalRay, "_launch", staticmethod(lambda *arguments: ray))

    def stop(ray: LocalRay) -> None:
        stopped.append(ray)

    monkeypatch.setattr(LocalRay, "stop", stop)
    with pytest.raises(RayDidNotStart, match="no longer wanted"):
        ray.again(tmp_path, None, ended)
    assert stopped == [ray], "tried once"


def test_the_address_of_jobs_and_the_token_stay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    launched: list[tuple[Any, ...]] = []
    process: Any = None
    before = LocalRay("http://127.0.0.1:8265", "", "", "secret", tmp_path / "t", tmp_path / "ray", process)

    def launch(*arguments: Any) -> LocalRay:
        launched.append(arguments)
        return before

    monkeypatch.setattr(LocalRay, "_launch", staticmethod(launch))
    monkeypatch.setattr(LocalRay, "_wait_until_ready", lambda *arguments: None)
    before.again(tmp_path, 3, threading.Event())
    assert launched == [(tmp_path, tmp_path / "ray", tmp_path / "t", "secret", 3, 8265)]
