"""Where the commands write, and the options they share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

Url = Annotated[str | None, typer.Option("--url", envvar="PARETOSCOPE_URL", help="the service's address")]
Token = Annotated[str | None, typer.Option("--token", envvar="PARETOSCOPE_TOKEN", help="the service's token")]
NoToken = Annotated[bool, typer.Option("--no-token", help="let in whoever is on this machine; on loopback only")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines")]
Home = Annotated[
    Path | None,
    typer.Option("--home", envvar="PARETOSCOPE_HOME", help="database, logs, checkpoints; default ~/.paretoscope"),
]
Host = Annotated[str, typer.Option("--host", help="address to listen on")]
Port = Annotated[
    int | None,
    typer.Option("--port", help="port to listen on; default 8000, or a free one", min=1, max=65535),
]
Cpus = Annotated[int | None, typer.Option("--cpus", help="CPUs for Ray; default all", min=1)]
StudyId = Annotated[str, typer.Argument(help="the study's id")]


def say(words: str | Text) -> None:
    """Words for people. Names of users stand in them, so nothing is markup, and no line is broken in two."""
    out.print(Text(words) if isinstance(words, str) else words, soft_wrap=True)


def complain(words: str, *details: str) -> None:
    """An error on standard error, in whole lines."""
    err.print(Text.assemble(("error:", "bold red"), f" {words}"), soft_wrap=True)
    for detail in details:
        err.print(Text(f"  {detail}"), soft_wrap=True)


def print_json(value: object) -> None:
    """A line of JSON, for machines."""
    out.file.write(json.dumps(value, ensure_ascii=False) + "\n")
    out.file.flush()
