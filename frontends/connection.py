"""A connection to the service: where it is, how to call it, and what a refusal looks like."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from frontends.home import default_home, token_of, url_of
from paretoscope import __version__

VERSION = "Paretoscope-Version"  # as in the contract, which this client does without: it needs httpx alone
DEFAULT_URL = "http://127.0.0.1:8000"
SILENCE_SECONDS = 120.0
TRY_AGAIN_SECONDS = 0.5
PAGE = 1000
TEMPORARY = (0, 502, 503, 504)  # no answer, a proxy before a service that is away, a service without its store

log = logging.getLogger("paretoscope")

Answer = dict[str, Any]
"""An answer of the service as plain JSON; docs/api.md says what is in it."""

Parameter = str | int | float | bool | None
"""A part of a query; None is left out."""


class ClientError(Exception):
    """The service refused, or cannot be reached; `details` are its own (path, message, perhaps line).

    `status` is the HTTP status of a refusal, 0 when there was no answer.
    """

    def __init__(self, message: str, status: int = 0, details: list[Answer] | None = None) -> None:
        super().__init__(message)
        self.message, self.status, self.details = message, status, details or []

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may well succeed later: nothing answered, or what did said that it cannot now."""
        return self.status in TEMPORARY


class NoAnswer(ClientError):
    """Nothing answers at the address. Its text advises a Python program; the command line has advice of its own."""

    def __str__(self) -> str:
        return f"{self.message}; start the service with 'paretoscope up', or name another with Client(url=…)"


class NoTrialNow(ClientError):
    """None is free, but may be later: others hold the rest, their search waits for results, or the study is paused."""


class NoTrialLeft(ClientError):
    """None will be free any more: all are trained, or the study has ended."""


class LeaseOver(ClientError):
    """The holder was silent for longer than its lease: the trial has gone to others."""


class Patience:
    """Bears two minutes without a useful answer, as a service may be starting again; a refusal is final at once.

    Says so once for each silence, as a warning of the log `paretoscope`: without a handler it is on standard error.
    """

    def __init__(self) -> None:
        self._silent_since: float | None = None

    def answered(self) -> None:
        self._silent_since = None

    def bear(self, error: ClientError) -> None:
        now = time.monotonic()
        begins = self._silent_since is None
        since = now if self._silent_since is None else self._silent_since
        self._silent_since = since
        if not error.is_temporary or now - since > SILENCE_SECONDS:
            raise error
        if begins:
            log.warning("%s; asking again for up to %s s", error.message, int(SILENCE_SECONDS))


def default_url() -> str:
    """PARETOSCOPE_URL, else the service that `paretoscope up` last started in this home, else port 8000."""
    return os.environ.get("PARETOSCOPE_URL") or url_of(default_home()) or DEFAULT_URL


def default_token(url: str) -> str | None:
    """PARETOSCOPE_TOKEN, else that of the home, for the home's own service: no other is told it."""
    if token := os.environ.get("PARETOSCOPE_TOKEN"):
        return token
    own = url_of(default_home())
    return token_of(default_home()) if own is not None and own.rstrip("/") == url else None


def checked(url: str) -> str:
    """The address without a slash at its end; ClientError for what is none."""
    try:
        scheme, host = httpx.URL(url).scheme, httpx.URL(url).host
    except httpx.InvalidURL:
        scheme, host = "", ""
    if scheme not in ("http", "https") or not host:
        raise ClientError(f"{url!r} is not the address of a service, such as {DEFAULT_URL}", 422)
    return url.rstrip("/")


def refusal(response: httpx.Response, where: str) -> ClientError:
    """The service's own words, or the status of an answer that has none (a proxy's, say)."""
    try:
        body = response.json()["error"]
        return ClientError(body["message"], response.status_code, body["details"])
    except (ValueError, KeyError, TypeError):
        return ClientError(f"{where} answered {response.status_code}", response.status_code)


def json_of(response: httpx.Response) -> Answer:
    """ClientError where another server than ours answered."""
    try:
        answer: Answer = response.json()
    except ValueError as error:
        where = response.url.copy_with(query=None)
        raise ClientError(f"{where} did not answer in JSON: is it a Paretoscope service?") from error
    return answer


class Connection:
    """Calls to one service, with its token; whatever goes wrong is a ClientError."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = checked(url or default_url())
        token = token or default_token(self.url)
        headers = {VERSION: f"client/{__version__}"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._http = httpx.Client(
            base_url=self.url, headers=headers, timeout=timeout, trust_env=False, transport=transport
        )

    def close(self) -> None:
        self._http.close()

    def request(self, method: str, path: str, params: Mapping[str, Parameter] | None = None) -> Answer:
        """The answer's JSON."""
        return json_of(self.send(method, path, params))

    def send(
        self,
        method: str,
        path: str,
        params: Mapping[str, Parameter] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """The answer itself."""
        given = {key: value for key, value in (params or {}).items() if value is not None}
        try:
            response = self._http.request(method, path, params=given, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise self._no_answer(error) from error
        if not response.is_success:
            raise refusal(response, self.url + path)
        return response

    def entries(self, path: str, key: str, most: int | None = None, **params: Parameter) -> list[Answer]:
        """What the service lists under this key, page by page: all of it, or at most this many."""
        entries: list[Answer] = []
        after: str | None = None
        while True:
            limit = PAGE if most is None else min(PAGE, most - len(entries))
            page = self.request("GET", path, {**params, "limit": limit, "after": after})
            entries += page[key]
            after = page["next"]
            if after is None or len(entries) == most:
                return entries

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str]) -> Iterator[Iterator[str]]:
        """The lines of an answer as they arrive."""
        try:
            with self._http.stream("GET", path, headers=headers) as response:
                if not response.is_success:
                    response.read()
                    raise refusal(response, self.url + path)
                yield response.iter_lines()
        except httpx.HTTPError as error:
            raise self._no_answer(error) from error

    def _no_answer(self, error: httpx.HTTPError) -> NoAnswer:
        return NoAnswer(f"no answer from {self.url} ({error})")
