"""A service that answers as a test wants, over real HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple


class Request(NamedTuple):
    method: str
    path: str
    body: bytes
    token: str | None
    content_type: str | None


class Answer(NamedTuple):
    status: int
    body: str | bytes = "{}"
    headers: Mapping[str, str] = MappingProxyType({})


class StandIn:
    """`answer` decides what is said to a request; every request is kept."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.requests: list[Request] = []
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                token, content_type = self.headers["Authorization"], self.headers["Content-Type"]
                request = Request(self.command, self.path, sent, token, content_type)
                stand_in.requests.append(request)
                status, body, headers = answer(request)
                content = body.encode() if isinstance(body, str) else body
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(0 if status == 204 else len(content)))
                self.end_headers()
                if status != 204:
                    self.wfile.write(content)

            do_GET = do_POST = do_PUT = do

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator[StandIn]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join(5)
