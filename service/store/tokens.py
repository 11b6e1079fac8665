"""Tokens in the database: made, found by their secret, revoked; and which studies count for which of them."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sql

from service.contract.wire.errors import NotFound
from service.contract.wire.events import StudyState
from service.contract.wire.tokens import SCOPES, NewToken
from service.store.database import Database
from service.store.schema import facts, owners, studies, tokens

OF_A_DRIVER = ("read", "ingest")  # on its own study
CLAIM, SPENT = "claim", "spent"  # of a code that a driver exchanges, once, for its token
CODE_GOOD_FOR = timedelta(minutes=30)  # a job may wait that long for a place on Ray
AFTER_THE_NEXT = timedelta(hours=1)  # an earlier driver of the same study may still say its last words
DRIVES, READS = "driver", "reader"  # names of tokens that processes on Ray have
READING_GOOD_FOR = timedelta(days=1)  # should it die unseen: packages may take long to install
INSTANCE = "instance"
ADMISSION = 7_203_116  # advisory lock of PostgreSQL, a number of our own
ENDED = [state.value for state in StudyState if state.is_ended()]


class TokenRow(NamedTuple):
    """A token as it is kept; its secret is not."""

    id: str
    name: str
    scopes: tuple[str, ...]
    study: str | None
    created_at: str
    expires_at: str | None
    studies_at_once: int | None
    trials: int | None
    bytes: int | None


class Used(NamedTuple):
    """What counts for a token now."""

    studies: int
    trials: int


def _time(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _hash(secret: str) -> str:
    """A plain hash is enough: secrets are random and long, so none is ever guessed from it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def subject(code_hash: str) -> str:
    """Code in the place of a study, for the process that reads it: as much of its hash as a study's id may have."""
    return code_hash[:32]


