"""Files of trials in the test's own process: who may put what, and how much of the disk they may take."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from starlette.requests import ClientDisconnect

from service.web import lingering
from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.figures.test_latent_figure import MAP

NAME = "checkpoint.safetensors"


class Usage(NamedTuple):
    total: int
    used: int
    free: int


class Disk:
    """As much of it is free as a test says."""

    def __init__(self) -> None:
        self.free = 10**12

    def __call__(self, path: object) -> Usage:
        return Usage(10**12, 0, self.free)


@pytest.fixture(scope="module")
def small() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, None, keep_free_bytes=400, max_artifact_bytes=900)
        yield bench
        bench.close()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr("service.web.disk_space.shutil.disk_usage", disk)
    return disk


def put(bench: Bench, study: str, trial: str, content: Any, name: str = NAME) -> httpx.Response:
    return bench.ask("PUT", f"/api/studies/{study}/trials/{trial}/artifacts/{name}", content=content)


async def unannounced(content: bytes) -> AsyncIterator[bytes]:
    yield content


def test_weights_leave_the_disk_what_the_log_needs(small: Bench, disk: Disk) -> None:
    study = small.submit()
    trial = small.trials(study)[0]
    disk.free = 1000
    assert put(small, study, trial, b"x" * 600).status_code == 204, "what is left is just enough"
    refused = put(small, study, trial, b"x" * 601)
    assert (refused.status_code, refused.json()["error"]["code"]) == (507, "no_space"), "it passes: workers try again"
    assert "has 1,000 bytes left and keeps 400" in refused.json()["error"]["message"]
    assert small.get(f"/api/studies/{study}/trials/{trial}")["artifacts"] == {"checkpoint": 600}


def test_what_does_not_say_its_size_may_be_as_large_as_any(small: Bench, disk: Disk) -> None:
    study = small.submit()
    trial = small.trials(study)[0]
    for free, status in ((1299, 507), (1300, 204)):
        disk.free = free
        assert put(small, study, trial, unannounced(b"x")).status_code == status, free


def test_files_that_come_together_share_what_the_disk_has(small: Bench, disk: Disk) -> None:
    """The second is looked at while the first is half there."""
    study = small.submit()
    first, second = small.trials(study)
    disk.free = 1000
    answers: list[httpx.Response] = []

    async def weights() -> AsyncIterator[bytes]:
        yield b"x" * 200
        disk.free -= 200
        for size in (201, 200):
            answers.append(await asyncio.to_thread(put, small, study, second, b"x" * size))
        yield b"x" * 200

    sized = {"Content-Length": "400"}
    path = f"/api/studies/{study}/trials/{first}/artifacts/{NAME}"
    assert small.ask("PUT", path, content=weights(), headers=sized).status_code == 204
    assert [answer.status_code for answer in answers] == [507, 204]
    said = "the service's disk has 800 bytes left, 200 of them for files that are on their way, and keeps 400"
    assert said in answers[0].json()["error"]["message"]
    disk.free = 601
    assert put(small, study, second, b"x" * 201).status_code == 204, "what it held is given back"


def test_what_a_file_held_that_broke_off_is_given_back(small: Bench, disk: Disk) -> None:
    study = small.submit()
    first, second = small.trials(study)
    disk.free = 1000

    async def weights() -> AsyncIterator[bytes]:
        yield b"x" * 100
        raise ClientDisconnect

    path = f"/api/studies/{study}/trials/{first}/artifacts/{NAME}"
    assert small.ask("PUT", path, content=weights(), headers={"Content-Length": "600"}).status_code == 422
    assert put(small, study, second, b"x" * 600).status_code == 204


def test_an_ended_study_takes_a_resend_and_nothing_new(small: Bench) -> None:
    study = small.submit()
    first, second = small.trials(study)
    assert put(small, study, first, b"weights").status_code == 204
    small.cancel(study)
    assert put(small, study, first, b"weights").status_code == 204
    for trial, content in ((first, b"others"), (second, b"weights")):
        refused = put(small, study, trial, content)
        assert refused.status_code == 409
        assert refused.json()["error"]["details"] == [{"path": "state", "message": "cancelled"}]
    assert small.get(f"/api/studies/{study}/trials/{second}")["artifacts"] == {}
    assert small.ask("GET", f"/api/studies/{study}/trials/{first}/checkpoint").content == b"weights"


def test_what_an_ended_study_cannot_take_is_refused_unread(small: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lingering, "MOST_BYTES", 0)  # else what is left would be thrown away
    study = small.submit()
    trial = small.trials(study)[0]
    small.cancel(study)
    taken: list[bytes] = []

    async def weights() -> AsyncIterator[bytes]:
        taken.append(b"weights")
        yield taken[0]

    assert (put(small, study, trial, weights()).status_code, taken) == (409, [])


@pytest.mark.parametrize(
    ("of", "trial", "name", "status"), [("", "nope", NAME, 404), ("nope", "", NAME, 404), ("", "", "x", 422)]
)
def test_a_file_needs_a_study_a_trial_and_a_known_name(
    small: Bench, of: str, trial: str, name: str, status: int
) -> None:
    study = small.submit()
    assert put(small, of or study, trial or small.trials(study)[0], b"x", name).status_code == status
    assert not (small.settings.home / "artifacts" / study).exists()


def test_a_study_deleted_while_its_file_comes_in_leaves_none(small: Bench) -> None:
    study = small.submit()
    trial = small.trials(study)[0]
    folder = small.settings.home / "artifacts" / study

    async def weights() -> AsyncIterator[bytes]:
        yield b"half"
        assert [len(list(folder.rglob("*.safetensors*"))), small.parts.store.study(study).id] == [1, study]
        small.parts.store.delete(study)
        yield b"of it"

    answer = put(small, study, trial, weights())
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert not folder.exists()


def test_a_study_deleted_with_its_files_while_another_comes_in_leaves_none(small: Bench) -> None:
    study = small.submit()
    trial = small.trials(study)[0]

    async def weights() -> AsyncIterator[bytes]:
        yield b"half"
        small.parts.artifacts.forget(study)
        yield b"of it"

    assert put(small, study, trial, weights()).status_code == 404
    assert not (small.settings.home / "artifacts" / study).exists()


def test_an_upload_that_breaks_off_is_the_senders_fault(small: Bench) -> None:
    study = small.submit()
    trial = small.trials(study)[0]

    async def weights() -> AsyncIterator[bytes]:
        yield b"half"
        raise ClientDisconnect

    answer = put(small, study, trial, weights())
    assert (answer.status_code, answer.json()["error"]["message"]) == (422, "the upload was interrupted")
    assert list((small.settings.home / "artifacts" / study / trial).iterdir()) == []


def test_a_latent_map_is_named_after_its_trial_and_refused_by_its_place(small: Bench) -> None:
    study = small.submit()
    trial = small.trials(study)[0]
    refused = put(small, study, trial, json.dumps({**MAP, "labels": [0, 1]}).encode(), "latent-map.json")
    assert refused.status_code == 422 and len(refused.json()["error"]["details"]) == 1
    assert small.get(f"/api/studies/{study}/trials/{trial}")["artifacts"] == {}
    content = json.dumps(MAP).encode()
    assert put(small, study, trial, content, "latent-map.json").status_code == 204
    answer = small.ask("GET", f"/api/studies/{study}/trials/{trial}/artifacts/latent-map.json")
    assert (answer.content, answer.headers["content-type"]) == (content, "application/json")
    assert f'filename="{study}-{trial}-latent-map.json"' in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    ("checkpoints", "why"),
    [(True, "it has not finished"), (False, "evaluation.checkpoints is off in this study; run it again with it on")],
)
def test_a_trial_without_weights_says_why(small: Bench, checkpoints: bool, why: str) -> None:
    study = small.submit(evaluation={"checkpoints": checkpoints})
    trial = small.trials(study)[0]
    answer = small.ask("GET", f"/api/studies/{study}/trials/{trial}/checkpoint")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == f"trial {trial} has no checkpoint.safetensors: {why}"
