"""Where the commands write, and the options they share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

Url = Annotated[str | None, typer.Option("--url", envvar="PARETOSCOPE_URL", help="the service's address")]
Token = Annotated[str | None, typer.Option("--token", envvar="PARETOSCOPE_TOKEN", help="the service's token")]
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


def print_json(value: Any) -> None:
    out.file.write(json.dumps(value, ensure_ascii=False) + "\n")
    out.file.flush()
