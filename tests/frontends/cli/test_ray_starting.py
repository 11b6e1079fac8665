"""How Ray is started and stopped, without one: what it inherits, how often it is tried, what is left of it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from frontends.cli import local_ray
from frontends.cli.local import Interrupted
from frontends.cli.local_ray import (
    ATTEMPTS,
    MARK,
    LocalRay,
    Process,
    RayDidNotStart,
    _environment,
    _free_ports,
    _write_token,
    processes_of,
)
from frontends.cli.ray_folders import LONGEST_TEMP_DIR, folder_of, sweep_folders


def ray_of(process: subprocess.Popen[bytes], temp_dir: Path, jobs_url: str = "http://jobs") -> LocalRay:
    return LocalRay(jobs_url, "127.0.0.1:1", "http://agent", "secret", temp_dir / "t", temp_dir, process)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


# What it inherits


def test_ray_and_its_jobs_inherit_no_secret_of_ours_and_no_setting_of_another_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_ray, of_the_database = ("RAY_ADDRESS", "RAY_AUTH_MODE"), ("PARETOSCOPE_DATABASE_URL", "PGPASSWORD", "PGPASSFILE")
    for name in ("PARETOSCOPE_TOKEN", "PARETOSCOPE_HOME", "PYTHONDONTWRITEBYTECODE", *of_ray, *of_the_database):
        monkeypatch.setenv(name, "of the shell")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("PATH", "/usr/bin")
    given = _environment(Path("/venv/bin"), tmp_path / "token", tmp_path / "ray")
    assert "of the shell" not in given.values()
    assert [key for key in given if key.startswith("PARETOSCOPE_")] == [MARK]
    assert given["PATH"] == f"/venv/bin{os.pathsep}/usr/bin", "jobs find our interpreter first"
    assert (given["CUDA_VISIBLE_DEVICES"], given["RAY_AUTH_MODE"]) == ("1", "token")
    assert (given["RAY_AUTH_TOKEN_PATH"], given[MARK]) == (str(tmp_path / "token"), str(tmp_path / "ray"))


def test_a_token_is_fresh_and_its_owners_alone_also_where_one_lay_open(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    home.mkdir(parents=True)
    (home / "ray.token").write_text("an old one, for all to read")
    (home / "ray.token").chmod(0o644)
    tokens = set()
    for _ in range(2):
        path, token = _write_token(home)
        assert path.read_text() == token and stat.S_IMODE(path.stat().st_mode) == 0o600
        tokens.add(token)
    assert len(tokens) == 2 and {len(token) for token in tokens} == {64}
    assert _write_token(tmp_path / "not" / "there" / "yet")[0].is_file()


def test_ports_differ() -> None:
    ports = _free_ports(20)
    assert len(set(ports)) == 20 and min(ports) > 0


def test_a_home_is_long_by_its_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fits = Path("/" + "h" * (LONGEST_TEMP_DIR - len("//ray")))
    assert len(str(fits / "ray")) == LONGEST_TEMP_DIR and folder_of(fits) == fits / "ray"
    for home in (Path(f"{fits}h"), Path(str(fits)[:-1] + "ü")):
        chosen = folder_of(home)
        assert chosen.parent.parent == tmp_path and not chosen.exists()
        assert chosen.parent.stat().st_mode & 0o077 == 0, "Ray opens its own folder to everybody"


@pytest.mark.parametrize("cpus", [None, 0, 2])
def test_ray_is_started_on_loopback_in_its_own_session_with_what_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpus: int | None
) -> None:
    started: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr(
        "frontends.cli.local_ray.subprocess.Popen", lambda command, **options: started.append((command, options))
    )
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "of an earlier one").touch()
    ray = LocalRay._launch(tmp_path, tmp_path / "ray", tmp_path / "ray.token", "secret", cpus)
    [(command, options)] = started
    asked = dict(word.removeprefix("--").split("=") for word in command if word.startswith("--") and "=" in word)
    assert asked["node-ip-address"] == asked["dashboard-host"] == "127.0.0.1"
    assert (asked.get("num-cpus"), asked["temp-dir"]) == (None if cpus is None else str(cpus), str(tmp_path / "ray"))
    assert ray.jobs_url == f"http://127.0.0.1:{asked['dashboard-port']}"
    assert ray.address == f"127.0.0.1:{asked['port']}"
    assert ray.agent_url == f"http://127.0.0.1:{asked['dashboard-agent-listen-port']}"
    assert (options["cwd"], options["start_new_session"], options["stdin"]) == (tmp_path, True, subprocess.DEVNULL)
    assert options["env"]["RAY_AUTH_TOKEN_PATH"] == str(tmp_path / "ray.token")
    assert "secret" not in " ".join(command) and "secret" not in options["env"].values(), "others can read those"
    assert list((tmp_path / "ray").iterdir()) == [] and stat.S_IMODE((tmp_path / "ray").stat().st_mode) == 0o700


# How often it is tried


class Tries:
    """What each start comes to, and what was stopped again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *outcomes: BaseException | None) -> None:
        self.outcomes, self.launched, self.stopped = list(outcomes), list[LocalRay](), list[LocalRay]()

        def stop(ray: LocalRay) -> None:
            self.stopped.append(ray)

        monkeypatch.setattr(LocalRay, "_launch", self._launch)
        monkeypatch.setattr(LocalRay, "_wait_until_ready", lambda ray, log, ending=None: self._ready())
        monkeypatch.setattr(LocalRay, "stop", stop)
        monkeypatch.setattr(local_ray, "_wait_for_an_earlier_ray", lambda temp_dir: None)

    def _launch(self, home: Path, temp_dir: Path, token_path: Path, token: str, cpus: int | None) -> LocalRay:
        address = f"try {len(self.launched) + 1}"
        process: Any = None
        ray = LocalRay("", address, "", token, token_path, temp_dir, process)
        self.launched.append(ray)
        return ray

    def _ready(self) -> None:
        outcome = self.outcomes.pop(0)
        if outcome is not None:
            raise outcome


