"""Submitting over a network that fails: a study runs once, however often it had to be sent."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml

from frontends import client as client_module
from frontends.client import Client, ClientError
from tests.frontends.unreliable import Fault, Unreliable, answer_lost, answering, refused
from tests.processes import Running

KEY = "Idempotency-Key"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "TRY_AGAIN_SECONDS", 0.0)


def named(service: Running, name: str) -> list[str]:
    studies = service.get("/api/studies", limit=1000).json()["studies"]
    return [study["id"] for study in studies if study["name"] == name]


@pytest.mark.parametrize(
    "faults", [(), (refused,), (answer_lost,), (refused, answering(503)), (answer_lost, answer_lost)]
)
def test_a_study_whose_answer_is_lost_is_sent_again_and_runs_once(
    service: Running, spec: dict[str, Any], faults: tuple[Fault, ...]
) -> None:
    name, network = uuid.uuid4().hex, Unreliable(*faults)
    with Client(service.url, transport=network) as client:
        study = client.submit({**spec, "name": name})
    assert named(service, name) == [study.id]
    assert len(network.requests) == len(faults) + 1 and len(set(network.seen(KEY))) == 1


def test_two_submissions_are_two_studies(service: Running, spec: dict[str, Any]) -> None:
    network = Unreliable()
    with Client(service.url, transport=network) as client:
        assert client.submit(spec).id != client.submit(spec).id
    first, second = network.seen(KEY)
    assert first and second and first != second


def test_a_refused_study_is_not_sent_again(service: Running, spec: dict[str, Any]) -> None:
    network = Unreliable()
    with Client(service.url, transport=network) as client, pytest.raises(ClientError) as error:
        client.submit({**spec, "seeds": []})
    assert len(network.requests) == 1
    assert error.value.status == 422 and [detail["path"] for detail in error.value.details] == ["seeds"]


@pytest.mark.parametrize("tries", [1, 3])
def test_the_last_try_says_that_there_was_no_answer(service: Running, spec: dict[str, Any], tries: int) -> None:
    network = Unreliable(*[refused] * 9)
    with Client(service.url, transport=network) as client, pytest.raises(ClientError) as error:
        client.submit(spec, tries=tries)
    assert len(network.requests) == tries and error.value.status == 0


def test_a_study_is_a_dict_a_text_or_a_file(service: Running, spec: dict[str, Any], tmp_path: Path) -> None:
    text = yaml.safe_dump(spec, allow_unicode=True)
    file = tmp_path / "study.yaml"
    file.write_text(text)
    with Client(service.url) as client:
        specs = [client.submit(given).read()["spec"] for given in (spec, text, file)]
    assert specs[0] == specs[1] == specs[2] and specs[0]["arms"][0]["name"] == "manual β"
