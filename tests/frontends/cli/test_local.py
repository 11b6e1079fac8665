"""What `up` starts and how it ends, with stand-ins for Ray and the service: variables, failures, restarts."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from frontends.cli import local
from frontends.cli.local import Interrupted, Local, LocalError, listen
from frontends.cli.local_ray import LocalRay, RayDidNotStart


class Process:
    """Runs until it is told to have ended with a code."""

    def __init__(self) -> None:
        self.code: int | None = None

    def poll(self) -> int | None:
        return self.code


class Ray:
    """Stands in for a `LocalRay`."""

    jobs_url, address = "http://127.0.0.1:1", "127.0.0.1:2"

    def __init__(self, home: Path, cpus: int | None) -> None:
        self.home, self.cpus, self.token_path = home, cpus, home / "ray.token"
        self.process, self.stopped = Process(), 0

    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        self.stopped += 1


class Keeper:
    """Stands in for a `ServiceKeeper`."""

    given_up: str | None = None

    def __init__(self, environment: dict[str, str], home: Path, note: dict[str, str], door: int) -> None:
        self.environment, self.note, self.door, self.events = environment, note, door, list[str]()
        (home / "service.json").write_text(json.dumps(note))

    def start(self) -> None:
        self.events.append("started")

    def end(self) -> None:
        self.events.append("ended")


class Door:
    """Stands in for the socket that is listened on."""

    def __init__(self, port: int) -> None:
        self.port, self.closed = port, False

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    def fileno(self) -> int:
        return 77

    def close(self) -> None:
        self.closed = True


class Machine:
    """All that was started on it; what asks whether the service is ready gets these answers, the last one for ever."""

    def __init__(self) -> None:
        self.rays: list[Ray] = []
        self.keepers: list[Keeper] = []
        self.asked: list[str] = []
        self.answers: list[httpx.Response | Exception] = [httpx.Response(200)]
        self.failure: BaseException | None = None
        self.attempts, self.ready_early = 1, False

    def start_ray(self, home: Path, cpus: int | None, launched: Callable[[Any], None]) -> Ray:
        if self.failure is not None:
            raise self.failure
        for _ in range(self.attempts):
            self.rays.append(Ray(home, cpus))
            try:
                launched(self.rays[-1])
            except BaseException:
                self.rays[-1].stop()
                raise
            self.ready_early = self.ready_early or (home / local.RAY_READY).exists()
        return self.rays[-1]

    def keep(self, *arguments: Any) -> Keeper:
        self.keepers.append(Keeper(*arguments))
        return self.keepers[-1]

    def get(self, url: str, **options: Any) -> httpx.Response:
        assert options["trust_env"] is False and options["timeout"] > 0
        self.asked.append(url)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Clock:
    """Goes on only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(local, "time", clock)
    return clock


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Machine:
    machine = Machine()
    monkeypatch.setattr(LocalRay, "start", machine.start_ray)
    monkeypatch.setattr(local, "ServiceKeeper", machine.keep)
    monkeypatch.setattr("frontends.cli.local.httpx.get", machine.get)
    monkeypatch.setattr(local, "listen", lambda host, asked: Door(asked or 8000))
    return machine


def up(home: Path, host: str = "127.0.0.1", port: int | None = 8123, token: str | None = None) -> Local:
    return Local(home, host, port, token, 3)


def test_the_service_is_told_what_up_chose_whatever_the_shell_says(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "HOST", "PORT", "URL", "RAY_URL", "RAY_TOKEN_PATH", "RAY_TOKEN", "TOKEN", "TOKEN_PATH", "FD"):
        monkeypatch.setenv(f"PARETOSCOPE_{name}", "of the shell")
    monkeypatch.setenv("PARETOSCOPE_STUDIES_AT_ONCE", "5")
    with up(tmp_path, token="secret") as running:
        [keeper] = machine.keepers
        chosen = {key: value for key, value in keeper.environment.items() if key.startswith("PARETOSCOPE_")}
        assert chosen == {
            "PARETOSCOPE_HOME": str(tmp_path),
            "PARETOSCOPE_HOST": "127.0.0.1",
            "PARETOSCOPE_PORT": "8123",
            "PARETOSCOPE_URL": "http://127.0.0.1:8123",
            "PARETOSCOPE_RAY_URL": "http://127.0.0.1:1",
            "PARETOSCOPE_RAY_TOKEN_PATH": str(tmp_path / "ray.token"),
            "PARETOSCOPE_RAY_READY_PATH": str(tmp_path / "ray.ready"),
            "PARETOSCOPE_TOKEN_PATH": str(tmp_path / "token"),
            "PARETOSCOPE_DRIVER_TOKENS": str(tmp_path / "drivers"),
            "PARETOSCOPE_FD": "77",
            "PARETOSCOPE_LEAVE_SECONDS": "10.0",
            "PARETOSCOPE_STUDIES_AT_ONCE": "5",  # what it did not choose is the user's
        }
        assert keeper.environment["PATH"] == os.environ["PATH"] and keeper.door == 77
        assert keeper.note == {
            "url": "http://127.0.0.1:8123",
            "ray_address": "127.0.0.1:2",
            "ray_token_path": str(tmp_path / "ray.token"),
        }
        assert (running.url, machine.asked) == ("http://127.0.0.1:8123", ["http://127.0.0.1:8123/readyz"])
        assert [(ray.home, ray.cpus) for ray in machine.rays] == [(tmp_path, 3)]


