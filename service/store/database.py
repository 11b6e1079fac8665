"""Studies and their append-only event log in SQLite (WAL). One writer; sequence numbers without holes."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sql

from service.contract.errors import Conflict, Detail, NotFound
from service.contract.events import STATE_AFTER, StudyState

metadata = sql.MetaData()
studies = sql.Table(
    "studies",
    metadata,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.String(32), unique=True, nullable=False),
    sql.Column("spec", sql.Text, nullable=False),
    sql.Column("state", sql.String(16), nullable=False, index=True),
    sql.Column("created_at", sql.String(32), nullable=False),
    sql.Column("idempotency_key", sql.String(200), unique=True),
    sqlite_autoincrement=True,
)
events = sql.Table(
    "events",
    metadata,
    sql.Column("study", sql.String(32), sql.ForeignKey("studies.id"), primary_key=True),
    sql.Column("seq", sql.Integer, primary_key=True),
    sql.Column("uid", sql.String(200), nullable=False),
    sql.Column("at", sql.String(32), nullable=False),
    sql.Column("kind", sql.String(32), nullable=False),
    sql.Column("body", sql.Text, nullable=False),
    sql.UniqueConstraint("study", "uid"),
)

_IN_CHUNK = 500


class StudyRow(NamedTuple):
    id: str
    spec: dict[str, Any]
    state: StudyState
    created_at: str


class Event(NamedTuple):
    seq: int
    at: str
    kind: str
    body: dict[str, Any]

    def public(self) -> dict[str, Any]:
        return {"seq": self.seq, "at": self.at, "kind": self.kind, **self.body}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def finite(value: Any) -> Any:
    """Non-finite numbers become null at the boundary."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


