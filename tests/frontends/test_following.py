"""Following a study to its end: nothing lost, nothing twice, and no end before the end."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from frontends import study as study_module
from frontends.client import Client, ClientError, Study
from frontends.connection import NoAnswer, Patience
from tests.frontends.played import Playing, begin
from tests.frontends.unreliable import Fault, Unreliable, answering, cut_after, refused
from tests.processes import Running

FINISHED = {"kind": "study_finished"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_module, "TRY_AGAIN_SECONDS", 0.0)


@pytest.fixture
def running(service: Running, spec: dict[str, Any]) -> str:
    return begin(service, spec, end=False)


@pytest.fixture
def finished(service: Running, spec: dict[str, Any]) -> str:
    return begin(service, spec, end=True)


def test_waiting_ends_when_the_study_has_and_not_before(service: Running, running: str) -> None:
    network = Playing(service, running, FINISHED)
    with Client(service.url, transport=network) as client:
        study = Study(client, running)
        assert study.wait() is study
    assert len(network.requests) == 3


def test_waiting_for_a_study_that_fails_raises_its_reason(service: Running, running: str) -> None:
    network = Playing(service, running, {"kind": "study_failed", "reason": "the driver died"})
    with (
        Client(service.url, transport=network) as client,
        pytest.raises(ClientError, match=f"study {running} failed: the driver died"),
    ):
        Study(client, running).wait()


def test_a_cancelled_study_has_ended_without_failing(service: Running, running: str) -> None:
    with Client(service.url) as client:
        study = client.study(running)
        assert study.cancel()["state"] == "cancelled"
        assert study.wait().read()["state"] == "cancelled"


def test_waiting_has_a_limit(service: Running, running: str) -> None:
    with Client(service.url) as client, pytest.raises(TimeoutError, match=r"has not ended after 0.01 s"):
        Study(client, running).wait(timeout=0.01)


def test_every_state_is_seen_and_the_last_is_the_end(service: Running, running: str) -> None:
    with Client(service.url, transport=Playing(service, running, FINISHED)) as client:
        states = [state["state"] for state in Study(client, running).follow(every=0.0)]
    assert states == ["running", "running", "finished"]


def test_a_service_that_starts_again_is_waited_for(service: Running, finished: str) -> None:
    network = Unreliable(refused, refused, refused)
    with Client(service.url, transport=network) as client:
        assert [state["state"] for state in Study(client, finished).follow(every=0.0)] == ["finished"]
    assert len(network.requests) == 4


@pytest.mark.parametrize("method", ["follow", "events"])
@pytest.mark.parametrize(
    ("fault", "words"), [(refused, "no answer from"), (answering(503), "locked"), (answering(502), "answered 502")]
)
def test_a_service_that_stays_away_is_given_up(
    service: Running, finished: str, monkeypatch: pytest.MonkeyPatch, method: str, fault: Fault, words: str
) -> None:
    now = iter(range(0, 10_000, 50))
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    network = Unreliable(*[fault] * 99)
    with Client(service.url, transport=network) as client, pytest.raises(ClientError, match=words):
        list(getattr(Study(client, finished), method)(**({"every": 0.0} if method == "follow" else {})))
    assert 3 <= len(network.requests) <= 4, "two minutes, of which each look takes one"


@pytest.mark.parametrize("method", ["follow", "events"])
def test_a_service_that_cannot_answer_now_is_waited_for_and_each_silence_is_said_once(
    service: Running, finished: str, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    network = Unreliable(answering(503), refused, answering(502), answering(504), answering(503))
    with Client(service.url, transport=network) as client:
        found = list(getattr(Study(client, finished), method)(**({"every": 0.0} if method == "follow" else {})))
    assert len(found) == (1 if method == "follow" else 15)
    assert [record.getMessage() for record in caplog.records if record.name == "paretoscope"] == [
        "the database is locked; asking again for up to 120 s"
    ]


def test_a_silence_after_an_answer_is_said_anew(caplog: pytest.LogCaptureFixture) -> None:
    patience = Patience()
    for _ in range(2):
        patience.bear(NoAnswer("away"))
        patience.bear(NoAnswer("still away"))
        patience.answered()
    with pytest.raises(ClientError):
        patience.bear(ClientError("no such study", 404))
    assert [record.getMessage() for record in caplog.records] == ["away; asking again for up to 120 s"] * 2


@pytest.mark.parametrize("status", [400, 401, 404, 409, 422, 500, 501])
def test_what_will_not_pass_by_itself_is_final(status: int) -> None:
    with pytest.raises(ClientError):
        Patience().bear(ClientError("no", status))


def test_patience_begins_anew_with_every_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 100.0, 200.0, 300.0, 321.0])
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    patience = Patience()
    patience.bear(NoAnswer("away"))
    patience.bear(NoAnswer("away"))
    patience.answered()
    patience.bear(NoAnswer("away again"))
    patience.bear(NoAnswer("away again"))
    with pytest.raises(NoAnswer, match="for too long"):
        patience.bear(NoAnswer("for too long"))


@pytest.mark.parametrize("method", ["follow", "events"])
def test_a_refusal_is_final(service: Running, method: str) -> None:
    network = Unreliable()
    with Client(service.url, transport=network) as client, pytest.raises(ClientError) as error:
        list(getattr(Study(client, "s0000000000"), method)())
    assert error.value.status == 404 and len(network.requests) == 1


def test_events_come_in_order_from_any_number_on(service: Running, finished: str) -> None:
    with Client(service.url) as client:
        study = client.study(finished)
        events = list(study.events())
        assert [event["seq"] for event in events] == list(range(1, 16))
        assert [event["kind"] for event in events][:3] == ["study_queued", "study_started", "report"]
        assert list(study.events(after=12)) == events[12:]
        assert list(study.events(after=15)) == []


@pytest.mark.parametrize("cleanly", [False, True], ids=["broken", "closed"])
def test_a_stream_cut_anywhere_loses_no_event_and_doubles_none(service: Running, finished: str, cleanly: bool) -> None:
    path = f"{service.url}/api/studies/{finished}/events"
    whole = httpx.get(path, timeout=30, trust_env=False).content
    assert len(whole) > 1500
    for length in range(0, len(whole), 101):
        network = Unreliable(cut_after(length, cleanly), ending="/events")
        with Client(service.url, transport=network) as client:
            assert [event["seq"] for event in Study(client, finished).events()] == list(range(1, 16)), length


def test_blank_lines_and_heartbeats_after_an_event_do_not_give_it_again() -> None:
    stream = 'data: {"seq": 1}\n\n\n: still here\n\ndata: {"seq": 2}\n\n: still here\n\n'
    assert list(study_module.whole_events(iter(stream.splitlines()))) == [{"seq": 1}, {"seq": 2}]


def test_a_stream_goes_on_after_the_last_event_it_gave(service: Running, finished: str) -> None:
    network = Unreliable(cut_after(900), cut_after(400), ending="/events")
    with Client(service.url, transport=network) as client:
        events = list(Study(client, finished).events())
    asked = [int(number) for number in network.seen("Last-Event-ID") if number is not None]
    assert len(asked) == 3 and 0 == asked[0] < asked[1] < asked[2] < len(events) == 15


def test_a_stream_that_ends_with_its_service_is_no_end_of_the_study(service: Running, running: str) -> None:
    """A service that goes down closes its streams in order; the study goes on."""
    network = Playing(service, running, FINISHED, cut_after(300, cleanly=True))
    with Client(service.url, transport=network) as client:
        kinds = [event["kind"] for event in Study(client, running).events()]
    assert kinds == ["study_queued", "study_started", *["report"] * 6, "study_finished"]


class Outages(httpx.MockTransport):
    """A running study, each look at it 100 s after the last; the service is away at some looks, and then it ends."""

    def __init__(self, clock: list[float], *away: bool) -> None:
        super().__init__(self.answer)
        self._clock, self._away = clock, list(away)

    def answer(self, request: httpx.Request) -> httpx.Response:
        ends = not self._away
        if not request.url.path.endswith("/events"):
            return httpx.Response(200, json={"state": "finished" if ends else "running", "last_seq": 0})
        return httpx.Response(200, text=": paretoscope\n\n")

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._clock[0] += 100.0
        if self._away and self._away.pop(0):
            raise httpx.ConnectError("connection refused", request=request)
        return super().handle_request(request)


@pytest.mark.parametrize(
    ("method", "away"),
    [
        ("follow", (False, True, False, True, False, True)),
        ("events", (True, False, False, True, False, False, True)),
    ],
)
def test_outages_far_apart_are_each_borne(monkeypatch: pytest.MonkeyPatch, method: str, away: tuple[bool, ...]) -> None:
    """An answer ends a silence: two minutes are counted from the failure that follows it."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    network = Outages(clock, *away)
    with Client("http://service", transport=network) as client:
        list(getattr(Study(client, "s1"), method)())
    assert clock[0] > 100.0 * len(away), "followed to the end"
