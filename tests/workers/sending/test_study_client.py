"""One rule of trying again for all that drivers and workers ask of the service."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from service.contract.wire.errors import Conflict, InvalidInput, NotFound, ParetoscopeError, TooLarge, Unavailable
from service.contract.wire.events import TrialFinished
from tests.processes import free_port
from tests.workers.sending.service_stand_in import Answer, Request, StandIn
from workers.sending import asking
from workers.sending.study_client import StudyClient
from workers.sending.uploads import Uploads

Ask = Callable[[StudyClient], Any]
ASKED: dict[str, Ask] = {
    "study": lambda client: client.study(),
    "trials": lambda client: list(client.trials()),
    "report": lambda client: client.report([TrialFinished(uid="u", trial="t")], threading.Event()),
    "upload": lambda client: client.upload("t", "checkpoint.safetensors", b"weights"),
}
GOOD = json.dumps({"spec": {"name": "s"}, "started_at": None, "trials": [], "next": None})
every_request = pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.001)


def failing_first(*statuses: int) -> StandIn:
    left = list(statuses)
    return StandIn(lambda request: Answer(left.pop(0)) if left else Answer(200, GOOD))


@every_request
@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408, 401, 403])
def test_what_may_pass_is_tried_again_with_the_same_request(ask: Ask, status: int) -> None:
    with failing_first(status, status).serving() as service, StudyClient(service.url, "secret", "s1") as client:
        ask(client)
    assert len(service.requests) == 3 and len(set(service.requests)) == 1
    assert service.requests[0].token == "Bearer secret"


@every_request
@pytest.mark.parametrize(
    ("status", "error"),
    [(404, NotFound), (409, Conflict), (413, TooLarge), (422, InvalidInput), (400, ParetoscopeError)],
)
def test_an_answer_about_the_request_itself_is_final(ask: Ask, status: int, error: type[ParetoscopeError]) -> None:
    with (
        StandIn(lambda request: Answer(status, "because")).serving() as service,
        StudyClient(service.url, None, "s1") as client,
        pytest.raises(error, match=f"status {status}: because") as caught,
    ):
        ask(client)
    assert type(caught.value) is error and len(service.requests) == 1


@every_request
def test_a_lost_connection_is_tried_again(ask: Ask) -> None:
    losses = iter([httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("cut off")])

    def answer(request: httpx.Request) -> httpx.Response:
        if loss := next(losses, None):
            raise loss
        return httpx.Response(200, text=GOOD)

    with StudyClient("http://service", None, "s1", httpx.MockTransport(answer)) as client:
        ask(client)
    assert next(losses, None) is None, "three losses, then the answer"


@pytest.mark.parametrize("name", ["study", "trials"])
def test_patience_of_a_driver_has_an_end_as_it_is_started_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.05)
    with (
        StudyClient(f"http://127.0.0.1:{free_port()}", None, "s1") as client,
        pytest.raises(Unavailable, match=r"tried for 0\.05 s"),
    ):
        ASKED[name](client)


@pytest.mark.parametrize(
    "ask",
    [ASKED["upload"], lambda client: client.saved_state("c0"), lambda client: client.code()],
    ids=["weights", "a saved state", "own code"],
)
def test_what_training_would_be_lost_without_outlasts_all_patience(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a service that has never answered: a cohort's process may start while it is away."""
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.0)
    with failing_first(*[503] * 5).serving() as service, StudyClient(service.url, None, "s1") as client:
        ask(client)
    assert len(service.requests) == 6


def test_a_disk_without_room_is_waited_for_and_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.0)
    full = [Answer(507, json.dumps({"error": {"code": "no_space", "message": "the disk has 7 bytes", "details": []}}))]
    crowded = StandIn(lambda request: full.pop() if full else Answer(204))
    with crowded.serving() as service, StudyClient(service.url, None, "s1") as client:
        assert Uploads(client).put("t", "checkpoint.safetensors", b"weights") is None
    assert len(service.requests) == 2 and "the disk has 7 bytes; still trying" in caplog.text


def test_a_report_outlasts_all_patience_and_ends_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.0)
    tries, stop = [], threading.Event()

    def answer(request: httpx.Request) -> httpx.Response:
        tries.append(request)
        if len(tries) == 8:
            stop.set()
        return httpx.Response(503)

    client = StudyClient("http://service", None, "s1", httpx.MockTransport(answer))
    with client, pytest.raises(Unavailable, match="before the end: status 503"):
        client.report([TrialFinished(uid="u", trial="t")], stop)
    assert len(tries) == 8


