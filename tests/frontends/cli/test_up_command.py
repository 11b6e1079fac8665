"""`up` and `demo` as processes: busy ports, Ctrl-C, a study that does not finish."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from frontends.cli import local
from frontends.cli.local import LocalError, ServiceKeeper, listen, wait_for_an_earlier_service
from frontends.cli.local_ray import processes_of
from tests.frontends.cli.command_line import run
from tests.frontends.conftest import TOKEN
from tests.processes import BIN, Running, answers, environment, free_port, short_home, until


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """As from a terminal: Ctrl-C reaches it also where the tests themselves run in the background, deaf to it."""
    command = [str(BIN / "paretoscope"), *arguments]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=100)


def line_of(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_busy_port_is_told_before_anything_starts(service: Running, tmp_path: Path) -> None:
    """The port of another Paretoscope, whose answers would look like ours."""
    port = service.url.rpartition(":")[2]
    for command in ("up", "demo"):
        answer = run(command, "--home", str(tmp_path), "--port", port, url=None)
        assert (
            answer.returncode == 1
            and f"port {port} on 127.0.0.1 cannot be used: Address already in use" in answer.stderr
        )
        assert "ready" not in answer.stdout and not (tmp_path / "ray.log").exists()


def test_without_a_port_it_is_8000_or_a_free_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy, free = taken.getsockname()[1], free_port()
        assert local.PREFERRED_PORT == 8000
        monkeypatch.setattr(local, "PREFERRED_PORT", free)
        assert taken_port("127.0.0.1", None) == free
        monkeypatch.setattr(local, "PREFERRED_PORT", busy)
        assert taken_port("127.0.0.1", None) not in (busy, 0)
        assert taken_port("127.0.0.1", free) == free
        with pytest.raises(LocalError, match=f"port {busy} on 127.0.0.1"):
            listen("127.0.0.1", busy)


def taken_port(host: str, asked: int | None) -> int:
    """Nobody else can have it while the socket is open."""
    with listen(host, asked) as door:
        port = int(door.getsockname()[1])
        with pytest.raises(LocalError, match="in use"):
            listen(host, port)
        return port


def test_an_address_that_is_not_this_machines_is_told() -> None:
    with pytest.raises(LocalError, match=r"^192\.0\.2\.1 cannot be used: "):
        listen("192.0.2.1", None)


def test_a_home_is_used_once_at_a_time(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_SH)  # the weakest claim is enough
        answer = run("up", "--home", str(tmp_path), "--port", str(free_port()), url=None)
    assert answer.returncode == 1 and f"another paretoscope is using {tmp_path}" in answer.stderr


def test_a_ray_that_does_not_start_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontends.cli.local_ray.DIE_WITH_PARENT", "raise SystemExit('no room for Ray here')")
    answer = run("up", "--home", str(tmp_path), url=None)
    assert answer.returncode == 1 and answer.stdout == ""
    assert answer.stderr == "error: Ray ended with code 1:\nno room for Ray here\n"


def keeper_of(home: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> ServiceKeeper:
    """It keeps this piece of Python instead of the service."""
    monkeypatch.setattr(local, "DIE_WITH_PARENT", code)
    return ServiceKeeper(environment(), home, {"url": "http://127.0.0.1:9"})


def test_a_service_that_cannot_run_is_given_up_with_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = keeper_of(tmp_path, monkeypatch, "raise SystemExit('the database is broken')")
    keeper.start()
    until(lambda: keeper.given_up, "the keeper gives up")
    assert keeper.given_up == (
        "the service ended 6 times in a minute; its log ends:\n" + "\n".join(["the database is broken"] * 6)
    )
    keeper.end()


def starts(home: Path) -> int:
    return (home / "service.log").read_text().count("up\n") if (home / "service.log").is_file() else 0


def has_started(home: Path, times: int) -> bool:
    return starts(home) == times


def test_a_service_that_dies_is_started_again_and_its_note_has_the_new_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = keeper_of(tmp_path, monkeypatch, "import time; print('up', flush=True); time.sleep(600)")
    note = {}
    keeper.start()
    for count in (1, 2):
        until(partial(has_started, tmp_path, count), "it runs")
        note[count] = json.loads((tmp_path / "service.json").read_text())
        if count == 1:
            os.kill(note[1]["pid"], signal.SIGKILL)
    assert note[1]["url"] == note[2]["url"] == "http://127.0.0.1:9"
    assert note[1]["pid"] != note[2]["pid"] and keeper.given_up is None
    keeper.end()
    assert not keeper.is_alive() and not Path(f"/proc/{note[2]['pid']}").exists()


def test_a_note_that_finds_no_room_is_written_later_and_the_service_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = threading.Event()
    full.set()
    plain = Path.write_text

    def write_text(path: Path, text: str, *arguments: Any) -> int:
        if full.is_set() and path.parent == tmp_path:
            path.touch()
            raise OSError(errno.ENOSPC, "No space left on device")
        return plain(path, text, *arguments)

    monkeypatch.setattr(Path, "write_text", write_text)
    (tmp_path / "service.json").touch()
    plain(tmp_path / "service.json", json.dumps({"url": "http://127.0.0.1:9", "pid": 1}))
    keeper = keeper_of(tmp_path, monkeypatch, "import time; print('up', flush=True); time.sleep(600)")
    keeper.start()
    until(partial(has_started, tmp_path, 1), "it runs")
    assert json.loads((tmp_path / "service.json").read_text())["url"] == "http://127.0.0.1:9", "the one of before"
    full.clear()
    until(lambda: json.loads((tmp_path / "service.json").read_text())["pid"] > 1, "the note has the new process")
    assert keeper.is_alive() and keeper.given_up is None
    keeper.end()
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("service.json", "service.log")] == []


HOLDS_A_PORT = """
import socket, sys
door = socket.create_server(("127.0.0.1", 0))
print(door.getsockname()[1], flush=True)
sys.stdin.readline()
"""


@contextmanager
def earlier_service(home: Path, told: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process of `home` that has a port until it is told to end; its note is in `told`."""
    command, given = [sys.executable, "-c", HOLDS_A_PORT], environment(PARETOSCOPE_HOME=str(home))
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=given, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        (told / "service.json").write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": process.pid}))
        yield process, int(process.stdout.readline())
        process.kill()


