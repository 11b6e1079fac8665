"""Where the service is, with which token it is called, and what its answers become."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from frontends import connection as connection_module
from frontends.client import Client, ClientError, Study, default_home, default_url
from frontends.connection import VERSION, NoAnswer, checked
from paretoscope import __version__
from service.contract.wire import versions
from tests.frontends.conftest import TOKEN
from tests.processes import Running


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PARETOSCOPE_URL", raising=False)
    monkeypatch.delenv("PARETOSCOPE_TOKEN", raising=False)
    monkeypatch.setenv("PARETOSCOPE_HOME", str(tmp_path))


def note(home: Path, url: str) -> None:
    (home / "service.json").write_text(json.dumps({"url": url, "pid": 1}))


def test_the_address_is_the_given_one_else_the_variable_else_the_homes_else_port_8000(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert default_url() == Client().url == "http://127.0.0.1:8000"
    note(tmp_path, "http://127.0.0.1:8001")
    assert Client().url == "http://127.0.0.1:8001"
    monkeypatch.setenv("PARETOSCOPE_URL", "http://127.0.0.1:8002/")
    assert Client().url == "http://127.0.0.1:8002"
    assert Client("http://127.0.0.1:8003").url == "http://127.0.0.1:8003"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_note_that_is_just_being_written_is_no_address(tmp_path: Path, text: str) -> None:
    (tmp_path / "service.json").write_text(text)
    assert default_url() == "http://127.0.0.1:8000"


def test_the_home_is_the_users_own_unless_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert default_home() == tmp_path
    monkeypatch.delenv("PARETOSCOPE_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert default_home() == Path("/home/ada/.paretoscope")


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PARETOSCOPE_HOME", "PARETOSCOPE_URL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HOME", "/home/ada")
    assert (default_home(), default_url()) == (Path("/home/ada/.paretoscope"), "http://127.0.0.1:8000")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://127.0.0.1", "http://", "http://x:port", "8000"])
def test_what_is_no_address_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(ClientError) as error:
        Client(url)
    assert error.value.status == 422 and repr(url) in error.value.message
    assert checked("https://example.org/lab/") == "https://example.org/lab"


CALLS: dict[str, Callable[[Client, str], object]] = {
    "submit": lambda client, _: client.submit({"name": "x", "arms": [{"name": "a", "weighting": {"name": "uniform"}}]}),
    "studies": lambda client, _: client.studies(),
    "presets": lambda client, _: client.presets(),
    "catalog": lambda client, _: client.catalog(),
    "figures": lambda client, _: client.figures(),
    "study": lambda client, study: client.study(study),
    "follow": lambda client, study: list(Study(client, study).follow()),
    "events": lambda client, study: list(Study(client, study).events()),
    "front": lambda client, study: Study(client, study).front(),
    "comparison": lambda client, study: Study(client, study).comparison(),
    "trials": lambda client, study: Study(client, study).trials(),
    "export": lambda client, study: Study(client, study).export(),
    "report": lambda client, study: Study(client, study).report(),
    "methods": lambda client, study: Study(client, study).methods(),
}


@pytest.fixture(scope="module")
def cancelled(guarded: Running) -> str:
    with Client(guarded.url, TOKEN) as client:
        study = client.submit({"name": "x", "arms": [{"name": "a", "weighting": {"name": "uniform"}}]})
        study.cancel()
    return study.id


@pytest.mark.parametrize("call", CALLS)
def test_every_call_carries_the_token(guarded: Running, cancelled: str, call: str) -> None:
    with Client(guarded.url, TOKEN) as client:
        assert CALLS[call](client, cancelled)
    for wrong in (None, "guess"):
        with Client(guarded.url, wrong) as stranger, pytest.raises(ClientError, match="needs its token") as error:
            CALLS[call](stranger, cancelled)
        assert error.value.status == 401


def test_the_given_token_goes_before_the_variable(guarded: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARETOSCOPE_TOKEN", TOKEN)
    with Client(guarded.url) as client:
        assert client.presets()
    with Client(guarded.url, "guess") as client, pytest.raises(ClientError):
        client.presets()
    monkeypatch.setenv("PARETOSCOPE_TOKEN", "guess")
    with Client(guarded.url, TOKEN) as client:
        assert client.presets()


def test_the_homes_own_service_is_told_the_homes_token_and_no_other_is(
    guarded: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    with Client(guarded.url) as client, pytest.raises(ClientError, match="needs its token"):
        client.presets()  # nothing says that this is the home's
    note(tmp_path, guarded.url)
    for url in (None, guarded.url, f"{guarded.url}/"):
        with Client(url) as client:
            assert client.presets()
    with Client(guarded.url, "guess") as client, pytest.raises(ClientError):
        client.presets()
    note(tmp_path, "http://127.0.0.1:9")
    assert "Authorization" not in Client(guarded.url)._http.headers
    monkeypatch.setenv("PARETOSCOPE_TOKEN", "of the shell")
    assert Client("http://127.0.0.1:9")._http.headers["Authorization"] == "Bearer of the shell"


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe"])
def test_a_file_without_a_token_is_none(tmp_path: Path, content: bytes) -> None:
    note(tmp_path, "http://127.0.0.1:9")
    (tmp_path / "token").write_bytes(content)
    assert "Authorization" not in Client()._http.headers


def test_a_proxy_of_the_environment_is_not_asked(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Client(service.url) as client:
        assert client.presets()


def test_no_answer_advises_a_python_program_in_python() -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(NoAnswer) as error:
        client.presets()
    assert error.value.status == 0 and "no answer from http://127.0.0.1:9" in error.value.message
    assert "'paretoscope up'" in str(error.value) and "Client(url=…)" in str(error.value)
    assert "--url" not in str(error.value)


def answering(status: int, content: bytes) -> Client:
    """Another server than ours, which ours cannot be asked to be."""
    return Client(
        "http://127.0.0.1:9", transport=httpx.MockTransport(lambda _: httpx.Response(status, content=content))
    )


@pytest.mark.parametrize("body", [b"<h1>Bad gateway</h1>", b"[]", b'{"error": "odd"}', b'{"error": {"code": 1}}'])
def test_a_refusal_in_other_words_is_told_by_its_status(body: bytes) -> None:
    with answering(502, body) as client, pytest.raises(ClientError) as error:
        client.presets()
    assert (error.value.message, error.value.status) == ("http://127.0.0.1:9/api/presets answered 502", 502)


def test_another_server_is_told_from_ours() -> None:
    with answering(200, b"<h1>Welcome</h1>") as client, pytest.raises(ClientError) as error:
        client.studies(state="running")
    told = "http://127.0.0.1:9/api/studies did not answer in JSON: is it a Paretoscope service?"
    assert (error.value.message, error.value.status) == (told, 0)


def test_all_trials_come_however_many_pages_they_fill(service: Running, spec: dict[str, Any]) -> None:
    arms = [{"name": "a", "weighting": {"name": "fixed", "beta": {"grid": [i / 2000 for i in range(1, 1003)]}}}]
    with Client(service.url) as client:
        study = client.submit({**spec, "seeds": [0], "arms": arms, "limits": {"trials": 2000}})
        trials = study.trials()
        assert len({trial["id"] for trial in trials}) == len(trials) == 1002
        assert [trial["config"]["weighting.beta"] for trial in trials[-2:]] == [0.5005, 0.501]
        assert study.trials(limit=1001) == trials[:1001] and study.trials(limit=3) == trials[:3]
        assert [trial["id"] for trial in study.trials(where="weighting.beta > 0.5")] == [t["id"] for t in trials[-2:]]


def test_studies_come_newest_first_up_to_the_limit(
    service: Running, spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "PAGE", 2)
    with Client(service.url) as client:
        ids = [client.submit(spec).id for _ in range(5)]
        assert [study["id"] for study in client.studies(limit=5)] == ids[::-1]
        assert [study["id"] for study in client.studies(limit=1)] == ids[-1:]
        client.study(ids[1]).cancel()
        assert client.studies(state="cancelled", limit=1)[0]["id"] == ids[1]
        assert {study["state"] for study in client.studies(state="queued", limit=4)} == {"queued"}
        assert len(client.studies()) > 4


def test_an_id_is_one_part_of_the_address_whatever_is_in_it(service: Running) -> None:
    with Client(service.url) as client:
        for odd in ("../presets", "s1?x=1", "a/b", "%2e"):
            with pytest.raises(ClientError) as error:
                client.study(odd)
            assert error.value.status == 404


def test_a_deleted_study_is_gone(service: Running, spec: dict[str, Any]) -> None:
    with Client(service.url) as client:
        study = client.submit(spec)
        study.cancel()
        study.delete()
        with pytest.raises(ClientError, match="no study"):
            client.study(study.id)


def test_every_request_says_the_client_s_version() -> None:
    assert VERSION == versions.VERSION
    assert Client("http://127.0.0.1:9")._http.headers[VERSION] == f"client/{__version__}"