def test_a_port_taken_in_the_meantime_means_another_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = Tries(monkeypatch, RayDidNotStart("port taken"), RayDidNotStart("again"), None)
    ray = LocalRay.start(tmp_path, 1)
    assert (ray.address, len(tries.launched)) == ("try 3", 3)
    assert tries.stopped == tries.launched[:2], "what did not start is stopped, what runs is not"
    assert ray.token == (tmp_path / "ray.token").read_text()


def test_the_last_attempt_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = Tries(monkeypatch, *(RayDidNotStart(f"reason {i}") for i in range(1, 9)))
    with pytest.raises(RayDidNotStart, match=f"reason {ATTEMPTS}"):
        LocalRay.start(tmp_path)
    assert len(tries.launched) == ATTEMPTS == 3 and tries.stopped == tries.launched


@pytest.mark.parametrize("end", [KeyboardInterrupt, Interrupted, SystemExit, RuntimeError])
def test_whatever_interrupts_the_start_stops_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    tries = Tries(monkeypatch, end())
    with pytest.raises(end):
        LocalRay.start(tmp_path)
    assert tries.stopped == tries.launched and len(tries.launched) == 1


# When it is ready


class Answers:
    """Stands in for the client: what each address answers, one after the other, the last one for ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **by_host: list[int | None]) -> None:
        self.by_host, self.asked, self.options = by_host, list[str](), dict[str, Any]()
        self.now, self.pauses = 0.0, 0
        monkeypatch.setattr("frontends.cli.local_ray.httpx.Client", self)
        monkeypatch.setattr(local_ray, "time", self)

    def __call__(self, **options: Any) -> Answers:
        self.options = options
        return self

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def get(self, url: str) -> httpx.Response:
        self.asked.append(url)
        answers = self.by_host[httpx.URL(url).host]
        status = answers.pop(0) if len(answers) > 1 else answers[0]
        if status is None:
            raise httpx.ConnectError("refused")
        return httpx.Response(status)

    def monotonic(self) -> float:
        self.now += 0.01
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now, self.pauses = self.now + seconds, self.pauses + 1


def test_ready_means_that_the_jobs_api_and_the_agent_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sleeper: subprocess.Popen[bytes]
) -> None:
    answers = Answers(monkeypatch, jobs=[None, 401, 500, 200], agent=[None, 503, 200])
    ray_of(sleeper, tmp_path)._wait_until_ready(tmp_path / "ray.log")
    asked = ["http://jobs/api/jobs/"] * 4 + ["http://agent/api/local_raylet_healthz"] * 3
    assert answers.asked == asked
    assert answers.pauses == 5, "a Ray that is not ready is not asked without end, which would take its processor"
    assert answers.options["headers"] == {"Authorization": "Bearer secret"} and answers.options["trust_env"] is False


@pytest.mark.parametrize(
    ("by_host", "missing"),
    [
        ({"jobs": [401], "agent": [200]}, "http://jobs/api/jobs/"),
        ({"jobs": [200], "agent": [None]}, "http://agent/api/local_raylet_healthz"),
    ],
)
def test_what_does_not_answer_in_time_is_named_with_the_end_of_the_log(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sleeper: subprocess.Popen[bytes],
    by_host: dict[str, list[int | None]],
    missing: str,
) -> None:
    answers = Answers(monkeypatch, **by_host)
    (tmp_path / "ray.log").write_text("".join(f"line {i}\n" for i in range(20)))
    with pytest.raises(RayDidNotStart) as refused:
        ray_of(sleeper, tmp_path)._wait_until_ready(tmp_path / "ray.log")
    lines = "\n".join(f"line {i}" for i in range(5, 20))
    assert str(refused.value) == f"Ray did not answer at {missing} within 3 m 00 s:\n{lines}"
    assert 180 <= answers.now < 181


def test_a_ray_that_ended_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers(monkeypatch, jobs=[200], agent=[200])
    (tmp_path / "ray.log").write_text("no room\n")
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"]) as ended:
        ended.wait(30)
        with pytest.raises(RayDidNotStart, match="Ray ended with code 3:\nno room"):
            ray_of(ended, tmp_path)._wait_until_ready(tmp_path / "ray.log")
    assert answers.asked == []


# What belongs to it, and what is left


def marked(temp_dir: Path, code: str) -> subprocess.Popen[bytes]:
    """A process of the Ray in this folder, running by the time it is returned."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"import signal, subprocess, time\n{code}\nprint('runs', flush=True)\ntime.sleep(600)"],
        env={**os.environ, MARK: str(temp_dir)},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == b"runs\n"
    process.stdout.close()
    return process