def test_the_service_starts_beside_ray_and_hears_when_it_takes_jobs(tmp_path: Path, machine: Machine) -> None:
    ready = tmp_path / local.RAY_READY
    ready.touch()  # of an `up` that was killed
    with up(tmp_path):
        assert machine.keepers[0].events == ["started"] and not machine.ready_early and ready.exists()
    assert not ready.exists()


def test_a_ray_that_was_started_twice_has_a_service_that_knows_the_second(tmp_path: Path, machine: Machine) -> None:
    machine.attempts = 2
    with up(tmp_path):
        assert [keeper.events for keeper in machine.keepers] == [["started", "ended"], ["started"]]


def test_a_home_gets_a_token_that_only_its_owner_reads_and_keeps_it(tmp_path: Path, machine: Machine) -> None:
    home = tmp_path / "home"
    with up(home) as first:
        token = (home / "token").read_text()
        assert len(token) >= 40 and first.token == token
        assert first.link() == f"http://127.0.0.1:8123/?token={token}"
        assert [stat.S_IMODE(path.stat().st_mode) for path in (home, home / "token")] == [0o700, 0o600]
    (home / "token").chmod(0o644)  # a backup that was put back, say
    for mode in (0o755, 0o750, 0o705):
        home.chmod(mode)
        with up(home) as again:
            assert again.token == token
            assert [stat.S_IMODE(path.stat().st_mode) for path in (home, home / "token")] == [0o700, 0o600]
    with up(home, token="chosen") as chosen:
        assert (chosen.token, (home / "token").read_text()) == ("chosen", "chosen")
    assert not [name for keeper in machine.keepers for name, value in keeper.environment.items() if value == token]


def test_without_a_token_nothing_is_asked_for_and_only_loopback_is_listened_on(
    tmp_path: Path, machine: Machine
) -> None:
    with Local(tmp_path, "127.0.0.1", 8123, None, 3, guarded=False) as running:
        assert not [name for name in machine.keepers[0].environment if "PARETOSCOPE_TOKEN" in name]
        assert running.link() == "http://127.0.0.1:8123/" and not (tmp_path / "token").exists()
    for host in ("0.0.0.0", "", "::", "10.1.2.3", "lab.example.org"):
        with (
            pytest.raises(LocalError, match="without a token only this machine may reach"),
            Local(tmp_path, host, 8123, None, 3, guarded=False),
        ):
            pass
    assert len(machine.rays) == 1


def test_a_home_that_is_everybodys_is_refused(tmp_path: Path, machine: Machine) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    file = tmp_path / "file"
    file.touch()
    for home, words in ((shared, "is not a folder of your own"), (file / "home", "cannot be used as a home")):
        with pytest.raises(LocalError, match=words), up(home):
            pass
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777 and machine.rays == []


@pytest.mark.parametrize(("name", "words"), [("lock", "cannot be used as a home"), ("token", "cannot be written")])
def test_a_home_in_which_nothing_can_be_written_is_refused_in_words(
    tmp_path: Path, machine: Machine, name: str, words: str
) -> None:
    (tmp_path / name / "in the way").mkdir(parents=True)
    with pytest.raises(LocalError, match=words), up(tmp_path):
        pass
    assert all(ray.stopped == 1 for ray in machine.rays)


@pytest.mark.parametrize(
    ("host", "reachable"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("", "127.0.0.1"),
        ("::", "[::1]"),
        ("10.1.2.3", "10.1.2.3"),
        ("localhost", "localhost"),
    ],
)
def test_the_address_is_one_that_this_machine_can_reach(
    tmp_path: Path, machine: Machine, host: str, reachable: str
) -> None:
    with up(tmp_path, host) as running:
        assert running.url == f"http://{reachable}:8123"
        assert machine.keepers[0].environment["PARETOSCOPE_HOST"] == host


def test_at_its_end_the_service_ray_the_note_and_the_lock_are_gone(tmp_path: Path, machine: Machine) -> None:
    for _ in range(2):  # the home is free again
        with up(tmp_path):
            assert (tmp_path / "service.json").is_file()
            with pytest.raises(LocalError, match=f"another paretoscope is using {tmp_path}"), up(tmp_path):
                pass
        assert not (tmp_path / "service.json").exists()
    assert [keeper.events for keeper in machine.keepers] == [["started", "ended"]] * 2
    assert [ray.stopped for ray in machine.rays] == [1, 1]


