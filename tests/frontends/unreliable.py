"""A real service over a network that fails as told: before a request arrives, after it did, or within an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import httpx

Fault = Callable[[httpx.BaseTransport, httpx.Request], httpx.Response]


def refused(network: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
    """The request never arrives."""
    raise httpx.ConnectError("connection refused", request=request)


def answering(status: int) -> Fault:
    """Something answers, but not with what was asked for: our service in its own words, a proxy in others."""

    def fault(network: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        if status != 503:
            return httpx.Response(status, text="<h1>Bad gateway</h1>", request=request)
        error = {"code": "unavailable", "message": "the database is locked", "details": []}
        return httpx.Response(status, json={"error": error}, request=request)

    return fault


def answer_lost(network: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
    """The service does what was asked, and nobody hears of it."""
    network.handle_request(request).read()
    raise httpx.ReadError("connection reset", request=request)


class _Cut(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, length: int, error: httpx.TransportError | None) -> None:
        self._stream, self._length, self._error = stream, length, error

    def __iter__(self) -> Iterator[bytes]:
        left = self._length
        for piece in self._stream:
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                break
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self._stream.close()


def cut_after(length: int, cleanly: bool = False) -> Fault:
    """Only so many bytes of the answer arrive; cleanly means that it looks like its end."""

    def fault(network: httpx.BaseTransport, request: httpx.Request) -> httpx.Response:
        response = network.handle_request(request)
        assert isinstance(response.stream, httpx.SyncByteStream)
        error = None if cleanly else httpx.ReadError("connection reset", request=request)
        return httpx.Response(
            response.status_code, headers=response.headers, stream=_Cut(response.stream, length, error)
        )

    return fault


class Unreliable(httpx.BaseTransport):
    """The faults in turn, one for each request to a path with this ending; then the network works."""

    def __init__(self, *faults: Fault, ending: str = "") -> None:
        self._network = httpx.HTTPTransport()
        self._faults, self._ending = list(faults), ending
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self._faults and request.url.path.endswith(self._ending):
            return self._faults.pop(0)(self._network, request)
        return self._network.handle_request(request)

    def fail(self, *faults: Fault) -> None:
        """From now on."""
        self._faults += faults

    def seen(self, header: str) -> Sequence[str | None]:
        """This header of every request, in order."""
        return [request.headers.get(header) for request in self.requests]

    def close(self) -> None:
        self._network.close()
