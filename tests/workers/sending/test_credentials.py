"""How a driver gets its token, and which service it takes for its own."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from service.contract.methods.data import Digits
from service.contract.study.study import Evaluation
from service.contract.wire.errors import NotFound, Unavailable
from tests.workers.sending.service_stand_in import Answer, Request, StandIn
from workers.planning.plan import Plan
from workers.run_study import LOST, main
from workers.sending import asking
from workers.sending.credentials import own_token
from workers.sending.study_client import StudyClient


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOKEN", "TOKEN_PATH", "CLAIM", "INSTANCE"):
        monkeypatch.delenv(f"PARETOSCOPE_{name}", raising=False)


def test_a_file_is_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert own_token("http://service", "s1") is None
    (tmp_path / "s1").write_text("secret\n")
    monkeypatch.setenv("PARETOSCOPE_TOKEN_PATH", str(tmp_path / "s1"))
    assert own_token("http://service", "s1") == "secret" and not (tmp_path / "s1").exists()
    with pytest.raises(Unavailable, match="the driver's token cannot be read: No such file"):
        own_token("http://service", "s1")
    monkeypatch.setenv("PARETOSCOPE_URL", "http://service")
    assert main(["s1"]) == LOST


def test_a_code_becomes_a_token_and_leaves_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn(lambda request: Answer(200, '{"token": "secret"}')).serving() as service:
        monkeypatch.setenv("PARETOSCOPE_CLAIM", "code")
        assert own_token(service.url, "s1") == "secret" and "PARETOSCOPE_CLAIM" not in os.environ
    [request] = service.requests
    assert (request.method, request.path, request.token) == ("POST", "/api/studies/s1/token", "Bearer code")


@pytest.mark.parametrize("answer", [Answer(401), Answer(200, "{}"), Answer(200, "<h1>")])
def test_a_code_that_is_not_taken_is_not_tried_again(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> None:
    with StandIn(lambda request: answer).serving() as service:
        monkeypatch.setenv("PARETOSCOPE_CLAIM", "code")
        with pytest.raises(Unavailable, match="gave no token") as error:
            own_token(service.url, "s1")
    assert len(service.requests) == 1 and "code" not in str(error.value).replace("this driver's code", "")


def test_a_plan_does_not_show_its_token() -> None:
    client = StudyClient("http://127.0.0.1:9", "secret", "s1")
    plan = Plan({}, Digits(), Evaluation(), 1, token=client.token)
    assert "secret" not in repr(plan) and plan.token is not None and plan.token.get_secret_value() == "secret"


def test_another_service_at_the_address_is_no_answer_and_not_the_studys_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when ours is away and somebody else has taken its port: its 404 says nothing of our study."""
    known: list[Request] = []

    def answer(request: Request) -> Answer:
        known.append(request)
        return Answer(404) if len(known) < 3 else Answer(200, '{"spec": {}}', {"Paretoscope-Instance": "ours"})

    with StandIn(answer).serving() as service:
        with StudyClient(service.url, None, "s1") as client, pytest.raises(NotFound):
            client.study()
        known.clear()
        monkeypatch.setenv("PARETOSCOPE_INSTANCE", "ours")
        with StudyClient(service.url, None, "s1") as client:
            assert client.study().spec == {}
        assert len(known) == 3
        known.clear()
        monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.3)
        monkeypatch.setenv("PARETOSCOPE_INSTANCE", "other")
        with (
            StudyClient(service.url, None, "s1") as client,
            pytest.raises(Unavailable, match="another service answers"),
        ):
            client.study()
        given_up = threading.Event()
        given_up.set()
        with StudyClient(service.url, None, "s1") as client, pytest.raises(Unavailable):
            client.report([], given_up)
