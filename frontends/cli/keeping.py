"""`paretoscope backup`, `restore` and `migrate`: a home kept, brought back, and moved to PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from frontends.cli.display import size
from frontends.cli.terminal import AsJson, Home, print_json, say
from frontends.client import ClientError, default_home
from service.contract.wire.keeping import SAID, Kept, NotKept

File = Annotated[Path, typer.Argument(help="the backup, a tar file")]


def backup(file: File, home: Home = None, as_json: AsJson = False) -> None:
    """Keep all studies with their files in one file, also while the service runs."""
    kept = _run("backup", home, str(file))
    if as_json:
        print_json({"file": str(file), **kept.model_dump()})
    else:
        say(f"{file}: {_numbers(kept)}, {kept.files:,} files, {size(kept.bytes)}")


def restore(file: File, home: Home = None, as_json: AsJson = False) -> None:
    """Bring a backup back, into a home that has no studies yet."""
    where = home or default_home()
    kept = _run("restore", where, str(file))
    if as_json:
        print_json({"home": str(where), **kept.model_dump()})
    else:
        say(f"{where}: {_numbers(kept)}, {kept.files:,} files. Start it with: paretoscope up --home {where}")


def migrate(home: Home = None, as_json: AsJson = False) -> None:
    """Move the studies of a home from its SQLite file to the PostgreSQL of PARETOSCOPE_DATABASE_URL."""
    kept = _run("migrate", home)
    if as_json:
        print_json(kept.model_dump())
    else:
        say(f"{_numbers(kept)} are in PostgreSQL. Keep PARETOSCOPE_DATABASE_URL set, and start with: paretoscope up")


def _numbers(kept: Kept) -> str:
    return f"{kept.studies:,} studies with {kept.events:,} events"


def _run(what: str, home: Path | None, *arguments: str) -> Kept:
    """The service's own module in a process of its own: the command line knows no database."""
    where = (home or default_home()).expanduser()
    command = [sys.executable, "-m", "service.store.keeping", what, str(where), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    try:
        said = SAID.validate_json(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise ClientError(f"{what} ended with code {done.returncode} and without a word", 500) from None
    if isinstance(said, NotKept):
        raise ClientError(said.error, 422 if done.returncode == 2 else 500)
    return said