def test_ray_ends_after_the_service_which_lets_trials_save_their_states(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []
    monkeypatch.setattr(Keeper, "end", lambda self: ended.append("service"))
    monkeypatch.setattr(Ray, "stop", lambda self: ended.append("Ray"))
    with up(tmp_path):
        pass
    assert ended == ["service", "Ray"]


def test_a_home_may_be_relative_or_of_the_user(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    for given, home in ((Path("here"), tmp_path / "here"), (Path("~/p"), tmp_path / "me" / "p")):
        with up(given) as running:
            assert running.home == home and home.is_dir()


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), Interrupted(), RuntimeError("a bug"), LocalError("no port")])
def test_whatever_ends_the_start_ends_what_was_started(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    def interrupted(_: Local) -> None:
        raise failure

    monkeypatch.setattr(Local, "_wait_ready", interrupted)
    with pytest.raises(type(failure)), up(tmp_path):
        pass
    assert (machine.keepers[0].events, machine.rays[0].stopped) == (["started", "ended"], 1)
    assert not (tmp_path / "service.json").exists()


def test_a_ray_that_does_not_start_leaves_the_home_free(tmp_path: Path, machine: Machine) -> None:
    machine.failure = RayDidNotStart("Ray ended with code 1")
    with pytest.raises(LocalError, match="Ray ended with code 1"), up(tmp_path):
        pass
    machine.failure = None
    with up(tmp_path):
        assert len(machine.rays) == 1


def test_it_waits_until_the_service_is_ready(tmp_path: Path, machine: Machine) -> None:
    machine.answers = [httpx.ConnectError("refused"), httpx.Response(503, text="Ray?"), httpx.Response(200)]
    with up(tmp_path):
        assert len(machine.asked) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [(httpx.Response(503, text="Ray is away"), "Ray is away"), (httpx.ConnectError("refused"), "refused")],
)
def test_a_service_that_is_never_ready_is_told_with_what_it_said_last(
    tmp_path: Path, machine: Machine, clock: Clock, answer: httpx.Response | Exception, said: str
) -> None:
    machine.answers = [answer]
    with pytest.raises(LocalError, match=rf"the service was not ready after 1 m 00 s: {said}$"), up(tmp_path):
        pass
    assert 1060 <= clock.now < 1061 and machine.rays[0].stopped == 1


def test_a_part_that_ended_for_good_is_told(tmp_path: Path, machine: Machine) -> None:
    with up(tmp_path) as running:
        running.check()
        assert running._ray_keeper is not None
        running._ray_keeper.given_up = "Ray ended 6 times"
        with pytest.raises(LocalError, match="Ray ended 6 times"):
            running.check()
        running._ray_keeper.given_up = None
        machine.keepers[0].given_up = "the service ended 6 times"
        with pytest.raises(LocalError, match="the service ended 6 times"):
            running.serve()


def test_a_service_that_gives_up_while_it_starts_is_not_waited_for(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Keeper, "given_up", "the database is broken")
    with pytest.raises(LocalError, match="the database is broken"), up(tmp_path):
        pass
    assert machine.asked == []


@pytest.mark.parametrize("end", [KeyboardInterrupt, Interrupted])
def test_serving_ends_well_with_ctrl_c_and_sigterm(
    tmp_path: Path, machine: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    def interrupted(seconds: float) -> None:
        raise end

    with up(tmp_path) as running:
        monkeypatch.setattr(clock, "sleep", interrupted)
        running.serve()
    assert machine.rays[0].stopped == 1


def test_signals_during_the_end_do_not_cut_it_short(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient(keeper: Keeper) -> None:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Keeper, "end", impatient)
    before = signal.getsignal(signal.SIGTERM)
    try:
        local.raise_on_sigterm()
        with up(tmp_path):
            pass
        with pytest.raises(Interrupted):  # afterwards they are what they were
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert machine.rays[0].stopped == 1 and not (tmp_path / "service.json").exists()


def test_sigterm_is_raised_as_an_interruption() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        local.raise_on_sigterm()
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python has no IPv6")
def test_a_port_of_an_ipv6_address_is_looked_at_as_one() -> None:
    with socket.socket(socket.AF_INET6) as taken:
        try:
            taken.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        taken.listen()
        busy = taken.getsockname()[1]
        with pytest.raises(LocalError, match=rf"port {busy} on ::1 cannot be used: {os.strerror(errno.EADDRINUSE)}"):
            listen("::1", busy)
    with listen("::1", busy) as door:
        assert door.getsockname()[1] == busy
