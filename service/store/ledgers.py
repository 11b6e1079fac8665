"""The ledgers of the studies that are being told about: kept between batches, brought up to date before each."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

import orjson
import sqlalchemy as sql

from service.contract.wire.events import StudyState, event_of
from service.contract.wire.transitions import Ledger
from service.store.database import Database
from service.store.schema import events

MOST = 64  # far more studies than run at once
READ_AT_ONCE = 1000


class Kept(NamedTuple):
    """A ledger, and the number of the last event in it."""

    seq: int
    ledger: Ledger


class Ledgers:
    """What is kept is never changed: a transaction works on a copy, which takes its place after the commit.

    Another process may have written in between: what came since is read within the transaction that judges.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._by_study: OrderedDict[str, Kept] = OrderedDict()

    def prepare(self, study_id: str) -> None:
        """Read a long log before the transaction, in which everybody would wait for it."""
        if self._known(study_id) is None:
            with self._database.reading() as connection:
                self.keep(study_id, _advanced(connection, study_id, Kept(0, Ledger())))

    def of(self, connection: sql.Connection, study_id: str, state: StudyState) -> Kept:
        """The caller's own, up to date; the study's state is the one that its row has."""
        kept = self._known(study_id) or Kept(0, Ledger())
        kept = _advanced(connection, study_id, Kept(kept.seq, kept.ledger.copy()))
        kept.ledger.state = state
        return kept

    def keep(self, study_id: str, kept: Kept) -> None:
        with self._lock:
            known = self._by_study.pop(study_id, kept)
            self._by_study[study_id] = max(known, kept, key=lambda each: each.seq)
            while len(self._by_study) > MOST:
                self._by_study.popitem(last=False)

    def forget(self, study_id: str) -> None:
        with self._lock:
            self._by_study.pop(study_id, None)

    def _known(self, study_id: str) -> Kept | None:
        with self._lock:
            return self._by_study.get(study_id)


def _advanced(connection: sql.Connection, study_id: str, kept: Kept) -> Kept:
    """With all that the log has. An event of another version is passed over: it must not keep a study from ending."""
    query = (
        sql.select(events.c.seq, events.c.uid, events.c.kind, events.c.body)
        .where(events.c.study == study_id, events.c.seq > kept.seq)
        .order_by(events.c.seq)
    )
    last = kept.seq
    for rows in connection.execute(query).partitions(READ_AT_ONCE):
        for seq, uid, kind, body in rows:
            last = seq
            try:
                event = event_of(uid, kind, orjson.loads(body))
            except (KeyError, TypeError, ValueError):
                continue
            kept.ledger.add(event)
    return kept._replace(seq=last)
