"""`paretoscope doctor`: what this machine has, what is wrong with it, and what to do about it."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import Literal, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from frontends.cli.data import entries_in
from frontends.cli.display import size
from frontends.cli.ray_folders import LONGEST_TEMP_DIR
from frontends.cli.terminal import AsJson, Home, Token, Url, out, print_json
from frontends.client import Client, ClientError, default_home
from paretoscope import __version__
from service.contract.wire.versions import RULE, VERSION, disagreement
from service.contract.wording.numbers import number, plural

PACKAGES = ("ray", "torch", "torchvision", "optuna")
LITTLE_SPACE = 5_000_000_000
DATABASE = "paretoscope.db"
OF_A_SERVER = "PARETOSCOPE_DATABASE_URL"
State = Literal["well", "mind", "wrong"]
STYLES: dict[State, str] = {"well": "green", "mind": "yellow", "wrong": "bold red"}


class Look(NamedTuple):
    """One thing that was looked at; `advice` says what to do where it is not well."""

    what: str
    state: State
    words: str
    advice: str = ""


def versions() -> Look:
    words = f"paretoscope {__version__}, Python {platform.python_version()}"
    missing = []
    for package in PACKAGES:
        try:
            words += f", {package} {metadata.version(package)}"
        except metadata.PackageNotFoundError:
            missing.append(package)
    if missing:
        return Look("versions", "wrong", f"{words}; not installed: {', '.join(missing)}", "install paretoscope again")
    return Look("versions", "well", words)


def processors() -> Look:
    """CPUs that this process may use, and what torch sees of GPUs."""
    import torch  # takes seconds: not at the start of every command

    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    if gpus:
        words = f"{plural(cpus, 'CPU')}, {plural(len(gpus), 'GPU')} ({', '.join(gpus)})"
        return Look("processors", "well", f"{words}; a study uses GPUs where it says resources.gpus")
    return Look("processors", "well", f"{plural(cpus, 'CPU')}, no GPU that torch can use: trials train on CPUs")


def folder(home: Path) -> Look:
    """The home: whether it is there, ours alone, and short enough for Ray's sockets."""
    if not home.exists():
        return Look("home", "well", f"{home} is not there yet; 'paretoscope up' makes it")
    if not home.is_dir() or not os.access(home, os.W_OK | os.X_OK):
        return Look("home", "wrong", f"{home} is no folder that you can write to", "choose another with --home")
    mode = stat.S_IMODE(home.stat().st_mode)
    if mode & 0o077:
        return Look("home", "mind", f"{home} is open to other users (mode {mode:o})", f"chmod 700 {home}")
    if len(os.fsencode(home / "ray")) > LONGEST_TEMP_DIR:
        words = f"{home} is long for Ray's sockets: its files go to a temporary folder and are removed with it"
        return Look("home", "mind", words, "a shorter --home keeps Ray's logs")
    return Look("home", "well", f"{home}, yours alone")


def space(home: Path) -> Look:
    there = next(place for place in (home, *home.parents) if place.exists())
    free = shutil.disk_usage(there).free
    words = f"{number(free / 1e9)} GB free on the home's disk"
    if free < LITTLE_SPACE:
        return Look("space", "mind", words, "weights of trials are refused when less than 2 GB would be left")
    return Look("space", "well", words)


def database(home: Path) -> Look:
    """By SQLite's own quick check, which reads every page once."""
    file = home / DATABASE
    if not file.exists():
        return Look("database", "well", "no study yet")
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=5)) as connection:
            [said] = connection.execute("PRAGMA quick_check(1)").fetchone()
            [studies] = connection.execute("SELECT count(*) FROM studies").fetchone()
    except sqlite3.Error as error:
        return Look("database", "wrong", f"{file} cannot be read: {error}", "restore a backup of it")
    if said != "ok":
        return Look("database", "wrong", f"{file} is damaged: {said}", "restore a backup of it")
    return Look("database", "well", f"studies: {studies}, {size(file.stat().st_size)}, undamaged")


