"""The store in a SQL database: SQLite (WAL) in the home, or PostgreSQL.

A writer of SQLite takes the database's own lock before it reads the last sequence number, one of PostgreSQL the lock of
the study's row (`SELECT … FOR UPDATE`), so neither another thread nor another process can come between.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sql
from pydantic import ConfigDict, TypeAdapter

from service.contract.study.earlier import SPEC_VERSION, as_meant
from service.contract.wire.errors import Conflict, Detail, NotFound, Unavailable, Unreadable
from service.contract.wire.events import Event, StudyEvent, StudyQueued, StudyState, body_of, event_of
from service.store import journal
from service.store.database import Database
from service.store.leading import Leadership
from service.store.ledgers import Ledgers
from service.store.mending import mend
from service.store.notices import DELETED, Notices
from service.store.protocol import Appended, Logged, Refused, Spec, StudyRow, Unless
from service.store.schema import events, studies

IN_CHUNK = 500
READ_AT_ONCE = 1000  # one by one a long log takes a tenth longer
CHECKED: TypeAdapter[list[Event]] = TypeAdapter(list[Event], config=ConfigDict(defer_build=True))


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class SqlStore:
    """A `Store`."""

    def __init__(self, home: Path, url: str | None = None) -> None:
        self._database = self.database = Database(home, url)
        mend(self._database)
        self._reading, self._transaction = self._database.reading, self._database.transaction
        self._ledgers = Ledgers(self._database)
        self.listeners: list[Callable[[str], None]] = []
        self.from_others: list[Callable[[str, str], None]] = []
        engine = None if self._database.is_sqlite else self._database.engine
        self._notices = Notices(engine, self._hear) if engine else None
        self._leadership = Leadership(engine) if engine else None

    def close(self) -> None:
        for part in (self._notices, self._leadership, self._database):
            if part is not None:
                part.close()

    def leads(self) -> bool:
        """A SQLite file lies in a home, which has one service."""
        return self._leadership is None or self._leadership.held()

    def check(self) -> None:
        try:
            with self._reading() as connection:
                connection.execute(sql.select(sql.func.count()).select_from(studies)).scalar_one()
        except (sql.exc.SQLAlchemyError, Unreadable) as error:
            raise Unavailable(f"the store cannot be read: {error}") from error

    def size_bytes(self) -> int:
        return self._database.size_bytes()

    def create(self, study_id: str, spec: Spec, key: str | None) -> tuple[StudyRow, bool]:
        try:
            return self._create(study_id, spec, key)
        except sql.exc.IntegrityError:  # another process was first with this key: now it is known
            return self._create(study_id, spec, key)

    def _create(self, study_id: str, spec: Spec, key: str | None) -> tuple[StudyRow, bool]:
        text, queued = json.dumps(spec, ensure_ascii=False, sort_keys=True), StudyQueued(uid="service:queued")
        with self._transaction() as connection:
            if key is not None:
                query = sql.select(studies).where(studies.c.idempotency_key == key)
                known = connection.execute(query).one_or_none()
                if known is not None:
                    if known.spec != text:
                        raise Conflict(f"Idempotency-Key {key!r} was used for another study ({known.id})")
                    return _row(known), False
            values = {"id": study_id, "spec": text, "created_at": now(), "idempotency_key": key}
            connection.execute(
                studies.insert().values(state=StudyState.QUEUED.value, spec_version=SPEC_VERSION, **values)
            )
            _insert(connection, study_id, [queued])
            row = connection.execute(sql.select(studies).where(studies.c.id == study_id)).one()
            self._send(connection, study_id, StudyState.QUEUED.value)
        journal.say(study_id, [queued])
        self._tell(study_id)
        return _row(row), True

    def has_key(self, key: str) -> bool:
        with self._reading() as connection:
            query = sql.select(studies.c.id).where(studies.c.idempotency_key == key)
            return connection.execute(query).first() is not None

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

    def using_code(self) -> dict[str, list[str]]:
        named = studies.c.spec.like('%"code": {%')  # as `create` writes it; names and notes may have it too
        query = sql.select(studies.c.id, studies.c.spec).where(named).order_by(studies.c.number)
        using: dict[str, list[str]] = {}
        with self._reading() as connection:
            for study_id, spec in connection.execute(query):
                code = orjson.loads(spec).get("code")
                if isinstance(code, dict):
                    using.setdefault(str(code.get("hash")), []).append(study_id)
        return using

    def last_seqs(self, study_ids: Sequence[str]) -> dict[str, int]:
        lasts: dict[str, int] = {}
        with self._reading() as connection:
            for chunk in _chunks(study_ids):
                query = sql.select(studies.c.id, studies.c.last_seq).where(studies.c.id.in_(chunk))
                lasts.update((study, last) for study, last in connection.execute(query))
        return lasts

    def append(
        self,
        study_id: str,
        events: Sequence[Event],
        unless: Unless = lambda state: None,
        job: str | None = None,
    ) -> Appended:
        checked = CHECKED.validate_python(list(events))
        self._ledgers.prepare(study_id)
        with self._transaction() as connection:
            state = _state(connection, study_id)
            fresh = _fresh(connection, study_id, checked)
            if not fresh:
                return Appended(0, len(checked))
            kept = self._ledgers.of(connection, study_id, state)
            against = unless(state) or _replaced(job, kept.ledger.job)
            if against:
                raise _refused(state, against)
            accepted, refused = kept.ledger.judge(fresh)
            if not accepted and any(refusal.by_state for _, refusal in refused):
                raise _refused(state, f"study {study_id} is {state.value} and does not take {refused[0][0].kind}")
            if not accepted and (over := next((each for _, each in refused if each.by_lease), None)):
                raise _refused(state, over.reason)
            last = _insert(connection, study_id, accepted) if accepted else kept.seq
            if accepted:
                self._send(connection, study_id, kept.ledger.state.value if kept.ledger.state is not state else "")
        self._ledgers.keep(study_id, kept._replace(seq=last))
        if accepted:
            journal.say(study_id, accepted, job)
            self._tell(study_id)
        reasons = tuple(Refused(event.uid, refusal.reason) for event, refusal in refused)
        return Appended(len(accepted), len(checked) - len(fresh), reasons)

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
                    try:
                        event = event_of(uid, kind, orjson.loads(body))
                    except (KeyError, TypeError, ValueError) as error:
                        raise _unreadable(study_id, seq, kind, error) from error
                    yield Logged(seq, at, event)

    def delete(self, study_id: str) -> None:
        with self._transaction() as connection:
            state = _state(connection, study_id)
            if state is StudyState.RUNNING:
                raise _refused(state, f"study {study_id} is {state.value}: cancel it before deleting it")
            connection.execute(events.delete().where(events.c.study == study_id))
            connection.execute(studies.delete().where(studies.c.id == study_id))
            self._send(connection, study_id, DELETED)
        self._ledgers.forget(study_id)
        self._tell(study_id)

    def _send(self, connection: sql.Connection, study_id: str, state: str) -> None:
        if self._notices is not None:
            self._notices.send(connection, study_id, state)

    def _hear(self, study_id: str, state: str) -> None:
        """From another process."""
        for listener in self.from_others:
            listener(study_id, state)
        self._tell(study_id)

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


def _replaced(job: str | None, current: str | None) -> str | None:
    """Why nothing more is taken from a driver: another one has its place, and trains what it did not tell."""
    if job is None or current is None or job == current:
        return None
    return f"job {job} has been replaced by {current}: nothing more is taken from it"


def _insert(connection: sql.Connection, study_id: str, fresh: Sequence[Event]) -> int:
    """Numbered on; the last number."""
    query = sql.select(sql.func.coalesce(sql.func.max(events.c.seq), 0)).where(events.c.study == study_id)
    last, at = connection.execute(query).scalar_one(), now()
    rows, state = [], None
    for seq, event in enumerate(fresh, last + 1):
        body = orjson.dumps(body_of(event)).decode()
        rows.append({"study": study_id, "seq": seq, "uid": event.uid, "at": at, "kind": event.kind, "body": body})
        if isinstance(event, StudyEvent):
            state = event.leads_to
    connection.execute(events.insert(), rows)
    changed = {"last_seq": last + len(rows), **({"state": state.value} if state is not None else {})}
    connection.execute(studies.update().where(studies.c.id == study_id).values(changed))
    return int(last) + len(rows)


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """A database takes so many values in one query."""
    return (values[start : start + IN_CHUNK] for start in range(0, len(values), IN_CHUNK))


def _refused(state: StudyState, message: str) -> Conflict:
    """A conflict that carries the state it comes from."""
    return Conflict(message, [Detail(path="state", message=state.value)])


def _unreadable(study_id: str, seq: int, kind: str, error: Exception) -> Unreadable:
    return Unreadable(f"event {seq} of study {study_id} ({kind}) cannot be read by this version: {error!r}")


def _row(row: Any) -> StudyRow:
    """What cannot be read of a study is said with it, and harms no other."""
    spec, unreadable = {}, None
    try:
        spec = json.loads(row.spec)
        spec = as_meant(spec, row.spec_version)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        unreadable = f"its stored spec cannot be read: {error}"
    if not isinstance(spec, dict):
        spec, unreadable = {}, "its stored spec is no mapping"
    return StudyRow(row.id, spec, StudyState(row.state), row.created_at, unreadable, row.lost_events)
