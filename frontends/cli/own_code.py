"""Commands for code of one's own: a file to start from, and a study that a file carries."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from string import Template
from typing import Annotated

import typer
from rich.text import Text

from frontends.cli.follow import follow, summarise
from frontends.cli.local import Local, raise_on_sigterm
from frontends.cli.terminal import AsJson, Cpus, Home, Token, Url, print_json, say
from frontends.client import Client, ClientError, default_home
from frontends.connection import NoAnswer

TEMPLATES = Path(__file__).parent / "templates"
Name = Annotated[str, typer.Argument(help="of the files, such as my_task")]
File = Annotated[Path, typer.Argument(help="a Python file with study = {…}")]
WatchIt = Annotated[bool, typer.Option("--watch", help="follow it to the end")]


def new(name: Name, as_json: AsJson = False) -> None:
    """Write NAME.py, a problem of your own that trains, and NAME.yaml, a study of it."""
    if not name.isidentifier():
        raise ClientError(f"the name must be one that Python can import, such as my_task, got {name!r}", 422)
    words = {"module": name, "problem": name.title().replace("_", "")}
    files = [Path(f"{name}.py"), Path(f"{name}.yaml")]
    for file in files:
        if file.exists():
            raise ClientError(f"{file} is there already: choose another name", 422)
    for file in files:
        template = (TEMPLATES / f"problem{file.suffix}.txt").read_text()
        file.write_text(Template(template).substitute(words))
    if as_json:
        print_json({"files": [str(file) for file in files]})
    else:
        say(f"{files[0]} and {files[1]} are written. Run them: paretoscope submit {files[1]} --watch")


def run(
    file: File,
    watch: WatchIt = False,
    home: Home = None,
    url: Url = None,
    token: Token = None,
    cpus: Cpus = None,
    as_json: AsJson = False,
) -> None:
    """Run the study that a Python file carries. Where no service answers, one is started and the study is followed."""
    with ExitStack() as open_now:
        client = open_now.enter_context(Client(url, token))
        try:
            client.request("GET", "/api/studies", {"limit": 1})
        except NoAnswer:
            if url is not None:
                raise
            raise_on_sigterm()
            if not as_json:
                say("No service answers: starting Ray and one on this machine …")
            local = open_now.enter_context(Local(home or default_home(), "127.0.0.1", None, None, cpus))
            client, watch = open_now.enter_context(Client(local.url, local.token)), True
        study = client.submit(file)
        if not as_json:
            say(Text.assemble(f"{study.id} submitted: ", (study.page, "bold")))
        elif not watch:
            print_json(study.read())
        if watch:
            raise typer.Exit(summarise(study, follow(study, as_json), as_json))