def test_pauses_double_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0.0)
            return len(pauses) == 8

    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.1)
    client = StudyClient("http://service", None, "s1", httpx.MockTransport(lambda request: httpx.Response(500)))
    with client, pytest.raises(Unavailable):
        client.report([], Stop())
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0])


def test_trouble_is_told_once_a_minute(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    now = [1000.0]

    class Stop(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            now[0] += 10.0
            return now[0] > 1125.0

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    client = StudyClient("http://service", None, "s1", httpx.MockTransport(lambda request: httpx.Response(500)))
    with client, caplog.at_level(logging.WARNING, asking.__name__), pytest.raises(Unavailable):
        client.report([], Stop())
    assert [record.getMessage() for record in caplog.records if record.name == asking.__name__] == [
        "the service at http://service cannot be reached: status 500; still trying"
    ] * 2


def test_no_request_waits_without_end_for_a_service_that_hangs() -> None:
    waits: list[dict[str, float]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        waits.append(request.extensions["timeout"])
        return httpx.Response(200, text=GOOD)

    with StudyClient("http://service", None, "s1", httpx.MockTransport(answer)) as client:
        for ask in ASKED.values():
            ask(client)
    assert waits == [{"connect": 5.0, "read": 30.0, "write": 30.0, "pool": 30.0}] * 4


def test_a_minute_without_an_answer_is_borne(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 59.99, 60.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    tries: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        tries.append(request)
        return httpx.Response(503)

    client = StudyClient("http://service", None, "s1", httpx.MockTransport(answer))
    with client, pytest.raises(Unavailable, match=r"service at http://service, tried for 60 s: status 503"):
        client.study()
    assert len(tries) == 2


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.0)
    with failing_first().serving() as service, StudyClient(service.url, None, "s1") as client:
        assert client.study().spec == {"name": "s"}
    assert service.requests[0].token is None


def test_a_page_of_a_proxy_does_not_fill_the_log() -> None:
    client = StudyClient(
        "http://service", None, "s1", httpx.MockTransport(lambda _: httpx.Response(422, text="x" * 9000))
    )
    with client, pytest.raises(InvalidInput) as refused:
        client.study()
    assert refused.value.message == "status 422: " + "x" * 1000


@pytest.mark.parametrize(("status", "tries"), [(404, 1), (409, 1), (413, 2), (422, 2)])
def test_files_are_given_up_when_the_study_is_over_or_gone_not_when_one_is_refused(status: int, tries: int) -> None:
    with StandIn(lambda request: Answer(status)).serving() as service, StudyClient(service.url, None, "s1") as client:
        uploads = Uploads(client)
        assert all(uploads.put(trial, "latent-map.json", b"{}") for trial in ("a", "b"))
        assert bool(uploads.given_up) == (tries == 1)
    assert len(service.requests) == tries


def test_events_travel_as_json() -> None:
    with failing_first().serving() as service, StudyClient(service.url, None, "s1") as client:
        client.report([TrialFinished(uid="u", trial="t", log=["ä"])], threading.Event())
    (request,) = service.requests
    assert (request.path, request.content_type) == ("/api/studies/s1/reports", "application/json")
    assert json.loads(request.body) == {"events": [{"uid": "u", "kind": "trial_finished", "trial": "t", "log": ["ä"]}]}


@pytest.mark.parametrize(("arm", "query"), [(None, "limit=1000"), ("a", "limit=1000&arm=a")])
def test_every_page_of_trials_is_read_in_order(arm: str | None, query: str) -> None:
    def trial(name: str) -> dict[str, object]:
        return {"id": name, "arm": "a", "state": "planned", "config": {"model.widths": [8]}, "metrics": {}, "seed": 0}

    def answer(request: Request) -> Answer:
        page = {"trials": [trial("c")], "next": None} if "after=b" in request.path else None
        return Answer(200, json.dumps(page or {"trials": [trial("a"), trial("b")], "next": "b"}))

    with StandIn(answer).serving() as service, StudyClient(service.url, None, "s1") as client:
        assert [known.id for known in client.trials(arm)] == ["a", "b", "c"]
    first, second = (request.path for request in service.requests)
    assert first == f"/api/studies/s1/trials?{query}" and second == first + "&after=b"


def test_a_file_survives_errors_of_the_server_byte_by_byte() -> None:
    content = bytes(range(256)) * 100
    with failing_first(500, 503).serving() as service, StudyClient(service.url, None, "s1") as client:
        uploads = Uploads(client)
        assert uploads.put("t1", "checkpoint.safetensors", content) is None and not uploads.given_up
    assert [request.body for request in service.requests] == [content] * 3
    assert {request.path for request in service.requests} == {
        "/api/studies/s1/trials/t1/artifacts/checkpoint.safetensors"
    }
