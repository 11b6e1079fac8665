"""What the client asks the service for, request by request; nobody answers but the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from frontends.client import Client, Study
from frontends.connection import NoAnswer, Patience

Ask = Callable[[Client], object]
STUDY = "/api/studies/s1"


class Asked(httpx.BaseTransport):
    """Keeps every request; each gets this answer."""

    def __init__(self, **answer: Any) -> None:
        self.requests: list[httpx.Request] = []
        self._answer = {"next": None, "studies": [], "trials": [], "presets": [], "figures": [], **answer}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200, json=self._answer)


def asked(ask: Ask, **answer: Any) -> tuple[str, str, dict[str, str]]:
    """Method, path and query of the one request."""
    network = Asked(**answer)
    with Client("http://service", transport=network) as client:
        ask(client)
    (request,) = network.requests
    return request.method, request.url.path, dict(request.url.params)


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (lambda client: client.studies(), ("GET", "/api/studies", {"limit": "50"})),
        (lambda client: client.studies("failed", 3), ("GET", "/api/studies", {"limit": "3", "state": "failed"})),
        (lambda client: client.presets(), ("GET", "/api/presets", {})),
        (lambda client: client.catalog(), ("GET", "/api/catalog", {})),
        (lambda client: client.figures(), ("GET", "/api/figures", {})),
        (lambda client: client.study("s1"), ("GET", STUDY, {})),
        (lambda client: Study(client, "s1").front(), ("GET", f"{STUDY}/front", {})),
        (lambda client: Study(client, "s1").front("a", "b"), ("GET", f"{STUDY}/front", {"x": "a", "y": "b"})),
        (lambda client: Study(client, "s1").front(y="b"), ("GET", f"{STUDY}/front", {"y": "b"})),
        (lambda client: Study(client, "s1").comparison(), ("GET", f"{STUDY}/comparison", {})),
        (lambda client: Study(client, "s1").trials(), ("GET", f"{STUDY}/trials", {"limit": "1000"})),
        (lambda client: Study(client, "s1").trials(1, arm="a"), ("GET", f"{STUDY}/trials", {"limit": "1", "arm": "a"})),
        (lambda client: Study(client, "s1").trial("t1"), ("GET", f"{STUDY}/trials/t1", {})),
        (lambda client: Study(client, "s1").checkpoint("t1"), ("GET", f"{STUDY}/trials/t1/checkpoint", {})),
        (lambda client: Study(client, "s1").export(), ("GET", f"{STUDY}/export", {"format": "csv", "table": "trials"})),
        (
            lambda client: Study(client, "s1").export("parquet", "reports"),
            ("GET", f"{STUDY}/export", {"format": "parquet", "table": "reports"}),
        ),
        (lambda client: Study(client, "s1").report(), ("GET", f"{STUDY}/report", {})),
        (lambda client: Study(client, "s1").methods(), ("GET", f"{STUDY}/methods", {})),
        (lambda client: Study(client, "s1").cancel(), ("POST", f"{STUDY}/cancel", {})),
        (lambda client: Study(client, "s1").delete(), ("DELETE", STUDY, {})),
    ],
)
def test_every_method_asks_for_its_own(ask: Ask, expected: tuple[str, str, dict[str, str]]) -> None:
    assert asked(ask) == expected


@pytest.mark.parametrize(
    ("spec", "kind", "body"),
    [({"name": "β"}, "application/json", b'{"name": "\\u03b2"}'), ("name: β", "application/yaml", "name: β".encode())],
)
def test_a_study_is_sent_as_what_it_is(spec: Any, kind: str, body: bytes) -> None:
    network = Asked(id="s7")
    with Client("http://service", transport=network) as client:
        assert client.submit(spec).id == "s7"
    (request,) = network.requests
    assert (request.method, request.url.path) == ("POST", "/api/studies")
    assert (request.headers["Content-Type"], request.content) == (kind, body)


def test_no_and_zero_are_said_and_none_is_not() -> None:
    query = asked(lambda client: client.request("GET", "/x", {"no": False, "zero": 0, "empty": "", "open": None}))[2]
    assert query == {"no": "false", "zero": "0", "empty": ""}


def test_a_checkpoint_and_a_report_come_as_they_are() -> None:
    network = httpx.MockTransport(lambda _: httpx.Response(200, content="β\n".encode()))
    with Client("http://service", transport=network) as client:
        assert (Study(client, "s1").checkpoint("t1"), Study(client, "s1").report()) == ("β\n".encode(), "β\n")


@pytest.mark.parametrize(("given", "wait"), [({}, 60.0), ({"timeout": 3.0}, 3.0)])
def test_no_request_waits_without_end(given: dict[str, Any], wait: float) -> None:
    network = Asked()
    with Client("http://service", transport=network, **given) as client:
        client.catalog()
    assert network.requests[0].extensions["timeout"] == dict.fromkeys(("connect", "read", "write", "pool"), wait)


def test_a_client_without_a_token_sends_none_and_closes_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARETOSCOPE_TOKEN", "")
    network = Asked()
    with Client("http://service", transport=network) as client:
        client.catalog()
        assert not client._http.is_closed
    assert client._http.is_closed and "Authorization" not in network.requests[0].headers


def test_the_page_of_a_study_is_on_its_service() -> None:
    with Client("http://service/lab/") as client:
        assert Study(client, "s1").page == "http://service/lab/studies/s1"


@pytest.mark.parametrize(("given", "paused"), [({}, 0.5), ({"every": 7.0}, 7.0)])
def test_a_followed_study_is_looked_at_with_pauses(
    given: dict[str, float], paused: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    states, pauses = iter(["queued", "paused", "running", "cancelled"]), list[float]()
    monkeypatch.setattr("time.sleep", pauses.append)
    network = httpx.MockTransport(lambda _: httpx.Response(200, json={"state": next(states)}))
    with Client("http://service", transport=network) as client:
        seen = [state["state"] for state in Study(client, "s1").follow(**given)]
    assert seen == ["queued", "paused", "running", "cancelled"] and pauses == [paused] * 3


def test_two_minutes_of_silence_are_borne(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([10.0, 130.0, 130.1])
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    patience = Patience()
    patience.bear(NoAnswer("away"))
    patience.bear(NoAnswer("away"))
    with pytest.raises(NoAnswer):
        patience.bear(NoAnswer("away"))