def server(url: str) -> Look:
    """The PostgreSQL that has the studies in place of the home's file; what it says never has the password in it."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    name = f"the database of {OF_A_SERVER}"
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError:  # its words have the address, and so the password
        example = "postgresql://user:password@host/name"
        return Look("database", "wrong", f"{OF_A_SERVER} is no address, as {example}", "correct it")
    try:
        with psycopg.connect(url, connect_timeout=5, options="-c statement_timeout=10000") as connection:
            there = connection.execute("SELECT to_regclass('studies')").fetchone()
            if there is None or there[0] is None:
                return Look("database", "well", f"{name} has no study yet")
            row = connection.execute("SELECT count(*), pg_database_size(current_database()) FROM studies").fetchone()
    except psycopg.Error as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        advice = f"see whether the server runs, and whether {OF_A_SERVER} is its address"
        return Look("database", "wrong", f"{name} does not answer: {said}", advice)
    studies, taken = row or (0, 0)
    return Look("database", "well", f"studies: {studies}, {size(taken)}, on a PostgreSQL")


def data_sets() -> Look:
    entries = entries_in()
    ready = [entry.name for entry in entries if entry.present]
    damaged = [entry.name for entry in entries if entry.state == "damaged"]
    if damaged:
        advice = f"paretoscope data prepare {damaged[0]}"
        return Look("data", "mind", f"damaged: {', '.join(damaged)}; ready: {', '.join(ready)}", advice)
    return Look("data", "well", f"ready: {', '.join(ready)}")


def service(url: str | None, token: str | None) -> Look:
    with Client(url, token) as client:
        try:
            theirs = client.send("GET", "/healthz").headers.get(VERSION)
            if theirs is None:
                words = f"{client.url} does not say its version: it is older than {__version__}, or no Paretoscope"
                return Look("service", "wrong", words, "upgrade it")
            if disagreement(theirs, __version__):
                words = f"{client.url} has paretoscope {theirs}, and this is {__version__}: {RULE}"
                return Look("service", "wrong", words, f"install paretoscope {theirs} here, or upgrade the service")
            client.request("GET", "/readyz")
        except ClientError as error:
            if error.status == 0:
                return Look("service", "mind", f"none answers at {client.url}", "paretoscope up")
            return Look(
                "service", "wrong", f"{client.url} is not ready: {error.message}", "see service.log in its home"
            )
        try:
            listed = (client.entries("/api/studies", "studies", state=state) for state in ("queued", "running"))
            waiting, running = (len(studies) for studies in listed)
        except ClientError as error:
            return Look("service", "mind", f"{client.url} is ready, but not for you: {error.message}", "give --token")
        words = f"{client.url} is ready, paretoscope {theirs}; studies running: {running}, in the queue: {waiting}"
        return Look("service", "well", words)


def doctor(home: Home = None, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Look at versions, processors, home, disk, database, data sets and service; exit code 1 if something is wrong."""
    place = (home or default_home()).expanduser().resolve()
    url_of_server = os.environ.get(OF_A_SERVER)
    checks: list[Callable[[], Look]] = [
        versions,
        processors,
        lambda: folder(place),
        lambda: space(place),
        lambda: server(url_of_server) if url_of_server else database(place),
        data_sets,
        lambda: service(url, token),
    ]
    looks = [check() for check in checks]
    if as_json:
        print_json([look._asdict() for look in looks])
    else:
        out.print(_table(looks))
    if any(look.state == "wrong" for look in looks):
        raise typer.Exit(1)


def _table(looks: list[Look]) -> Table:
    table = Table("what", "state", "", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for look in looks:
        words = f"{look.words}. {look.advice}" if look.advice else look.words
        table.add_row(look.what, Text(look.state, STYLES[look.state]), Text(words))
    return table
