"""Connections as a stranger would open them: half a header, too many, a body that is refused while it is sent."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator

import pytest

from tests.processes import Running, service_alone, short_home, until

TOKEN = "secret-of-the-owner"


@pytest.fixture(scope="module")
def small() -> Iterator[Running]:
    limits = {"MAX_CONNECTIONS": "20", "HEADER_SECONDS": "2", "BODY_SECONDS": "0.5", "MAX_STUDY_BYTES": "1000"}
    limits |= {"BODY_BYTES_PER_SECOND": "1000", "ANSWER_SECONDS": "0.5", "TOKEN": TOKEN}
    settings = {f"PARETOSCOPE_{name}": value for name, value in limits.items()}
    with short_home() as home, service_alone(home, None, **settings) as running:
        yield running


def connect(running: Running) -> socket.socket:
    port = int(running.url.rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def answer_of(link: socket.socket) -> tuple[int, dict[str, object]]:
    """Everything until the other side has no more to say."""
    received = b""
    while piece := link.recv(65536):
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body) if body else {}


def trickled(link: socket.socket, most: int) -> bytes:
    """Sends a byte at a time until the other side closes, and returns what it said; fails after so many bytes."""
    link.settimeout(0.05)
    received = b""
    for _ in range(most):
        try:
            link.sendall(b" ")
            piece = link.recv(65536)
        except TimeoutError:
            continue
        except (BrokenPipeError, ConnectionResetError):
            return received
        if not piece:
            return received
        received += piece
    raise AssertionError(f"still open after {most} bytes, having said {received!r}")


def request(path: str, length: int, token: str = TOKEN, more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{more}"
    return f"{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()


@pytest.mark.parametrize(("token", "status"), [(TOKEN, 413), ("wrong", 401)])
def test_a_client_that_sends_all_before_it_reads_gets_the_refusal(small: Running, token: str, status: int) -> None:
    size = 8_000_000
    with connect(small) as link:
        link.sendall(request("/api/studies", size, token))
        for _ in range(size // 100_000):
            link.sendall(b"x" * 100_000)
        code, said = answer_of(link)
    assert code == status and "error" in said


def test_one_that_asks_first_is_told_without_sending(small: Running) -> None:
    with connect(small) as link:
        link.sendall(request("/api/studies", 10**9, more="Expect: 100-continue\r\n"))
        assert answer_of(link)[0] == 413


def test_a_body_that_stops_is_not_waited_for(small: Running) -> None:
    with connect(small) as link:
        link.sendall(request("/api/studies", 500) + b'{"name"')
        code, said = answer_of(link)
    assert code == 408 and "nothing of the body arrived for 0.5 s" in str(said)


def test_a_body_that_trickles_is_not_waited_for_either(small: Running) -> None:
    """A byte in time is always there, and yet the whole would take minutes."""
    with connect(small) as link:
        link.sendall(request("/api/studies", 900))
        said = trickled(link, 600)
    assert said.startswith(b"HTTP/1.1 408") and b'"code":"too_slow"' in said
    assert b"slower than 1,000 bytes a second" in said


def test_a_body_as_slow_as_is_allowed_arrives(small: Running) -> None:
    body = b'{"name": "s", "arms": [{"name": "a", "weighting": {"name": "mib"}}]}'
    with connect(small) as link:
        link.sendall(request("/api/studies", len(body)))
        for i in range(0, len(body), 10):
            link.sendall(body[i : i + 10])
        assert answer_of(link)[0] == 201


@pytest.mark.parametrize("path", ["/healthz", "/api/studies"])
def test_a_body_that_nobody_reads_does_not_keep_its_connection(small: Running, path: str) -> None:
    """The answer is there at once, and the rest of the request would come for hours."""
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 100000\r\n\r\n"
    with connect(small) as link:
        link.sendall(head.encode())
        said = trickled(link, 1200)
    assert said.startswith(b"HTTP/1.1 200")


def test_half_a_header_after_such_a_body_is_not_waited_for(small: Running) -> None:
    with connect(small) as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na")
        said = link.recv(65536)
        link.sendall(b"bc" + b"GET /healthz HTTP/1.1\r\nX: ")
        code, error = answer_of(link)
    assert said.startswith(b"HTTP/1.1 200") and code == 408 and "error" in error


def test_who_takes_nothing_of_an_answer_is_disconnected(small: Running) -> None:
    """Nobody needs a token for the page's scripts: unread, each would hold a connection for ever."""
    with connect(small) as link:
        link.sendall(b"GET /assets/plotly.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n")
        ended = select.poll()
        ended.register(link, select.POLLHUP | select.POLLERR)
        until(lambda: ended.poll(0), "the connection is reset")


def test_a_large_answer_that_is_taken_arrives_whole(small: Running) -> None:
    with connect(small) as link:
        link.sendall(b"GET /assets/plotly.min.js HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        received = b""
        while piece := link.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head.lower() and len(body) > 1_000_000


def test_a_header_that_trickles_is_told_that_it_is_late(small: Running) -> None:
    with connect(small) as link:
        link.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        said = trickled(link, 1200)
    assert said.startswith(b"HTTP/1.1 408") and b'"code":"too_slow"' in said and b"2 s" in said


def test_what_is_no_http_gets_the_shape_of_every_error(small: Running) -> None:
    with connect(small) as link:
        link.sendall(b"nonsense\r\n\r\n")
        code, said = answer_of(link)
    assert code == 400 and "error" in said


def test_too_many_connections_are_told_so_and_later_ones_are_served(small: Running) -> None:
    links = [connect(small) for _ in range(20)]
    try:
        for link in links:
            link.sendall(b"GET /healthz HTTP/1.1\r\nHost: ")  # half a header
        with connect(small) as late:
            code, said = answer_of(late)
        assert code == 503 and "too many connections" in str(said)
    finally:
        for link in links:
            link.close()
    until(lambda: small.get("/healthz").status_code == 200, "there is room again")
