"""`paretoscope doctor`: each thing it looks at, well and not."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from frontends.cli import doctor
from frontends.client import Client
from paretoscope import __version__
from tests.frontends.cli.command_line import NOWHERE, run
from tests.processes import Running, free_port


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = Path(tmp_path / "h")
    place.mkdir(mode=0o700)
    return place


def studies_in(home: Path, count: int) -> None:
    with sqlite3.connect(home / doctor.DATABASE) as connection:
        connection.execute("CREATE TABLE studies (id TEXT)")
        connection.executemany("INSERT INTO studies VALUES (?)", [(f"s{i}" * 500,) for i in range(count)])
    connection.close()


def test_everything_is_looked_at_and_nothing_is_wrong_with_a_new_home(home: Path) -> None:
    answer = run("doctor", "--json", PARETOSCOPE_HOME=str(home))
    looks = {look["what"]: look for look in json.loads(answer.stdout)}
    assert answer.returncode == 0 and not [look for look in looks.values() if look["state"] == "wrong"]
    assert list(looks) == ["versions", "processors", "home", "space", "database", "data", "service"]
    assert "torch 2." in looks["versions"]["words"] and "CPU" in looks["processors"]["words"]
    assert "digits" in looks["data"]["words"]
    assert looks["service"] == {
        "what": "service",
        "state": "mind",
        "words": f"none answers at {NOWHERE}",
        "advice": "paretoscope up",
    }


def test_what_is_wrong_is_told_in_words_and_by_the_exit_code(home: Path) -> None:
    (home / doctor.DATABASE).write_bytes(b"this is no database" * 100)
    answer = run("doctor", PARETOSCOPE_HOME=str(home), COLUMNS="200")
    assert answer.returncode == 1
    assert f"{home / doctor.DATABASE} cannot be read" in answer.stdout and "restore a backup of it" in answer.stdout


def test_a_damaged_database_is_seen(home: Path) -> None:
    studies_in(home, 200)
    assert doctor.database(home).words.startswith("studies: 200, ")
    file = home / doctor.DATABASE
    pages = bytearray(file.read_bytes())
    pages[3 * 4096 : 4 * 4096] = b"\xff" * 4096
    file.write_bytes(pages)
    look = doctor.database(home)
    assert look.state == "wrong" and look.advice == "restore a backup of it"


def test_a_server_that_does_not_answer_is_told_without_its_password() -> None:
    away = f"postgresql://me:my-secret@127.0.0.1:{free_port()}/x"
    for url, words in (
        (away, "does not answer"),
        ("postgresql://me:my-secret@[", "no address"),
        ("my-secret", "no ad"),
    ):
        look = doctor.server(url)
        assert look.state == "wrong" and words in look.words and "my-secret" not in str(look), url


def test_looking_changes_nothing(home: Path) -> None:
    assert doctor.database(home).words == "no study yet" and list(home.iterdir()) == []


@pytest.mark.parametrize(("mode", "state"), [(0o700, "well"), (0o750, "mind"), (0o705, "mind")])
def test_a_home_that_others_can_enter_is_told(
    tmp_path: Path, mode: int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "LONGEST_TEMP_DIR", 1000)
    tmp_path.chmod(mode)
    look = doctor.folder(tmp_path)
    assert look.state == state and (look.advice == f"chmod 700 {tmp_path}") == (state == "mind")


def test_a_home_is_a_folder_of_some_length(tmp_path: Path) -> None:
    assert doctor.folder(tmp_path / "none").state == "well"
    file = tmp_path / "file"
    file.touch()
    assert doctor.folder(file).state == "wrong"
    long = tmp_path / ("h" * 60)
    long.mkdir(mode=0o700)
    assert doctor.folder(long).state == "mind" and "sockets" in doctor.folder(long).words


class Usage(NamedTuple):
    free: int


@pytest.mark.parametrize(("free", "state"), [(doctor.LITTLE_SPACE - 1, "mind"), (doctor.LITTLE_SPACE, "well")])
def test_little_space_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(free))
    look = doctor.space(tmp_path / "not" / "there" / "yet")
    assert (look.state, look.words) == (state, "5.00 GB free on the home's disk")


def test_a_service_without_ray_is_not_ready(service: Running) -> None:
    look = doctor.service(service.url, None)
    assert look.state == "wrong" and "no Ray is configured" in look.words


NEXT = f"{int(__version__.split('.')[0]) + 1}.0.0"


class Played(httpx.BaseTransport):
    """A service of this version that is ready and has so many studies; it may refuse an address."""

    def __init__(self, version: str | None = __version__, refuses: str = "", **studies: int) -> None:
        self._version, self._refuses, self._studies = version, refuses, studies

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = {"Paretoscope-Version": self._version} if self._version else {}
        if request.url.path == self._refuses:
            return httpx.Response(401, headers=headers, json={"error": {"message": "no", "details": []}})
        asked = request.url.params
        there = range(self._studies.get(asked.get("state", ""), 0))
        start = int(asked.get("after", 0))
        end = start + int(asked.get("limit", 0))
        page = [{"id": f"s{i}"} for i in there[start:end]]
        body = {"studies": page, "next": str(end) if end < len(there) else None}
        return httpx.Response(200, headers=headers, json=body)


def looked_at(service: Played, monkeypatch: pytest.MonkeyPatch) -> doctor.Look:
    monkeypatch.setattr(doctor, "Client", lambda url, token: Client(url, token, transport=service))
    return doctor.service("http://lab", None)


def test_studies_that_run_and_those_that_wait_are_counted_each_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    look = looked_at(Played(running=2, queued=5, finished=7), monkeypatch)
    words = f"http://lab is ready, paretoscope {__version__}; studies running: 2, in the queue: 5"
    assert look == doctor.Look("service", "well", words)


def test_a_long_queue_is_counted_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked_at(Played(queued=1234), monkeypatch).words.endswith("studies running: 0, in the queue: 1234")


@pytest.mark.parametrize(
    ("service", "state", "words", "advice"),
    [
        (Played(None), "wrong", "does not say its version", "upgrade it"),
        (
            Played(NEXT),
            "wrong",
            f"has paretoscope {NEXT}, and this is {__version__}",
            f"install paretoscope {NEXT} here, or upgrade the service",
        ),
        (Played(refuses="/readyz"), "wrong", "is not ready: no", "see service.log in its home"),
        (Played(refuses="/api/studies"), "mind", "is ready, but not for you: no", "give --token"),
    ],
    ids=["no version", "another version", "not ready", "token refused"],
)
def test_what_is_wrong_with_a_service_is_told_with_what_to_do(
    service: Played, state: str, words: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = looked_at(service, monkeypatch)
    assert (look.state, look.advice) == (state, advice) and look.words.startswith(f"http://lab {words}")
