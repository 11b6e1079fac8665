"""The reporter against a service that fails, refuses and ends."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from service.contract.wire.events import REASON_LENGTH
from tests.processes import until
from workers.planning.rounds import Round
from workers.sending import reporter as reporting
from workers.sending.reporter import Reporter
from workers.sending.study_client import StudyClient

Answer = Callable[[list[dict[str, Any]]], int]


class Service:
    """Stands for the service: `answer` decides the status; what it accepts is kept."""

    def __init__(self, answer: Answer = lambda events: 200) -> None:
        self.answer = answer
        self.events: list[dict[str, Any]] = []
        self.batches: list[int] = []
        self.headers: list[str | None] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                events = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["events"]
                service.headers.append(self.headers["Authorization"])
                service.batches.append(len(events))
                status = service.answer(events)
                if status == 200:
                    service.events += events
                self.send_response(status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @property
    def uids(self) -> list[str]:
        return [event["uid"] for event in self.events]


@contextmanager
def serving(service: Service) -> Iterator[Service]:
    thread = threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        service.server.shutdown()
        service.server.server_close()
        thread.join(5)


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(Service()) as running:
        yield running


def test_events_arrive_in_order_with_deterministic_uids(service: Service) -> None:
    reporter = Reporter(StudyClient(service.url, "secret", "s1"))
    reporter.trial_started("t1", "host")
    reporter.report("t1", 1, {"epoch": 1, "accuracy": 0.5, "none": None}, ["a line"])
    reporter.trial_finished("t1")
    reporter.trial_failed("t2", "because")
    reporter.study_finished("job1")
    assert reporter.close(5)

    assert service.uids == ["t1:started", "t1:1", "t1:finished", "t2:failed", "study:finished:job1"]
    assert service.events[0] == {"uid": "t1:started", "kind": "trial_started", "trial": "t1", "host": "host"}
    assert service.events[1]["metrics"] == {"epoch": 1, "accuracy": 0.5, "none": None}
    assert service.events[1]["log"] == ["a line"]
    assert service.events[3]["reason"] == "because"
    assert service.events[4] == {"uid": "study:finished:job1", "kind": "study_finished"}
    assert set(service.headers) == {"Bearer secret"}


def test_what_is_told_in_another_round_is_no_resend_of_the_first(service: Service) -> None:
    """An epoch that an extended trial trains again is the same; a retried trial is told anew."""
    reporter = Reporter(StudyClient(service.url, None, "s1"), "job2")
    reporter.rounds = {
        "more": Round(0, 1),
        "again": Round(2, 0),
        "both": Round(1, 2),
        "anew": Round(0, 2, True),
        "anew-again": Round(3, 2, True),
        "not-more": Round(1, 0, True),
    }
    for trial in ("first", *reporter.rounds):
        reporter.trial_started(trial)
        reporter.trial_started(trial, epoch=3)
        reporter.report(trial, 4, {})
        reporter.trial_finished(trial)
        reporter.trial_failed(trial, "because")
    assert reporter.close(5)
    names = {
        "first": ("first", ""),
        "more": ("more", ":1"),
        "again": ("again:retry2", ""),
        "both": ("both:retry1", ":2"),
        "anew": ("anew:anew2", ":2"),
        "anew-again": ("anew-again:retry3:anew2", ":2"),
        "not-more": ("not-more:retry1", ""),
    }
    assert service.uids == [
        uid
        for own, end in names.values()
        for uid in (f"{own}:started", f"{own}:started:job2:1", f"{own}:4", f"{own}:finished{end}", f"{own}:failed{end}")
    ]


def test_an_event_says_all_that_was_told_and_nothing_that_was_not(service: Service) -> None:
    reporter = Reporter(StudyClient(service.url, None, "s1"))
    reporter.trial_started("t1", None, {"weighting.beta": 0.5, "model.latent": 0})
    reporter.trial_started("t2", "host", {})
    reporter.report("t1", 0, {})
    reporter.trial_finished("t1", ["last", "line"])
    reporter.trial_failed("t2", "because", ["a trace"])
    reporter.study_finished("job1", "time limit reached")
    assert reporter.close(5)
    assert service.events == [
        {
            "uid": "t1:started",
            "kind": "trial_started",
            "trial": "t1",
            "config": {"weighting.beta": 0.5, "model.latent": 0},
        },
        {"uid": "t2:started", "kind": "trial_started", "trial": "t2", "host": "host"},
        {"uid": "t1:0", "kind": "report", "trial": "t1", "metrics": {}},
        {"uid": "t1:finished", "kind": "trial_finished", "trial": "t1", "log": ["last", "line"]},
        {"uid": "t2:failed", "kind": "trial_failed", "trial": "t2", "reason": "because", "log": ["a trace"]},
        {"uid": "study:finished:job1", "kind": "study_finished", "reason": "time limit reached"},
    ]


def test_the_failure_of_a_study_is_told_however_long_and_odd_its_reason_is(service: Service) -> None:
    reporter = Reporter(StudyClient(service.url, None, "s1"))
    reporter.study_failed("job1", "half a character \ud83d")
    reporter.study_failed("job2", "x" * 9000)
    assert reporter.close(5)
    assert [(event["uid"], event["kind"], event["reason"]) for event in service.events] == [
        ("study:failed:job1", "study_failed", "half a character ?"),
        ("study:failed:job2", "study_failed", "x" * REASON_LENGTH),
    ]


def test_an_event_alone_does_not_wait_for_company(service: Service) -> None:
    reporter = Reporter(StudyClient(service.url, None, "s1"))
    reporter.trial_started("t1")
    until(lambda: len(service.events) == 1, "the event")
    reporter.close(5)


def test_many_events_travel_in_few_large_batches(service: Service) -> None:
    reporter = Reporter(StudyClient(service.url, None, "s1"))
    for epoch in range(9000):
        reporter.report("t", epoch, {"epoch": epoch})
    assert reporter.close(20)
    assert service.uids == [f"t:{epoch}" for epoch in range(9000)]
    assert max(service.batches) <= reporting.LARGEST_BATCH
    assert len(service.batches) < 20


def test_a_service_that_was_away_gets_everything_once_it_is_back() -> None:
    service = Service()
    reporter = Reporter(StudyClient(service.url, None, "s1"))  # bound, but nobody answers yet
    for trial in ("a", "b"):
        reporter.trial_started(trial)
    failures = iter([500, 503, 401])
    service.answer = lambda events: next(failures, 200)
    with serving(service):
        assert reporter.close(20)
    assert service.uids == ["a:started", "b:started"]


@pytest.mark.parametrize("status", [404, 409])
def test_a_study_that_is_over_sets_ended_and_drops_the_rest(service: Service, status: int) -> None:
    service.answer = lambda events: status
    reporter = Reporter(StudyClient(service.url, None, "s1"))
    reporter.trial_started("t1")
    assert reporter.ended.wait(5)
    reporter.trial_started("t2")
    assert reporter.close(5)
    assert service.events == []


def test_all_that_is_queued_for_a_study_that_is_over_is_dropped_with_one_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reporting, "LARGEST_BATCH", 2)
    service = Service(lambda events: 409)
    reporter = Reporter(StudyClient(service.url, None, "s1"))  # bound, but nobody answers yet
    for trial in ("a", "b", "c", "d", "e"):
        reporter.trial_started(trial)
    with serving(service):
        assert reporter.close(5)
    assert service.batches == [2]


def test_a_closed_reporter_has_closed_its_connections(service: Service) -> None:
    client = StudyClient(service.url, None, "s1")
    reporter = Reporter(client)
    reporter.trial_started("t1")
    assert reporter.close(5) and client._http.is_closed


@pytest.mark.parametrize("status", [413, 422])
def test_a_refused_event_does_not_take_the_others_with_it(service: Service, status: int) -> None:
    def refuse(events: list[dict[str, Any]]) -> int:
        return status if any(event["trial"] == "bad" for event in events) else 200

    service.answer = refuse
    reporter = Reporter(StudyClient(service.url, None, "s1"))
    for trial in ("a", "b", "bad", "c", "d"):
        reporter.trial_started(trial)
    assert reporter.close(5)
    assert service.uids == ["a:started", "b:started", "c:started", "d:started"]


def test_an_event_that_json_cannot_carry_does_not_take_the_others_with_it(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    reporter = Reporter(StudyClient(service.url, None, "s1"))
    reporter.trial_started("a")
    reporter.report("a", 1, {"accuracy": float("nan")})
    reporter.trial_failed("b", "half a character \ud83d")
    reporter.trial_failed("c", "x" * 9000)
    assert reporter.close(5)
    assert service.uids == ["a:started", "b:failed", "c:failed"]
    assert "event a:1 was refused: cannot be written as JSON" in caplog.text, "what is lost is told"
    assert [event["reason"] for event in service.events[1:]] == ["half a character ?", "x" * REASON_LENGTH]


def test_closing_is_bounded_when_nobody_answers(caplog: pytest.LogCaptureFixture) -> None:
    def nobody(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody there")

    reporter = Reporter(StudyClient("http://service", None, "s1", httpx.MockTransport(nobody)))
    reporter.trial_started("t1")
    reporter.trial_started("t2")
    start = time.monotonic()
    assert not reporter.close(0.3)
    assert "2 events did not reach http://service" in caplog.text
    assert time.monotonic() - start < 10, "a busy machine has room, and it is not a minute"
    until(lambda: not reporter._thread.is_alive(), "the thread to end")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_reporter_whose_thread_broke_does_not_say_that_all_arrived() -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        raise RuntimeError("a mistake of ours")

    reporter = Reporter(StudyClient("http://service", None, "s1", httpx.MockTransport(broken)))
    reporter.trial_started("t1")
    assert not reporter.close(5)
