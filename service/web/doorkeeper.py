"""Who a token lets in, and how often somebody may try one that lets in nobody."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections import OrderedDict
from typing import NamedTuple

from service.contract.wire.errors import TooManyRequests, Unauthorized
from service.contract.wire.tokens import SCOPES
from service.settings import Settings
from service.store.tokens import SPENT, TokenRow, Tokens
from service.web.rates import Rate
from service.web.scopes import DRIVER

log = logging.getLogger("paretoscope.doors")

KNOWN = 1000  # tokens that were right lately
NEEDED = "this service needs its token: 'Authorization: Bearer …' (PARETOSCOPE_TOKEN)"


class Caller(NamedTuple):
    """Whoever asks: what they may do, on which study (none: on all), and the token whose limits count."""

    name: str
    scopes: frozenset[str]
    study: str | None = None
    token: TokenRow | None = None


OWNER = Caller("owner", frozenset({*SCOPES, DRIVER}))
# Where no token is set: whoever is on this machine, but nobody makes tokens, or runs code unless a setting says so.
ANYBODY = Caller("anybody", frozenset({"read", "write", "ingest", DRIVER}))


class Doorkeeper:
    """Knows the owner's token, and asks the store for all others."""

    def __init__(self, settings: Settings, tokens: Tokens) -> None:
        self._own, self._tokens = settings.token, tokens
        self.is_guarded = settings.token is not None
        self._anybody = ANYBODY._replace(scopes=ANYBODY.scopes | {"code"}) if settings.allow_code else ANYBODY
        self._wrong = Rate(settings.wrong_tokens_per_minute)
        self._right: OrderedDict[str, None] = OrderedDict()  # by their hashes; who was let in before is not kept out

    def admit(self, token: str, address: str) -> Caller:
        """Unauthorized without a token that is good; TooManyRequests for an address that has tried too many others."""
        if self._own is None:
            return self._anybody
        if not token:
            raise Unauthorized(NEEDED)
        known = hashlib.sha256(token.encode()).hexdigest()
        if (wait := self._wrong.wait(address)) and known not in self._right:
            raise TooManyRequests(f"too many wrong tokens from {address}", wait)
        caller = self._caller(token)
        if caller is None:
            self._right.pop(known, None)
            self._wrong.take(address)
            raise Unauthorized(NEEDED)
        self._right[known] = None
        self._right.move_to_end(known)
        if len(self._right) > KNOWN:
            self._right.popitem(last=False)
        return caller

    def _caller(self, token: str) -> Caller | None:
        if self._own is not None and hmac.compare_digest(token.encode(), self._own.encode()):
            return OWNER
        row = self._tokens.find(token)
        if row is None:
            return None
        if SPENT in row.scopes and row.study is not None:
            log.warning("the code of study %s was used twice: what was given for it is revoked", row.study)
            self._tokens.forget(row.study)
            return None
        if row.study is None:
            return Caller(f"{row.name} ({row.id})", frozenset(row.scopes), None, row)
        scopes = {*row.scopes, DRIVER} if "ingest" in row.scopes else row.scopes
        return Caller(f"driver of {row.study}", frozenset(scopes), row.study)
