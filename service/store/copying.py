"""All rows of one database into another that is empty: SQLite to PostgreSQL, or either to a file for a backup."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sql

from service.contract.wire.errors import Conflict
from service.store.database import Database
from service.store.schema import events, facts, metadata, revisions, studies

AT_ONCE = 1000


class Copied(NamedTuple):
    studies: int
    events: int


def copy_rows(source: Database, target: Database) -> Copied:
    """As the source is at one moment, in one transaction of the target: all of it, or nothing."""
    with source.snapshot() as old, target.transaction() as new:
        if new.execute(sql.select(studies.c.id).limit(1)).first():
            raise Conflict("the database has studies already: name an empty one")
        new.execute(facts.delete())  # it is the same service, wherever its rows are
        counts = {}
        for table in metadata.sorted_tables:  # studies before their events
            if table is not revisions:
                counts[table.name] = _copy(table, old, new)
        if not target.is_sqlite:  # the next study's number follows the last one
            last = sql.select(sql.func.coalesce(sql.func.max(studies.c.number), 1)).scalar_subquery()
            number = sql.func.pg_get_serial_sequence(studies.name, studies.c.number.name)
            new.execute(sql.select(sql.func.setval(number, last)))
    return Copied(counts[studies.name], counts[events.name])


def _copy(table: sql.Table, old: sql.Connection, new: sql.Connection) -> int:
    query = sql.select(table).order_by(*table.primary_key.columns).execution_options(yield_per=AT_ONCE)
    count = 0
    for rows in old.execute(query).mappings().partitions(AT_ONCE):
        new.execute(table.insert(), [dict(row) for row in rows])
        count += len(rows)
    return count
