"""`paretoscope code`: code of your own that the service keeps."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from frontends.cli.display import size
from frontends.cli.terminal import AsJson, Token, Url, out, print_json, say
from frontends.client import Client, ClientError

app = typer.Typer(
    help="Code of your own that the service keeps: list, delete. Needs a token with the scope code.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command("list")
def list_(url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """What is kept, and the studies that run it."""
    with Client(url, token) as client:
        kept = client.code()
    if as_json:
        print_json(kept)
        return
    if not kept:
        say("The service keeps no code.")
        return
    table = Table("hash", "file", "state", "size", "run by")
    for each in kept:
        using = ", ".join(each["studies"][:3]) + (" …" if each["studies"][3:] else "")
        table.add_row(each["hash"][:12], Text(each["entry"]), each["state"], size(each["bytes"]), using or "no study")
    out.print(table)


@app.command()
def delete(
    code: Annotated[str, typer.Argument(help="its hash, or as much of it as tells it from others")],
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Delete code that no study runs."""
    with Client(url, token) as client:
        meant = [each["hash"] for each in client.code() if each["hash"].startswith(code)]
        if len(meant) != 1:
            what = "no code has" if not meant else f"{len(meant)} have"
            raise ClientError(f"{what} a hash that begins with {code!r}: see 'paretoscope code list'", 422)
        client.delete_code(meant[0])
    if as_json:
        print_json({"deleted": meant[0]})
    else:
        say(f"{meant[0][:12]} is deleted.")
