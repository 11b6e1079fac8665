"""Which requests a browser may have been talked into: those under a stranger's name, and writes of a stranger's page.

A page that a user visits can make the browser call any address. It cannot read the answer, unless its own name is made
to point here (DNS rebinding): then `Host` is its name. What it sends from its own place carries its `Origin`.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import cache
from urllib.parse import urlsplit

from service.contract.wire.addresses import is_address

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
ANY = "*"
OURS = frozenset({"none", "same-origin"})  # of Sec-Fetch-Site: typed by the user, or sent by our page


@cache
def _machine() -> frozenset[str]:
    return frozenset({socket.gethostname().lower(), "localhost"})


def refused_host(headers: Mapping[str, str], known: frozenset[str]) -> str | None:
    """Why the name that was asked for is not ours; none where it is, or is a bare address, which no name can become."""
    given = headers.get("host", "").lower()
    name = _name(given)
    names = {_name(each) for each in known} | _machine()
    if ANY in known or is_address(name) or name in names or name.endswith(".localhost"):
        return None
    return f"Host {given[:100]!r} is not a name of this service; PARETOSCOPE_HOSTS can add it"


def refused_origin(method: str, headers: Mapping[str, str], known: frozenset[str]) -> str | None:
    """Why a write does not come from our own page; none where it does, or where no browser sent it."""
    if method not in WRITES:
        return None
    origin = headers.get("origin")
    if origin is None:
        return _foreign(headers.get("sec-fetch-site", "none"))
    if _place(origin) in {headers.get("host", "").lower(), *known} - {""}:
        return None
    return f"a page from {origin[:100]!r} may not write here; PARETOSCOPE_HOSTS can add its name"


def _place(origin: str) -> str:
    """Name and port; empty where it is no address at all."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _foreign(site: str) -> str | None:
    return None if site in OURS else f"a page of another site ({site[:40]}) may not write here"


def _name(host: str) -> str:
    """Without the port, and without the brackets of an address."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")
