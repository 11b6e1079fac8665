"""A home kept in one file, brought back from it, and moved from SQLite to PostgreSQL.

`python -m service.store.keeping backup HOME FILE | restore HOME FILE | migrate HOME`, which the command line runs. The
database is the one of PARETOSCOPE_DATABASE_URL, or the file in the home: an address with a password belongs neither
into a process list nor into a shell's history.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy as sql

from paretoscope import __version__
from service.contract.wire.errors import Conflict, InvalidInput, NoSpace, NotFound, ParetoscopeError, Unavailable
from service.contract.wire.keeping import Kept, NotKept
from service.contract.wording.lists import listed
from service.store.copying import Copied, copy_rows
from service.store.database import FILE, Database, copy_file
from service.store.schema import events, studies

URL = "PARETOSCOPE_DATABASE_URL"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ABOUT = "about.json"
# Saved states are copied before the log and weights after it: a state that is behind its log is trained on from, one
# that is ahead of it would leave a gap.
BEFORE, AFTER = ("states",), ("artifacts", "code")


def backup(home: Path, url: str | None, place: Path) -> Kept:
    """While the service runs too: one moment of the database, and the files of the home that it speaks of."""
    if url is None and not (home / FILE).is_file():
        raise NotFound(f"there is no database in {home}: name the home with --home, or the server with {URL}")
    part = place.with_name(f"{place.name}.part")
    with tempfile.TemporaryDirectory(prefix="paretoscope-backup-", dir=place.resolve().parent) as folder:
        try:
            copied, files = _write(part, home, url, Path(folder) / FILE)
            part.replace(place)
        except OSError as error:
            raise NoSpace(f"{place} cannot be written: {error.strerror}") from error
        finally:
            part.unlink(missing_ok=True)
    return _kept(copied, files, place.stat().st_size)


def _kept(copied: Copied, files: int, size: int) -> Kept:
    return Kept(studies=copied.studies, events=copied.events, files=files, bytes=size)


def _write(part: Path, home: Path, url: str | None, copy: Path) -> tuple[Copied, int]:
    with _private(part) as file, tarfile.open(fileobj=file, mode="w") as archive:
        files = _add_files(archive, home, BEFORE)
        copied = _one_file(home, url, copy)
        archive.add(copy, FILE)
        files += _add_files(archive, home, AFTER)
        about = json.dumps({"paretoscope": __version__, **copied._asdict(), "files": files}).encode()
        entry = tarfile.TarInfo(ABOUT)
        entry.size = len(about)
        archive.addfile(entry, io.BytesIO(about))
    return copied, files


def restore(home: Path, url: str | None, place: Path) -> Kept:
    """Into a home without a database and files of studies, and, where a server is named, into one without studies."""
    _refuse_used(home)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.chmod(0o700)  # it may have been there, and open
    with _alone(home), tempfile.TemporaryDirectory(prefix=".restore-", dir=home) as folder:
        _refuse_used(home)  # while it was not locked, a service may have come and gone
        files = _unpack(place, Path(folder))
        if url is not None:
            with closing(Database(Path(folder))) as source, closing(Database(home, url)) as target:
                copied = copy_rows(source, target)
        else:
            with closing(Database(Path(folder))) as source:
                copied = _counted(source)
        for name in (*BEFORE, *AFTER, *([FILE] if url is None else [])):
            if (Path(folder) / name).exists():
                (Path(folder) / name).rename(home / name)
    return _kept(copied, files, place.stat().st_size)


def _refuse_used(home: Path) -> None:
    """Before anything is written: all that is in the way, so that it is moved away at once."""
    database = [name for name in (FILE, f"{FILE}-wal", f"{FILE}-shm") if os.path.lexists(home / name)]
    folders = [f"{name}/" for name in (*BEFORE, *AFTER) if _holds_something(home / name)]
    if used := [*database, *folders]:
        what = "a database" if database else "files of studies"
        raise Conflict(f"{home} has {what} already: choose another --home, or move away {listed(used)}")


def _holds_something(folder: Path) -> bool:
    """What is no folder, or one that is not empty: nothing can be renamed to it."""
    if folder.is_dir() and not folder.is_symlink():
        return any(folder.iterdir())
    return os.path.lexists(folder)


def migrate(home: Path, url: str | None) -> Kept:
    """Studies and logs to the server; the file stays beside, renamed, and the home's other files where they are."""
    if url is None:
        raise InvalidInput(f"set {URL} to the PostgreSQL to move to, postgresql://user:password@host/name")
    if not (home / FILE).is_file():
        raise NotFound(f"there is no database in {home}: name the home with --home")
    with _alone(home):
        with closing(Database(home)) as source, closing(Database(home, url)) as target:
            copied = copy_rows(source, target)
            size = source.size_bytes()
        (home / FILE).rename(home / f"{FILE}.migrated")
    return _kept(copied, 0, size)


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """What a running service writes meanwhile would be lost."""
    with (home / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(f"a paretoscope is using {home}: end it first") from None
        yield


@contextmanager
def _private(place: Path) -> Iterator[io.BufferedWriter]:
    """Written whole to the disk, and readable by its owner alone: studies may be nobody else's business."""
    place.unlink(missing_ok=True)  # with whatever mode an earlier one was left
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _one_file(home: Path, url: str | None, copy: Path) -> Copied:
    if url is None:
        copy_file(home / FILE, copy)
        with closing(Database(copy.parent)) as database:
            return _counted(database)
    with closing(Database(home, url)) as source, closing(Database(copy.parent)) as target:
        return copy_rows(source, target)


def _counted(database: Database) -> Copied:
    with database.reading() as connection:
        counts = [
            connection.execute(sql.select(sql.func.count()).select_from(t)).scalar_one() for t in (studies, events)
        ]
        connection.exec_driver_sql("PRAGMA journal_mode=DELETE")  # all of it in one file
    return Copied(*counts)


def _add_files(archive: tarfile.TarFile, home: Path, folders: tuple[str, ...]) -> int:
    """Without those on their way in, and without those of a study that is deleted meanwhile."""
    count = 0
    for folder in folders:
        for path in sorted((home / folder).rglob("*")):
            if path.name.startswith(".") or not path.is_file():
                continue
            try:
                archive.add(path, str(path.relative_to(home)))
                count += 1
            except FileNotFoundError:
                continue
    return count


def _unpack(place: Path, folder: Path) -> int:
    try:
        with tarfile.open(place) as archive:
            names = archive.getnames()
            if FILE not in names or ABOUT not in names:
                raise InvalidInput(f"{place} is no backup of Paretoscope, or a part of one")
            archive.extractall(folder, filter="data")
    except (OSError, tarfile.TarError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise NoSpace(f"{folder.parent} cannot hold {place}: {error.strerror}") from error
        raise InvalidInput(f"{place} cannot be read: {error}") from error
    return len(names) - 2


def main(arguments: list[str]) -> int:
    what, home, *rest = arguments
    url = os.environ.get(URL) or None
    try:
        if what == "migrate":
            kept = migrate(Path(home), url)
        else:
            kept = (backup if what == "backup" else restore)(Path(home), url, Path(rest[0]))
    except ParetoscopeError as error:
        print(NotKept(error=error.message).model_dump_json())  # noqa: T201
        return 1 if isinstance(error, Unavailable | NoSpace) else 2
    except OSError as error:
        print(NotKept(error=f"{error.filename or home}: {error.strerror}").model_dump_json())  # noqa: T201
        return 1
    print(kept.model_dump_json())  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
