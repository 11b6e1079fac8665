"""The store in a SQL database: SQLite (WAL) in the home.

A writer takes the database's own lock before it reads the last sequence number, so neither another thread nor another
process can come between. What other databases would call `SELECT … FOR UPDATE` on the study's row is in the query too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sql
from pydantic import TypeAdapter

from service.contract.study.earlier import as_meant
from service.contract.wire.errors import Conflict, Detail, NotFound, Unavailable
from service.contract.wire.events import Event, StudyEvent, StudyQueued, StudyState, body_of, event_of
from service.store.protocol import Appended, Logged, Spec, StudyRow, Unless
from service.store.schema import events, metadata, studies

IN_CHUNK = 500
PATIENCE_SECONDS = 30.0  # how long a call waits for another process's lock
READ_AT_ONCE = 1000  # one by one a long log takes a tenth longer
# Looked up in the index study by study: grouped, every event of every study would be read.
LAST = sql.select(sql.func.max(events.c.seq)).where(events.c.study == studies.c.id).scalar_subquery()
CHECKED: TypeAdapter[list[Event]] = TypeAdapter(list[Event])


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class SqlStore:
    """A `Store`."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        patience = {"timeout": PATIENCE_SECONDS}
        self._engine = sql.create_engine(f"sqlite:///{home / 'paretoscope.db'}", connect_args=patience)

        @sql.event.listens_for(self._engine, "connect")
        def _configure(connection: Any, _record: Any) -> None:
            connection.isolation_level = None  # the driver would begin a transaction only with the first write
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA foreign_keys=ON")

        metadata.create_all(self._engine)
        self.listeners: list[Callable[[str], None]] = []

    def close(self) -> None:
        self._engine.dispose()

    def check(self) -> None:
        try:
            with self._reading() as connection:
                connection.execute(sql.select(sql.func.count()).select_from(studies)).scalar_one()
        except sql.exc.SQLAlchemyError as error:
            raise Unavailable(f"the store cannot be read: {type(error).__name__}") from error

    def create(self, study_id: str, spec: Spec, key: str | None) -> tuple[StudyRow, bool]:
        text = json.dumps(spec, ensure_ascii=False, sort_keys=True)
        with self._writing() as connection:
            if key is not None:
                query = sql.select(studies).where(studies.c.idempotency_key == key)
                known = connection.execute(query).one_or_none()
                if known is not None:
                    if known.spec != text:
                        raise Conflict(f"Idempotency-Key {key!r} was used for another study ({known.id})")
                    return _row(known), False
            values = {"id": study_id, "spec": text, "created_at": now(), "idempotency_key": key}
            connection.execute(studies.insert().values(state=StudyState.QUEUED.value, **values))
            _insert(connection, study_id, [StudyQueued(uid="service:queued")])
            row = connection.execute(sql.select(studies).where(studies.c.id == study_id)).one()
        self._tell(study_id)
        return _row(row), True

    def study(self, study_id: str) -> StudyRow:
        with self._reading() as connection:
            row = connection.execute(sql.select(studies).where(studies.c.id == study_id)).one_or_none()
        if row is None:
            raise NotFound(f"there is no study {study_id!r}")
        return _row(row)

    def list_studies(self, state: StudyState | None, limit: int, after: str | None) -> list[StudyRow]:
        query = sql.select(studies).order_by(studies.c.number.desc()).limit(limit)
        if state is not None:
            query = query.where(studies.c.state == state.value)
        if after is not None:
            seen = sql.select(studies.c.number).where(studies.c.id == after).scalar_subquery()
            query = query.where(studies.c.number < seen)
        with self._reading() as connection:
            return [_row(row) for row in connection.execute(query)]

    def in_state(self, state: StudyState) -> list[StudyRow]:
        query = sql.select(studies).where(studies.c.state == state.value).order_by(studies.c.number)
        with self._reading() as connection:
            return [_row(row) for row in connection.execute(query)]

    def last_seqs(self, study_ids: Sequence[str]) -> dict[str, int]:
        lasts: dict[str, int] = {}
        with self._reading() as connection:
            for chunk in _chunks(study_ids):
                for study, last in connection.execute(sql.select(studies.c.id, LAST).where(studies.c.id.in_(chunk))):
                    lasts[study] = last
        return lasts

    def append(self, study_id: str, events: Sequence[Event], unless: Unless = lambda state: None) -> Appended:
        checked = CHECKED.validate_python(list(events))
        with self._writing() as connection:
            state = _state(connection, study_id)
            fresh = _fresh(connection, study_id, checked)
            if fresh:
                refusal = unless(state)
                if state.is_ended():
                    refusal = refusal or f"study {study_id} is {state.value} and takes no more events"
                if refusal:
                    raise _refused(state, refusal)
                _insert(connection, study_id, fresh)
        if fresh:
            self._tell(study_id)
        return Appended(len(fresh), len(checked) - len(fresh))

    def read(self, study_id: str, after: int, limit: int | None = None) -> Iterator[Logged]:
        query = (
            sql.select(events.c.seq, events.c.at, events.c.uid, events.c.kind, events.c.body)
            .where(events.c.study == study_id, events.c.seq > after)
            .order_by(events.c.seq)
            .limit(limit)
        )
        with self._reading() as connection:
            for rows in connection.execute(query).partitions(READ_AT_ONCE):
                for seq, at, uid, kind, body in rows:
                    yield Logged(seq, at, event_of(uid, kind, orjson.loads(body)))

    def delete(self, study_id: str) -> None:
        with self._writing() as connection:
            state = _state(connection, study_id)
            if state is StudyState.RUNNING:
                raise _refused(state, f"study {study_id} is {state.value}: cancel it before deleting it")
            connection.execute(events.delete().where(events.c.study == study_id))
            connection.execute(studies.delete().where(studies.c.id == study_id))
        self._tell(study_id)

    @contextmanager
    def _reading(self) -> Iterator[sql.Connection]:
        """A connection; whoever cannot have one, or waits in vain for a lock, may come again."""
        try:
            with self._engine.connect() as connection:
                yield connection
        except sql.exc.OperationalError as error:
            raise Unavailable(f"the store does not answer: {error.orig}") from error
        except sql.exc.TimeoutError as error:
            raise Unavailable("the store does not answer: all its connections are taken") from error

    @contextmanager
    def _writing(self) -> Iterator[sql.Connection]:
        """A transaction that holds the database's write lock from its beginning."""
        with self._reading() as connection, connection.begin():
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    def _tell(self, study_id: str) -> None:
        for listener in self.listeners:
            listener(study_id)