class Store:
    """`append` is the only way anything changes; listeners hear of it after the commit."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._engine = sql.create_engine(f"sqlite:///{home / 'paretoscope.db'}", connect_args={"timeout": 30})

        @sql.event.listens_for(self._engine, "connect")
        def _configure(connection: Any, _record: Any) -> None:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA foreign_keys=ON")

        metadata.create_all(self._engine)
        self._writing = threading.Lock()
        self.listeners: list[Callable[[str], None]] = []

    def close(self) -> None:
        self._engine.dispose()

    def check(self) -> None:
        """Raise when the database cannot be read."""
        with self._engine.connect() as connection:
            connection.execute(sql.select(sql.func.count()).select_from(studies)).scalar_one()

    def create(self, study_id: str, spec: dict[str, Any], key: str | None) -> tuple[StudyRow, bool]:
        """A new study, or the one that this idempotency key made before."""
        text = json.dumps(spec, ensure_ascii=False, sort_keys=True)
        with self._writing, self._engine.begin() as connection:
            if key is not None:
                query = sql.select(studies).where(studies.c.idempotency_key == key)
                found = connection.execute(query).one_or_none()
                if found is not None:
                    if found.spec != text:
                        raise Conflict(f"Idempotency-Key {key!r} was used for another study ({found.id})")
                    return _row(found), False
            connection.execute(
                studies.insert().values(id=study_id, spec=text, state="queued", created_at=now(), idempotency_key=key)
            )
            self._insert(connection, study_id, [("service:queued", "study_queued", {})])
            row = connection.execute(sql.select(studies).where(studies.c.id == study_id)).one()
        self._tell(study_id)
        return _row(row), True

    def study(self, study_id: str) -> StudyRow:
        with self._engine.connect() as connection:
            row = connection.execute(sql.select(studies).where(studies.c.id == study_id)).one_or_none()
        if row is None:
            raise NotFound(f"there is no study {study_id!r}")
        return _row(row)

    def list_studies(self, state: StudyState | None, limit: int, after: str | None) -> list[StudyRow]:
        """Newest first; `after` is the id of the last one seen."""
        query = sql.select(studies).order_by(studies.c.number.desc()).limit(limit)
        if state is not None:
            query = query.where(studies.c.state == state.value)
        if after is not None:
            seen = sql.select(studies.c.number).where(studies.c.id == after).scalar_subquery()
            query = query.where(studies.c.number < seen)
        with self._engine.connect() as connection:
            return [_row(row) for row in connection.execute(query)]

    def in_state(self, state: StudyState) -> list[StudyRow]:
        """All studies in a state, oldest first."""
        query = sql.select(studies).where(studies.c.state == state.value).order_by(studies.c.number)
        with self._engine.connect() as connection:
            return [_row(row) for row in connection.execute(query)]

    def delete(self, study_id: str) -> None:
        with self._writing, self._engine.begin() as connection:
            state = self._state(connection, study_id)
            if state is StudyState.RUNNING:
                raise _refused(state, f"study {study_id} is {state.value}: cancel it before deleting it")
            connection.execute(events.delete().where(events.c.study == study_id))
            connection.execute(studies.delete().where(studies.c.id == study_id))
        self._tell(study_id)

    def append(
        self,
        study_id: str,
        sent: Sequence[tuple[str, str, dict[str, Any]]],
        unless: Callable[[StudyState], str | None] = lambda state: None,
    ) -> tuple[int, int]:
        """Append (uid, kind, body) events; returns how many were new and how many were known.

        An ended study takes no new event; `unless` may refuse in other states too, by returning the reason.
        """
        with self._writing, self._engine.begin() as connection:
            state = self._state(connection, study_id)
            fresh = self._fresh(connection, study_id, sent)
            if fresh:
                refusal = unless(state)
                if state.is_ended():
                    refusal = refusal or f"study {study_id} is {state.value} and takes no more events"
                if refusal:
                    raise _refused(state, refusal)
                self._insert(connection, study_id, fresh)
        if fresh:
            self._tell(study_id)
        return len(fresh), len(sent) - len(fresh)

    def events(self, study_id: str, after: int, limit: int | None = None) -> list[Event]:
        return list(self.read(study_id, after, limit))

    def read(self, study_id: str, after: int, limit: int | None = None) -> Iterator[Event]:
        """The events one by one: a log of a hundred thousand is not held twice."""
        query = (
            sql.select(events.c.seq, events.c.at, events.c.kind, events.c.body)
            .where(events.c.study == study_id, events.c.seq > after)
            .order_by(events.c.seq)
            .limit(limit)
        )
        with self._engine.connect() as connection:
            for seq, at, kind, body in connection.execute(query):
                yield Event(seq, at, kind, orjson.loads(body))

    def _tell(self, study_id: str) -> None:
        for listener in self.listeners:
            listener(study_id)

    @staticmethod
    def _state(connection: sql.Connection, study_id: str) -> StudyState:
        query = sql.select(studies.c.state).where(studies.c.id == study_id)
        state = connection.execute(query).scalar_one_or_none()
        if state is None:
            raise NotFound(f"there is no study {study_id!r}")
        return StudyState(state)

    @staticmethod
    def _fresh(
        connection: sql.Connection, study_id: str, sent: Iterable[tuple[str, str, dict[str, Any]]]
    ) -> list[tuple[str, str, dict[str, Any]]]:
        by_uid = {event[0]: event for event in reversed(list(sent))}
        uids = list(by_uid)
        for start in range(0, len(uids), _IN_CHUNK):
            chunk = uids[start : start + _IN_CHUNK]
            query = sql.select(events.c.uid).where(events.c.study == study_id, events.c.uid.in_(chunk))
            for uid in connection.execute(query).scalars():
                del by_uid[uid]
        return list(reversed(by_uid.values()))

    @staticmethod
    def _insert(connection: sql.Connection, study_id: str, fresh: Sequence[tuple[str, str, dict[str, Any]]]) -> None:
        """Numbered on; nothing after an event that ends the study, so that a stream has a last event."""
        query = sql.select(sql.func.coalesce(sql.func.max(events.c.seq), 0)).where(events.c.study == study_id)
        last, at = connection.execute(query).scalar_one(), now()
        rows, state = [], None
        for i, (uid, kind, body) in enumerate(fresh, 1):
            text = json.dumps(finite(body), ensure_ascii=False, allow_nan=False)
            rows.append({"study": study_id, "seq": last + i, "uid": uid, "at": at, "kind": kind, "body": text})
            state = STATE_AFTER.get(kind, state)
            if state is not None and state.is_ended():
                break
        connection.execute(events.insert(), rows)
        if state is not None:
            connection.execute(studies.update().where(studies.c.id == study_id).values(state=state.value))


def _refused(state: StudyState, message: str) -> Conflict:
    """A conflict that carries the state it comes from."""
    return Conflict(message, [Detail(path="state", message=state.value)])


def _row(row: Any) -> StudyRow:
    return StudyRow(row.id, json.loads(row.spec), StudyState(row.state), row.created_at)
