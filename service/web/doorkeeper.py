"""Who a token lets in, and how often somebody may try one that lets in nobody."""

from __future__ import annotations

import hmac
import logging
from typing import NamedTuple

from service.contract.wire.errors import TooManyRequests, Unauthorized
from service.contract.wire.tokens import SCOPES
from service.settings import Settings
from service.store.tokens import SPENT, TokenRow, Tokens
from service.web.rates import Rate
from service.web.scopes import DRIVER

log = logging.getLogger("paretoscope.doors")

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

    def admit(self, token: str, address: str) -> Caller:
        """Unauthorized without a token that is good; TooManyRequests where an address has tried too many that are not.

        Who has a good one never waits for others: all users of this machine have one address.
        """
        if self._own is None:
            return self._anybody
        if not token:
            raise Unauthorized(NEEDED)
        if caller := self._caller(token):
            return caller
        if wait := self._wrong.wait(address):
            raise TooManyRequests(f"too many wrong tokens from {address}", wait)
        self._wrong.take_permit(address)
        raise Unauthorized(NEEDED)

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