def _state(connection: sql.Connection, study_id: str) -> StudyState:
    """The study's state, its row held until the transaction ends."""
    query = sql.select(studies.c.state).where(studies.c.id == study_id).with_for_update()
    state = connection.execute(query).scalar_one_or_none()
    if state is None:
        raise NotFound(f"there is no study {study_id!r}")
    return StudyState(state)


def _fresh(connection: sql.Connection, study_id: str, sent: Sequence[Event]) -> list[Event]:
    """The events whose uid the log does not have; of two with the same uid the first."""
    by_uid = {event.uid: event for event in reversed(sent)}
    for chunk in _chunks(list(by_uid)):
        query = sql.select(events.c.uid).where(events.c.study == study_id, events.c.uid.in_(chunk))
        for uid in connection.execute(query).scalars():
            del by_uid[uid]
    return list(reversed(by_uid.values()))


def _insert(connection: sql.Connection, study_id: str, fresh: Sequence[Event]) -> None:
    """Numbered on; nothing after an event that ends the study, so that a stream has a last event."""
    query = sql.select(sql.func.coalesce(sql.func.max(events.c.seq), 0)).where(events.c.study == study_id)
    last, at = connection.execute(query).scalar_one(), now()
    rows, state = [], None
    for seq, event in enumerate(fresh, last + 1):
        body = orjson.dumps(body_of(event)).decode()
        rows.append({"study": study_id, "seq": seq, "uid": event.uid, "at": at, "kind": event.kind, "body": body})
        if isinstance(event, StudyEvent):
            state = event.leads_to
            if state.is_ended():
                break
    connection.execute(events.insert(), rows)
    if state is not None:
        connection.execute(studies.update().where(studies.c.id == study_id).values(state=state.value))


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """A database takes so many values in one query."""
    return (values[start : start + IN_CHUNK] for start in range(0, len(values), IN_CHUNK))


def _refused(state: StudyState, message: str) -> Conflict:
    """A conflict that carries the state it comes from."""
    return Conflict(message, [Detail(path="state", message=state.value)])


def _row(row: Any) -> StudyRow:
    return StudyRow(row.id, as_meant(json.loads(row.spec)), StudyState(row.state), row.created_at)