def test_the_port_of_a_service_whose_up_was_killed_is_waited_for(tmp_path: Path) -> None:
    with earlier_service(tmp_path, tmp_path) as (process, port):
        with pytest.raises(LocalError, match="cannot be used"):
            listen("127.0.0.1", port)
        assert process.stdin is not None
        threading.Timer(0.3, process.stdin.close).start()
        wait_for_an_earlier_service(tmp_path)
        listen("127.0.0.1", port).close()


def test_a_process_that_only_has_the_number_of_an_earlier_service_is_not_waited_for(tmp_path: Path) -> None:
    with earlier_service(tmp_path / "another", tmp_path) as (process, _):
        wait_for_an_earlier_service(tmp_path)
        assert process.poll() is None


def _ray_of(home: Path) -> int:
    """The process that `ray start` became: the oldest of its family (numbers of processes begin anew at their end)."""
    return min(processes_of(home / "ray"), key=lambda process: int(process.began)).pid


def test_ctrl_c_ends_up_well() -> None:
    options = ["--token", TOKEN, "--cpus", "1", "--port", str(free_port())]
    with short_home() as home, started("up", "--json", "--home", str(home), *options) as process:
        said = json.loads(line_of(process))
        url = f"http://127.0.0.1:{options[-1]}"
        assert said == {"url": url, "home": str(home), "link": f"{url}/?token={TOKEN}"}
        assert answers(f"{said['url']}/readyz")
        assert json.loads((home / "service.json").read_text())["url"] == said["url"]
        assert b"--num-cpus=1\0" in Path(f"/proc/{_ray_of(home)}/cmdline").read_bytes()
        for token, code in ((None, 401), (TOKEN, 200)):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            assert httpx.get(f"{said['url']}/api/studies", headers=headers, trust_env=False).status_code == code
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
        assert (process.returncode, out, err) == (0, b"", b"")
        assert not answers(f"{said['url']}/healthz") and not (home / "service.json").exists()


def test_a_demo_whose_study_is_cancelled_fails() -> None:
    with short_home() as home:
        port = free_port()
        words = ["demo", "--exit", "--json", "--home", str(home), "--port", str(port), "--preset"]
        with started(*words, "beta-vs-mib-digits") as process:
            study = json.loads(line_of(process))["id"]
            headers = {"Authorization": f"Bearer {(home / 'token').read_text()}"}
            cancelled = httpx.post(
                f"http://127.0.0.1:{port}/api/studies/{study}/cancel", headers=headers, trust_env=False
            )
            cancelled.raise_for_status()
            out, err = process.communicate(timeout=100)
        last = json.loads(out.splitlines()[-1])
        assert (process.returncode, last["study"]["state"], err) == (1, "cancelled", b"")
        until(lambda: not answers(f"http://127.0.0.1:{port}/healthz"), "the service has ended")
