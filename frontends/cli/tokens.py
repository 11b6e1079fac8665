"""`paretoscope token`: tokens of a service, each with what it may do."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from frontends.cli.terminal import AsJson, Token, Url, out, print_json, say
from frontends.client import Client

app = typer.Typer(
    help="Tokens of the service: create, list, revoke. Needs the owner's, or one with the scope admin.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="who or what it is for")],
    scopes: Annotated[list[str], typer.Option("--scope", help="read, write, code, ingest or admin; may be repeated")],
    days: Annotated[float | None, typer.Option("--days", help="how long it is good; default until revoked")] = None,
    studies_at_once: Annotated[int | None, typer.Option("--studies", help="its studies at once, at most")] = None,
    trials: Annotated[int | None, typer.Option("--trials", help="trials of those studies, at most")] = None,
    size: Annotated[int | None, typer.Option("--bytes", help="files of all its studies, at most")] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and show it, this once."""
    limits = {"days": days, "studies_at_once": studies_at_once, "trials": trials, "bytes": size}
    with Client(url, token) as client:
        made = client.create_token(name, scopes, **limits)
    if as_json:
        print_json(made)
    else:
        say(Text.assemble((made["token"], "bold"), f"\n{made['id']} may {', '.join(made['scopes'])}; shown this once."))


@app.command("list")
def list_(url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Tokens that are good, without their secrets."""
    with Client(url, token) as client:
        tokens = client.tokens()
    if as_json:
        print_json(tokens)
        return
    if not tokens:
        say("No tokens but the owner's. Make one: paretoscope token create NAME --scope read.")
        return
    table = Table("id", "name", "may", "made", "good until")
    for each in tokens:
        until = each["expires_at"] or "revoked"
        table.add_row(each["id"], Text(each["name"]), ", ".join(each["scopes"]), each["created_at"][:10], until[:10])
    out.print(table)


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(help="the token's id, as in the list")],
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Refuse a token from now on; studies that it submitted stay."""
    with Client(url, token) as client:
        client.revoke_token(token_id)
    if as_json:
        print_json({"revoked": token_id})
    else:
        say(f"{token_id} is revoked.")
