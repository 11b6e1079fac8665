"""Versions that differ are told apart: by a header on both sides, and a refusal in words."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paretoscope import __version__
from service.contract.wire.tokens import NewToken
from service.contract.wire.versions import VERSION, disagreement
from tests.processes import environment, service_alone, short_home
from tests.service.bench import Bench
from tests.service.routes.test_http import submit

AS_ANOTHER = "import sys, paretoscope; paretoscope.__version__ = {version!r}; {then}"
OWN_MINOR = ".".join(__version__.split(".")[:2])


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path, token="secret")
    yield bench
    bench.close()


def asked(bench: Bench, said: str | None, path: str = "/api/studies", token: str = "secret") -> tuple[int, str, str]:
    """Status, code and message of the answer to somebody who says this of their version."""
    headers = {"Authorization": f"Bearer {token}"} | ({} if said is None else {VERSION: said})
    answer = bench.ask("GET", path, headers=headers)
    assert answer.headers[VERSION] == __version__, "every answer says the service's own"
    error = answer.json().get("error", {"code": "", "message": ""})
    return answer.status_code, error["code"], error["message"]


@pytest.mark.parametrize("said", [None, __version__, f"client/{OWN_MINOR}.9", f"driver/{OWN_MINOR}.0.dev1"])
def test_who_says_nothing_or_differs_in_the_last_number_is_answered(bench: Bench, said: str | None) -> None:
    assert asked(bench, said)[0] == 200


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("client/0.1.4", f"this client has paretoscope 0.1.4, which is older than the service's {__version__}"),
        ("client/7.0.1", f"this client has paretoscope 7.0.1, which is newer than the service's {__version__}"),
        ("driver/0.1.0", f"the driver on Ray has paretoscope 0.1.0, which is older than the service's {__version__}"),
        ("trial/0.99.0", "a trial's process on Ray has paretoscope 0.99.0, which is newer than"),
        ("yesterday", "Paretoscope-Version is a version such as client/0.2.0, got 'yesterday'"),
    ],
)
def test_another_version_is_refused_with_words(bench: Bench, said: str, words: str) -> None:
    status, code, message = asked(bench, said)
    assert (status, code) == (412, "other_version") and message.startswith(words)


def test_the_words_say_what_to_do() -> None:
    client, driver = disagreement("0.2.1", "client/0.3.0"), disagreement("0.2.1", "driver/0.3.0")
    assert client and client.words.endswith(
        ": the first two numbers have to be the same. "
        "Install paretoscope 0.2 where it runs, or upgrade the service to 0.3"
    )
    assert driver and driver.words.endswith("Install paretoscope 0.2 on Ray's nodes, or upgrade the service to 0.3")


def test_a_wrong_token_is_refused_as_such_whatever_the_version(bench: Bench) -> None:
    assert asked(bench, "client/0.1.0", token="wrong")[:2] == (401, "unauthorized")


def test_whether_the_service_is_there_can_be_asked_by_every_version(bench: Bench) -> None:
    assert asked(bench, "client/0.1.0", "/healthz")[0] == asked(bench, "client/0.1.0", "/readyz")[0] == 200


def test_a_driver_of_another_version_is_the_reason_that_the_study_tells(tmp_path: Path) -> None:
    bench = Bench(tmp_path, driver_attempts=2)
    study = bench.submit()
    for job in (study, f"{study}-2"):
        bench.launcher.tick()
        answer = bench.ask("GET", f"/api/studies/{study}", headers={VERSION: "driver/0.1.0"})
        assert answer.status_code == 412
        bench.cluster.end(job, message="exit code 3")
    assert "the driver on Ray has paretoscope 0.1.0" in bench.read(study)["reason"]
    bench.launcher.tick()
    read = bench.read(study)
    assert read["state"] == "failed" and read["reason"].startswith("the driver on Ray has paretoscope 0.1.0")
    bench.close()


def test_only_its_own_driver_tells_a_study_of_another_version(bench: Bench) -> None:
    study, other = bench.submit(), bench.submit()
    tokens = bench.parts.tokens
    reader = tokens.create(NewToken(name="reader", scopes=["read"]))[1]
    path = f"/api/studies/{study}"
    for token in (reader, tokens.for_driver(other), "secret"):
        assert asked(bench, "driver/9.9.9", path, token)[0] == 412
    bench.launcher.tick()
    bench.cluster.end(study, message="it died")
    bench.launcher.tick()
    assert "9.9.9" not in bench.read(study)["reason"] and "it died" in bench.read(study)["reason"]
    assert asked(bench, "driver/9.9.9", path, tokens.for_driver(study))[0] == 412
    bench.cluster.end(f"{study}-2")
    bench.launcher.tick()
    assert "9.9.9" in bench.read(study)["reason"]


def python(source: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", source, *arguments]
    return subprocess.run(
        command, env=environment(**settings), capture_output=True, text=True, timeout=120, check=False
    )


def test_real_processes_of_another_version_leave_with_the_service_s_words() -> None:
    cli = AS_ANOTHER.format(version="0.1.0", then="from frontends.cli import main; sys.argv[0] = 'p'; main()")
    driver = AS_ANOTHER.format(version="9.0.0", then="from workers.run_study import main; sys.exit(main(sys.argv[1:]))")
    with short_home() as home, service_alone(home) as service:
        study = submit(service, {"name": "s", "arms": [{"name": "a", "weighting": {"name": "mib"}}]})["id"]
        listed = python(cli, "list", PARETOSCOPE_URL=service.url)
        drove = python(driver, study, PARETOSCOPE_URL=service.url)
        looked = python(cli, "doctor", PARETOSCOPE_URL=service.url, PARETOSCOPE_HOME=str(home / "none"), COLUMNS="300")
    assert listed.returncode == 2 and "this client has paretoscope 0.1.0, which is older" in listed.stderr
    assert drove.returncode == 3 and "the driver on Ray has paretoscope 9.0.0, which is newer" in drove.stderr
    [line] = [json.loads(line) for line in drove.stderr.splitlines()]
    assert (line["study"], line["job"], line["level"]) == (study, study, "error")
    assert looked.returncode == 1 and f"{service.url} has paretoscope {__version__}, and this is 0.1.0" in looked.stdout
