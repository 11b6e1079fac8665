"""One database, whichever it is: its connections, its write lock, and its errors in words.

SQLite in the home is the default; a URL names a PostgreSQL. All that differs between the two stands in this file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from service.contract.wire.errors import InvalidInput, NoSpace, ParetoscopeError, Unavailable, Unreadable
from service.store.schema import REVISION
from service.store.upgrading import bring_up_to_date, revision_of

FILE = "paretoscope.db"
PATIENCE_SECONDS = 30.0  # how long a call waits for another process's lock
OPENING = 7_203_114  # advisory lock of PostgreSQL, a number of our own: one process at a time looks at the schema
DISK_FULL = "53100"  # PostgreSQL's codes, this and the next
# A server that only reads, as a replica that has not taken over; rights that were taken; a transaction that it ended.
MAY_NOT_WRITE = {"25006", "42501", "25P03", "25P04"}
FULL = {"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMMAP", "SQLITE_IOERR_FSYNC"}
DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


class Database:
    """Connections, each used by one thread at a time."""

    def __init__(self, home: Path, url: str | None = None) -> None:
        self.is_sqlite = not url
        self.file = home / FILE
        self.engine = _postgresql(url) if url else _sqlite(home)
        with self.reading() as connection:
            ready = revision_of(connection) == REVISION
        if not ready:
            with self.transaction() as connection:
                if not self.is_sqlite:
                    connection.execute(sql.select(sql.func.pg_advisory_xact_lock(OPENING)))
                bring_up_to_date(connection, self._keep_copy)

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """A connection; whoever cannot have one, or waits in vain for a lock, may try again."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except sql.exc.DBAPIError as error:
            raise in_words(error) from error
        except sql.exc.TimeoutError as error:
            raise Unavailable("the store does not answer: all its connections are taken") from error

    @contextmanager
    def snapshot(self) -> Iterator[sql.Connection]:
        """A connection that sees one moment, however long it reads and whoever writes."""
        with self.reading() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN")
            else:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[sql.Connection]:
        """One that writes. In SQLite it holds the only write lock from its beginning; in PostgreSQL rows are locked."""
        with self.reading() as connection, connection.begin():
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    def size_bytes(self) -> int:
        """On disk; of a SQLite file with what its write-ahead log holds."""
        if self.is_sqlite:
            logs = (self.file.with_name(f"{FILE}-{kind}") for kind in ("wal", "shm"))
            return sum(file.stat().st_size for file in (self.file, *logs) if file.is_file())
        with self.reading() as connection:
            return int(connection.execute(sql.text("SELECT pg_database_size(current_database())")).scalar_one())

    def _keep_copy(self, revision: str) -> None:
        """Before its schema changes a file is copied; a server has backups of its own."""
        if self.is_sqlite:
            place = self.file.with_name(f"{FILE}.before-schema-{int(revision) + 1}")
            place.unlink(missing_ok=True)
            copy_file(self.file, place)


def copy_file(database: Path, place: Path) -> None:
    """A consistent copy of a SQLite file, also while others write to it."""
    source, copy = sqlite3.connect(database, timeout=PATIENCE_SECONDS), sqlite3.connect(place)
    try:
        source.backup(copy)
    except sqlite3.Error as error:
        raise NoSpace(f"{database} cannot be copied to {place.parent}: {error}") from error
    finally:
        copy.close()
        source.close()


def _sqlite(home: Path) -> sql.Engine:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Unavailable(f"the home {home} cannot be made: {error.strerror}") from error
    engine = sql.create_engine(f"sqlite:///{home / FILE}", connect_args={"timeout": PATIENCE_SECONDS})

    @sql.event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the driver would begin a transaction only with the first write
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    return engine


def _postgresql(url: str) -> sql.Engine:
    """Pinged before use: a server that was started again has forgotten the connections of before."""
    try:
        given = sql.make_url(url)
    except sql.exc.ArgumentError:
        raise Unavailable("PARETOSCOPE_DATABASE_URL is no address, as postgresql://user:password@host/name") from None
    if given.get_backend_name() not in ("postgresql", "postgres"):
        raise Unavailable(f"PARETOSCOPE_DATABASE_URL names {given.get_backend_name()!r}; only postgresql is known")
    patience = {"connect_timeout": 10, "options": f"-c lock_timeout={int(PATIENCE_SECONDS * 1000)}"}
    return sql.create_engine(
        given.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,
        pool_size=10,
        max_overflow=20,
        connect_args=patience,
    )


def in_words(error: sql.exc.DBAPIError) -> ParetoscopeError:
    """What a database says, as an error that a user can act on."""
    said = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    name, state = getattr(error.orig, "sqlite_errorname", ""), getattr(error.orig, "sqlstate", None)
    if name in FULL or state == DISK_FULL:
        return NoSpace(f"the store's disk is full, and nothing was written: {said}; it goes on when there is space")
    if name.startswith("SQLITE_READONLY") or state in MAY_NOT_WRITE:
        return Unavailable(f"the store cannot be written: {said}")
    if name.startswith(DAMAGED):
        return Unreadable(f"a part of the store is damaged: {said}; restore a backup, or delete what it harms")
    if isinstance(error, sql.exc.DataError):
        return InvalidInput(f"the store cannot keep this: {said}")
    if isinstance(error, sql.exc.OperationalError | sql.exc.InterfaceError):
        return Unavailable(f"the store does not answer: {said}")
    raise error
