"""Files and log lines of trials over real HTTP: who may put what, what is answered, and when it is gone."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes import Running, service_alone, short_home, until
from tests.service.figures.test_latent_figure import MAP
from tests.service.routes.test_http import played, send, submit

NAME = "checkpoint.safetensors"


def put(service: Running, study: str, trial: str, content: Any, name: str = NAME) -> httpx.Response:
    path = f"{service.url}/api/studies/{study}/trials/{trial}/artifacts/{name}"
    return httpx.put(path, content=content, headers=service.headers, timeout=30, trust_env=False)


@pytest.fixture
def study(service: Running, spec: dict[str, Any]) -> str:
    return str(submit(service, spec)["id"])


@pytest.fixture
def trial(service: Running, study: str) -> str:
    return str(service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"])


def folder(service: Running, study: str) -> Path:
    return service.home / "artifacts" / study


def test_a_file_is_handed_out_as_it_came(service: Running, study: str, trial: str) -> None:
    content = bytes(range(256)) * 1000
    assert put(service, study, trial, content).status_code == 204
    answer = service.get(f"/api/studies/{study}/trials/{trial}/checkpoint")
    assert answer.content == content
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-length"] == "256000"
    assert f'filename="{study}-{trial}.safetensors"' in answer.headers["content-disposition"]
    assert service.get(f"/api/studies/{study}/trials/{trial}").json()["artifacts"] == {"checkpoint": 256_000}
    assert (folder(service, study) / trial / NAME).read_bytes() == content


def test_a_second_upload_takes_the_place_of_the_first(service: Running, study: str, trial: str) -> None:
    for content in (b"first", b"second, longer"):
        assert put(service, study, trial, content).status_code == 204
    path = f"/api/studies/{study}/trials/{trial}"
    assert service.get(f"{path}/artifacts/{NAME}").content == b"second, longer"
    assert service.get(path).json()["artifacts"] == {"checkpoint": 14}


def test_a_latent_map_is_checked_before_it_is_kept(service: Running, study: str, trial: str) -> None:
    bad = {**MAP, "labels": [0, 1]}
    for content, words in ((b"{", "latent map"), (b"[]", "latent map"), (json.dumps(bad).encode(), "4 entries")):
        answer = put(service, study, trial, content, "latent-map.json")
        assert answer.status_code == 422 and words in answer.json()["error"]["message"], answer.text
    path = f"/api/studies/{study}/trials/{trial}"
    assert service.get(path).json()["artifacts"] == {}
    assert put(service, study, trial, json.dumps(MAP).encode(), "latent-map.json").status_code == 204
    answer = service.get(f"{path}/artifacts/latent-map.json")
    assert answer.json() == MAP and answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("name", ["notes.txt", "..%2f..%2fstore.db", "checkpoint", "CHECKPOINT.SAFETENSORS"])
def test_only_known_names_are_taken(service: Running, study: str, trial: str, name: str) -> None:
    assert put(service, study, trial, b"x", name).status_code in (404, 422)  # 404: a slash makes it another path
    assert not folder(service, study).exists()


def test_an_unknown_name_says_which_are_known(service: Running, study: str, trial: str) -> None:
    answer = put(service, study, trial, b"x", "notes.txt")
    assert answer.status_code == 422 and "checkpoint.safetensors" in answer.json()["error"]["message"]


def test_files_belong_to_trials_of_the_study(service: Running, study: str, spec: dict[str, Any]) -> None:
    for where, trial in ((study, "t000000000000"), (study, ".."), ("nope", "t000000000000")):
        assert put(service, where, trial, b"x").status_code == 404
    assert not folder(service, study).exists()


def test_a_trial_without_weights_says_why(service: Running, study: str, trial: str, spec: dict[str, Any]) -> None:
    answer = service.get(f"/api/studies/{study}/trials/{trial}/checkpoint")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == f"trial {trial} has no checkpoint.safetensors: it has not finished"
    off = submit(service, {**spec, "evaluation": {"checkpoints": False}})["id"]
    answer = service.get(f"/api/studies/{off}/trials/{trial}/checkpoint")
    assert "evaluation.checkpoints is off" in answer.json()["error"]["message"]
    assert service.get(f"/api/studies/{study}/trials/nope/checkpoint").status_code == 404


def test_an_ended_study_takes_only_what_it_has(service: Running, spec: dict[str, Any]) -> None:
    study = submit(service, spec)["id"]
    one, two = (t["id"] for t in service.get(f"/api/studies/{study}/trials").json()["trials"][:2])
    assert put(service, study, one, b"weights").status_code == 204
    assert service.post(f"/api/studies/{study}/cancel").status_code == 200
    assert put(service, study, one, b"weights").status_code == 204
    for trial, content in ((one, b"other weights"), (two, b"weights")):
        answer = put(service, study, trial, content)
        assert answer.status_code == 409
        assert answer.json()["error"]["details"] == [{"path": "state", "message": "cancelled"}]
    assert service.get(f"/api/studies/{study}/trials/{one}/checkpoint").content == b"weights"
    assert sorted(place.name for place in (folder(service, study) / one).iterdir()) == [NAME]


def test_a_deleted_study_leaves_no_file(service: Running, study: str, trial: str) -> None:
    assert put(service, study, trial, b"weights").status_code == 204
    assert folder(service, study).is_dir()
    assert httpx.delete(f"{service.url}/api/studies/{study}", trust_env=False).status_code == 204
    assert not folder(service, study).exists()
    assert put(service, study, trial, b"weights").status_code == 404
    assert not folder(service, study).exists()


def test_a_study_that_may_not_be_deleted_keeps_its_files(service: Running, study: str, trial: str) -> None:
    send(service, study, {"uid": "go", "kind": "study_started"}).raise_for_status()
    assert put(service, study, trial, b"weights").status_code == 204
    assert httpx.delete(f"{service.url}/api/studies/{study}", timeout=30, trust_env=False).status_code == 409
    assert service.get(f"/api/studies/{study}/trials/{trial}/checkpoint").content == b"weights"


def test_an_upload_that_breaks_off_leaves_nothing(service: Running, study: str, trial: str) -> None:
    address = httpx.URL(service.url)
    with socket.create_connection((address.host, address.port)) as line:
        path = f"/api/studies/{study}/trials/{trial}/artifacts/{NAME}"
        line.sendall(f"PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n".encode() + b"x" * 500)
        kept = folder(service, study) / trial
        until(lambda: kept.is_dir() and list(kept.iterdir()), "the upload has begun")
    until(lambda: not list(kept.iterdir()), "nothing is left")
    assert service.get(f"/api/studies/{study}/trials/{trial}").json()["artifacts"] == {}
    assert "Traceback" not in service.log()


def test_files_have_their_own_limit(spec: dict[str, Any]) -> None:
    with (
        short_home() as home,
        service_alone(home, PARETOSCOPE_MAX_ARTIFACT_BYTES="3000", PARETOSCOPE_MAX_STUDY_BYTES="2000") as service,
    ):
        study = submit(service, spec)["id"]
        trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
        assert put(service, study, trial, b"x" * 2500).status_code == 204

        def hidden() -> Any:
            for _ in range(40):
                yield b"y" * 100

        for content in (b"y" * 3001, hidden()):
            answer = put(service, study, trial, content)
            assert answer.status_code == 413 and answer.json()["error"]["code"] == "too_large"
        assert service.get(f"/api/studies/{study}/trials/{trial}/checkpoint").content == b"x" * 2500
        assert [place.name for place in (folder(service, study) / trial).iterdir()] == [NAME]


def test_files_need_the_token_too(spec: dict[str, Any]) -> None:
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="secret-of-the-owner") as service:
        assert put(service, "s", "t", b"x").status_code == 401


# Log lines


def test_a_trial_keeps_its_last_200_lines(service: Running, study: str, trial: str) -> None:
    def report(epoch: int, lines: list[str] | None) -> dict[str, Any]:
        event = {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": {"epoch": epoch}}
        return event if lines is None else {**event, "log": lines}

    lines = [f"line {i}" for i in range(250)]
    failed = {"uid": f"{trial}:failed", "kind": "trial_failed", "trial": trial, "reason": "x", "log": lines[200:]}
    events = [report(1, lines[:150]), report(2, None), report(3, lines[150:200]), failed]
    send(service, study, {"uid": "go", "kind": "study_started"}).raise_for_status()
    assert send(service, study, *events).json()["accepted"] == 4
    assert send(service, study, *events).json()["duplicates"] == 4
    answer = service.get(f"/api/studies/{study}/trials/{trial}").json()
    assert answer["log"] == lines[50:] and answer["state"] == "failed"
    listed = service.get(f"/api/studies/{study}/trials").json()["trials"][0]
    assert "log" not in listed and "artifacts" not in listed


def test_a_trial_that_said_nothing_has_an_empty_log(service: Running, spec: dict[str, Any]) -> None:
    study, trials = played(service, spec)
    assert service.get(f"/api/studies/{study}/trials/{trials[0]['id']}").json()["log"] == []


@pytest.mark.parametrize("lines", [["x"] * 201, ["x" * 501], "x", [1]], ids=["many", "long", "text", "number"])
def test_log_lines_are_bounded(service: Running, study: str, trial: str, lines: Any) -> None:
    event = {"uid": "a", "kind": "trial_finished", "trial": trial, "log": lines}
    assert send(service, study, event).status_code == 422
