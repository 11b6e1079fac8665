"""A database brought to the schema of this version: made new, or led step by step from where it is."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sql

from service.contract.wire.errors import Unavailable
from service.store.schema import REVISION, metadata, revisions, studies

log = logging.getLogger("paretoscope.store")

FIRST = "1"  # 0.1.0 did not write down its revision


def bring_up_to_date(connection: sql.Connection, keep_copy: Callable[[str], None]) -> None:
    """Within the caller's transaction, which no other process shares; `keep_copy` is called before a step is taken."""
    at = revision_of(connection)
    if at == REVISION:
        return
    if at is None:
        metadata.create_all(connection)
        connection.execute(revisions.insert().values(version_num=REVISION))
        return
    if not at.isdecimal() or int(at) > int(REVISION):
        raise Unavailable(
            f"the database was written by a newer version of Paretoscope (schema {at}, this one knows {REVISION}): "
            "install that version, or choose another home"
        )
    log.info("the database is brought from schema %s to %s", at, REVISION)
    keep_copy(at)
    _walk(connection, at)


def revision_of(connection: sql.Connection) -> str | None:
    """The step that the database is at; none where there are no tables yet."""
    inspector = sql.inspect(connection)
    if not inspector.has_table(studies.name):
        return None
    if not inspector.has_table(revisions.name):
        return FIRST
    return connection.execute(sql.select(revisions.c.version_num)).scalar_one_or_none() or FIRST


def _walk(connection: sql.Connection, at: str) -> None:
    """Imported here: a database that is up to date, as nearly always, must not wait for alembic."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    if not sql.inspect(connection).has_table(revisions.name):
        command.stamp(config, at)
    command.upgrade(config, REVISION)
