"""Logs that have lost their ends, as to a failing disk: found at the start, mentioned, and gone on from."""

from __future__ import annotations

import logging

import sqlalchemy as sql

from service.contract.wire.errors import ParetoscopeError
from service.contract.wire.events import KINDS, StudyEvent, StudyState
from service.store.database import Database
from service.store.schema import events, studies

log = logging.getLogger("paretoscope.store")

LAST = sql.select(sql.func.coalesce(sql.func.max(events.c.seq), 0)).where(events.c.study == studies.c.id)
LENGTH = LAST.scalar_subquery()


def mend(database: Database) -> None:
    """Each row knows how long its log was. Where events are missing, the study is in the state that is left of it."""
    try:
        with database.reading() as connection:
            query = sql.select(studies.c.id, studies.c.last_seq, LENGTH).where(studies.c.last_seq > LENGTH)
            shortened = list(connection.execute(query))
        for study_id, last, length in shortened:
            log.warning("the log of study %s ends at event %d of %d: the others are lost", study_id, length, last)
            with database.transaction() as connection:
                changed = {"last_seq": length, "lost_events": studies.c.lost_events + (last - length)}
                state = _state(connection, study_id)
                connection.execute(
                    studies.update().where(studies.c.id == study_id).values(state=state.value, **changed)
                )
    except ParetoscopeError as error:  # damaged further: what can be read is
        log.warning("logs could not be compared with their lengths: %s", error.message)


def _state(connection: sql.Connection, study_id: str) -> StudyState:
    """As the last event of the study that there is says."""
    states = {name: kind.leads_to for name, kind in KINDS.items() if issubclass(kind, StudyEvent)}
    query = (
        sql.select(events.c.kind)
        .where(events.c.study == study_id, events.c.kind.in_(states))
        .order_by(events.c.seq.desc())
        .limit(1)
    )
    kind = connection.execute(query).scalar_one_or_none()
    return states[kind] if kind else StudyState.QUEUED
