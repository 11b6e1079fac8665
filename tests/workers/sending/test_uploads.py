"""Files of a cohort on their way to a real service, and to one that is not there."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from safetensors.torch import load as unpack

from service.contract.methods.data import Digits
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from tests.planned import planned
from tests.processes import Running, service_alone, short_home, until
from tests.workers.sending.service_stand_in import Answer, StandIn
from workers.planning.plan import Plan
from workers.sending import asking
from workers.sending import files as artifacts
from workers.sending.study_client import StudyClient
from workers.sending.uploads import Uploads
from workers.training.loop import train

CPU = torch.device("cpu")
NAME = "checkpoint.safetensors"


def submitted(service: Running, spec: dict[str, Any]) -> tuple[str, list[PlannedTrial]]:
    answer = service.post("/api/studies", json=spec).json()
    return answer["id"], planned(check_study(spec))


@contextmanager
def sending_to(url: str, study: str) -> Iterator[Uploads]:
    with StudyClient(url, None, study) as client:
        yield Uploads(client)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.5)


def test_a_file_arrives(service: Running, spec: dict[str, Any]) -> None:
    study, (trial, *_) = submitted(service, spec)
    with sending_to(service.url, study) as sending:
        assert sending.put(trial.id, NAME, b"weights") is None and not sending.given_up
    assert service.get(f"/api/studies/{study}/trials/{trial.id}").json()["artifacts"] == {"checkpoint": 7}


def test_a_refused_file_does_not_keep_the_others_back(
    service: Running, spec: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    study, (trial, *_) = submitted(service, spec)
    with sending_to(service.url, study) as sending:
        assert "notes.txt was refused" in str(sending.put(trial.id, "notes.txt", b"text"))
        assert "notes.txt of trial" in caplog.text and "was refused" in caplog.text
        assert sending.put(trial.id, NAME, b"weights") is None


def test_a_study_that_has_ended_ends_the_sending(service: Running, spec: dict[str, Any]) -> None:
    study, (trial, *_) = submitted(service, spec)
    assert service.post(f"/api/studies/{study}/cancel").status_code == 200
    with sending_to(service.url, study) as sending:
        assert sending.put(trial.id, NAME, b"weights") == sending.given_up and sending.given_up


def cohort_of(study: str, spec: dict[str, Any], trials: list[PlannedTrial]) -> tuple[Plan, list[PlannedTrial]]:
    """Those of the first arm: they share a shape."""
    own = [trial for trial in trials if trial.arm == trials[0].arm]
    parsed = check_study(spec)
    seeds = tuple(parsed.mapped_seeds)
    return Plan({t.id: t for t in own}, Digits(), parsed.evaluation, 1, study, seeds), own


def test_every_member_leaves_its_weights_and_the_first_seed_its_map(service: Running, spec: dict[str, Any]) -> None:
    spec = {**spec, "evaluation": {"latent_map": {"points": 20, "perplexity": 3}}}
    study, trials = submitted(service, spec)
    plan, own = cohort_of(study, spec, trials)
    with sending_to(service.url, study) as sending:
        reports = train(
            own, plan.data, plan.evaluation, CPU, at_end=lambda c, alive: artifacts.keep(c, alive, plan, sending)
        )
        assert list(reports)[-1].final
    assert {trial.seed for trial in own} > {0}
    for trial in own:
        sizes = service.get(f"/api/studies/{study}/trials/{trial.id}").json()["artifacts"]
        assert sizes.keys() == ({"checkpoint", "latent-map"} if trial.seed == 0 else {"checkpoint"})
        tensors = unpack(service.get(f"/api/studies/{study}/trials/{trial.id}/checkpoint").content)
        assert tensors["encoder.0.weight"].shape == (16, 64)


def test_a_study_without_checkpoints_leaves_none(service: Running, spec: dict[str, Any]) -> None:
    spec = {**spec, "evaluation": {"checkpoints": False}}
    study, trials = submitted(service, spec)
    plan, own = cohort_of(study, spec, trials)
    with sending_to(service.url, study) as sending:
        list(train(own, plan.data, plan.evaluation, CPU, at_end=lambda c, a: artifacts.keep(c, a, plan, sending)))
    path = f"/api/studies/{study}/trials/{own[0].id}"
    assert service.get(path).json()["artifacts"] == {}
    missing = service.get(f"{path}/checkpoint")
    assert missing.status_code == 404 and "evaluation.checkpoints is off" in missing.json()["error"]["message"]


def test_a_training_whose_files_go_nowhere_ends_well_and_says_so(
    spec: dict[str, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, own = cohort_of("s1", spec, planned(check_study(spec)))

    def broken(*_: Any) -> None:
        raise RuntimeError("no memory for a copy")

    caplog.set_level(logging.INFO)
    gone = StandIn(lambda request: Answer(404))
    with gone.serving(), sending_to(gone.url, "s1") as sending:

        def at_end(cohort: Any, alive: Any) -> dict[int, str]:
            artifacts.keep(cohort, alive, plan, sending)
            monkeypatch.setattr("workers.sending.checkpoint.tensors_of", broken)
            return artifacts.keep(cohort, alive, plan, sending)

        last = list(train(own, plan.data, plan.evaluation, CPU, at_end=at_end))[-1]
    assert last.missing == {trial.id: "the checkpoints could not be made: no memory for a copy" for trial in own}
    assert last.final and not last.failures and last.metrics.keys() == {trial.id for trial in own}
    assert "the service wants no more files" in caplog.text
    assert "the checkpoints could not be made" in caplog.text and "no memory for a copy" in caplog.text


def test_a_service_that_comes_back_gets_the_file(spec: dict[str, Any]) -> None:
    with short_home() as home:
        with service_alone(home) as first:
            study, (trial, *_) = submitted(first, spec)
        port = int(first.url.rpartition(":")[2])
        done: list[str | None] = []

        def send() -> None:
            with sending_to(first.url, study) as sending:
                done.append(sending.put(trial.id, NAME, b"weights"))

        thread = threading.Thread(target=send)
        thread.start()
        with service_alone(home, port) as again:
            until(lambda: done, "the file arrives", 30)
            assert again.get(f"/api/studies/{study}/trials/{trial.id}/checkpoint").content == b"weights"
        thread.join(5)
    assert done == [None]


@pytest.mark.usefixtures("impatient")
def test_a_service_that_hangs_for_longer_than_any_patience_gets_every_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it answered before, it is there: nothing is given up."""
    monkeypatch.setattr(asking, "LONGEST_PAUSE", 0.1)
    answers = iter([Answer(200, '{"state": "running", "leave": false}'), *[Answer(503)] * 12])
    stand_in = StandIn(lambda request: next(answers, Answer(204)))
    with stand_in.serving() as service, StudyClient(service.url, None, "s1") as client:
        assert not client.is_to_leave(threading.Event())
        begun = time.monotonic()
        sending = Uploads(client)
        assert sending.put("t1", NAME, b"weights") is None and sending.put("t2", NAME, b"weights") is None
        assert time.monotonic() - begun > 0.5, "longer than a request is tried otherwise"