class Tokens:
    """Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._admission = threading.Lock()

    @contextmanager
    def admission(self) -> Iterator[None]:
        """Held while something is counted and then made: by one request at a time, of all processes on the database.

        Within a process they wait for each other first, or those that wait would take all connections.
        """
        with self._admission:
            if self._database.is_sqlite:  # a file in a home, which has one service
                yield
                return
            with self._database.transaction() as connection:
                connection.execute(sql.select(sql.func.pg_advisory_xact_lock(ADMISSION)))
                yield

    def create(self, asked: NewToken) -> tuple[TokenRow, str]:
        expires = None if asked.days is None else timedelta(days=asked.days)
        limits = {"studies_at_once": asked.studies_at_once, "trials": asked.trials, "bytes": asked.bytes}
        scopes = [scope for scope in SCOPES if scope in asked.scopes]
        return self._insert(asked.name, scopes, None, expires, **limits)

    def listed(self) -> list[TokenRow]:
        """Those that people made and that are good, oldest first."""
        query = (
            sql.select(tokens).where(tokens.c.study.is_(None), _is_good()).order_by(tokens.c.created_at, tokens.c.id)
        )
        with self._database.reading() as connection:
            return [_row(row) for row in connection.execute(query)]

    def revoke(self, token_id: str) -> None:
        """NotFound when there is none of this id."""
        with self._database.transaction() as connection:
            gone = connection.execute(tokens.delete().where(tokens.c.id == token_id, tokens.c.study.is_(None)))
            if not gone.rowcount:
                raise NotFound(f"there is no token {token_id!r}")

    def find(self, secret: str) -> TokenRow | None:
        """The token with this secret, while it is good."""
        query = sql.select(tokens).where(tokens.c.hash == _hash(secret), _is_good())
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _row(row)

    def for_driver(self, study_id: str, name: str = DRIVES) -> str:
        """The secret of a new token for this study alone; its earlier ones, and those of ended studies, go."""
        self._retire(study_id)
        return self._insert(name, OF_A_DRIVER, study_id, _good_for(name))[1]

    def code_for(self, study_id: str, name: str = DRIVES) -> str:
        """A code that is good once, for who cannot be given a file: what it is sent through is read by others."""
        self._retire(study_id)
        return self._insert(name, (CLAIM,), study_id, CODE_GOOD_FOR)[1]

    def claim(self, row: TokenRow) -> str:
        """The driver's token for its code, which is worth nothing from then on."""
        with self._database.transaction() as connection:
            spend = tokens.update().where(tokens.c.id == row.id, tokens.c.scopes == CLAIM).values(scopes=SPENT)
            if not connection.execute(spend).rowcount:
                raise NotFound("this code was used before")
        return self._insert(row.name, OF_A_DRIVER, row.study, _good_for(row.name))[1]

    def forget(self, study_id: str) -> None:
        """Everything of a study: it was deleted, or somebody else has used its code."""
        with self._database.transaction() as connection:
            connection.execute(tokens.delete().where(tokens.c.study == study_id))

    def own(self, token_id: str | None, study_id: str, trials: int) -> None:
        """The study counts for this token from now on, with so many trials; none: for whom it did, if for anybody."""
        with self._database.transaction() as connection:
            given = {"trials": trials} if token_id is None else {"trials": trials, "token": token_id}
            known = connection.execute(owners.update().where(owners.c.study == study_id).values(given)).rowcount
            if not known and token_id is not None:
                connection.execute(owners.insert().values(study=study_id, **given))

    def used(self, token_id: str, besides: str | None = None) -> Used:
        """By studies that have not ended, besides one that is about to be counted anew."""
        under_way = sql.join(owners, studies, owners.c.study == studies.c.id)
        counted = sql.select(sql.func.count(), sql.func.coalesce(sql.func.sum(owners.c.trials), 0))
        query = counted.select_from(under_way).where(
            owners.c.token == token_id, studies.c.state.not_in(ENDED), owners.c.study != (besides or "")
        )
        with self._database.reading() as connection:
            return Used(*connection.execute(query).one())

    def owner(self, study_id: str) -> tuple[TokenRow, list[str]] | None:
        """Whose study it is, with all studies of that token; none where no token with limits submitted it."""
        query = sql.select(tokens).join(owners, owners.c.token == tokens.c.id).where(owners.c.study == study_id)
        with self._database.reading() as connection:
            row = connection.execute(query).one_or_none()
            if row is None:
                return None
        return _row(row), self.studies_of(row.id)

    def studies_of(self, token_id: str) -> list[str]:
        """Those that count for a token."""
        with self._database.reading() as connection:
            return list(connection.execute(sql.select(owners.c.study).where(owners.c.token == token_id)).scalars())

    def disown(self, study_id: str) -> None:
        with self._database.transaction() as connection:
            connection.execute(owners.delete().where(owners.c.study == study_id))

    def instance(self) -> str:
        """The id of this database, made when it is first asked for."""
        query = sql.select(facts.c.value).where(facts.c.name == INSTANCE)
        with self._database.reading() as connection:
            known = connection.execute(query).scalar_one_or_none()
        if known is None:
            with self._database.transaction() as connection:
                known = connection.execute(query).scalar_one_or_none()
                if known is None:
                    known = secrets.token_hex(8)
                    connection.execute(facts.insert().values(name=INSTANCE, value=known))
        return str(known)

    def _retire(self, study_id: str) -> None:
        """Also those that have expired."""
        soon = _time(datetime.now(UTC) + AFTER_THE_NEXT)
        ended = sql.select(studies.c.id).where(studies.c.state.in_(ENDED))
        with self._database.transaction() as connection:
            connection.execute(tokens.delete().where(sql.or_(sql.not_(_is_good()), tokens.c.study.in_(ended))))
            earlier = tokens.update().where(tokens.c.study == study_id, tokens.c.expires_at.is_(None))
            connection.execute(earlier.values(expires_at=soon))

    def _insert(
        self, name: str, scopes: Iterable[str], study: str | None, good_for: timedelta | None, **limits: int | None
    ) -> tuple[TokenRow, str]:
        secret, at = f"ps_{secrets.token_urlsafe(32)}", datetime.now(UTC)
        values = {
            "id": secrets.token_hex(6),
            "hash": _hash(secret),
            "name": name,
            "scopes": " ".join(scopes),
            "study": study,
            "created_at": _time(at),
            "expires_at": None if good_for is None else _time(at + good_for),
            **limits,
        }
        with self._database.transaction() as connection:
            connection.execute(tokens.insert().values(**values))
            row = connection.execute(sql.select(tokens).where(tokens.c.id == values["id"])).one()
        return _row(row), secret


def _good_for(name: str) -> timedelta | None:
    """A driver's goes with its study."""
    return READING_GOOD_FOR if name == READS else None


def _is_good() -> sql.ColumnElement[bool]:
    """Times are written so that their order is that of the texts."""
    return sql.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > _time(datetime.now(UTC)))


def _row(row: Any) -> TokenRow:
    values = row._mapping
    fields = {name: values[name] for name in TokenRow._fields}
    return TokenRow(**{**fields, "scopes": tuple(row.scopes.split())})