def test_a_process_belongs_to_the_ray_whose_mark_it_carries_or_from_which_it_descends(tmp_path: Path) -> None:
    mine, other = marked(tmp_path / "ray", "subprocess.Popen(['sleep', '600'], env={})"), marked(tmp_path / "ray2", "")
    try:
        family = processes_of(tmp_path / "ray")
        assert mine.pid in {process.pid for process in family} and len(family) == 2, "and the child without a mark"
        assert {process.pid for process in processes_of(tmp_path / "ray2")} == {other.pid}
        assert processes_of(tmp_path / "ra") == set()
        assert {process.pid for process in processes_of(tmp_path / "ra", other.pid)} == {other.pid}
        assert os.getpid() not in {process.pid for process in family}
    finally:
        for process in (mine, other):
            for each in processes_of(tmp_path / "ray") | processes_of(tmp_path / "ray2"):
                os.kill(each.pid, signal.SIGKILL)
            process.wait(10)


def test_a_process_id_that_is_used_again_is_another_process(sleeper: subprocess.Popen[bytes]) -> None:
    read = Process.read(sleeper.pid)
    assert read is not None and read[1] == os.getpid() and read[0].is_alive()
    assert not read[0]._replace(began="1").is_alive()
    sleeper.kill()
    sleeper.wait(10)
    assert not read[0].is_alive() and Process.read(sleeper.pid) is None


def test_stopping_ends_also_what_is_deaf_and_spares_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sleeper: subprocess.Popen[bytes]
) -> None:
    monkeypatch.setattr(local_ray, "STOP_SECONDS", 0.2)
    deaf = marked(tmp_path / "ray", "signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    worker = marked(tmp_path / "ray", "signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    ray = ray_of(deaf, tmp_path / "ray")
    assert ray.alive() and {process.pid for process in ray.processes()} == {deaf.pid, worker.pid}
    ray.stop()
    assert (deaf.poll(), worker.wait(10), sleeper.poll()) == (-signal.SIGKILL, -signal.SIGKILL, None)
    assert not ray.alive() and ray.processes() == set()
    ray.stop()  # may be called twice


def test_a_ray_that_ends_when_asked_is_not_killed(tmp_path: Path) -> None:
    gentle = marked(tmp_path / "ray", "signal.signal(signal.SIGTERM, lambda *_: exit(7))")
    ray_of(gentle, tmp_path / "ray").stop()
    assert gentle.poll() == 7


def test_a_short_folder_goes_with_ray_and_logs_in_the_home_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sleeper: subprocess.Popen[bytes]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    short, home = tmp_path / "pscope-x" / "ray", tmp_path / "home" / "ray"
    for folder in (short, home):
        folder.mkdir(parents=True)
        (folder / "log").write_text("x")
        ray_of(sleeper, folder).stop()
    assert not short.parent.exists() and (home / "log").is_file()


def test_short_folders_of_rays_that_were_killed_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(30)
    ours = folder_of(Path("/" + "h" * 200)).parent
    ending = tmp_path / f"pscope-{gone.pid}-ending"
    left = tmp_path / f"pscope-{gone.pid}-left"
    another = tmp_path / "pscope-another"
    for folder in (ours, ending, left, another):
        (folder / "ray" / "session_2026-01-01").mkdir(parents=True)
    sweep_folders(lambda folder: folder == ending / "ray")
    assert sorted(tmp_path.iterdir()) == sorted([ours, ending, another])


def test_another_ray_in_the_same_folder_is_waited_for_and_then_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Answers(monkeypatch)
    left = [{Process(4, "x"), Process(2, "x")}, {Process(4, "x")}, set()]
    monkeypatch.setattr(local_ray, "processes_of", lambda temp_dir: left.pop(0))
    local_ray._wait_for_an_earlier_ray(tmp_path)
    assert left == []
    monkeypatch.setattr(local_ray, "processes_of", lambda temp_dir: {Process(4, "x"), Process(2, "x")})
    clock.now = 0.0
    with pytest.raises(RayDidNotStart, match=rf"another Ray runs in {tmp_path} \(processes \[2, 4\]\)"):
        local_ray._wait_for_an_earlier_ray(tmp_path)
    assert 15 <= clock.now < 16
