"""Commands for code of one's own: a file to start from, and a study that a file carries."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from string import Template
from typing import Annotated

import typer
from rich.text import Text

from frontends import own_code
from frontends.cli.follow import follow, summarise
from frontends.cli.local import Local, raise_on_sigterm
from frontends.cli.terminal import AsJson, Cpus, Home, Token, Url, print_json, say
from frontends.client import Client, ClientError, default_home
from frontends.connection import NoAnswer
from service.contract.study.parsing import read_body
from service.contract.wire.errors import InvalidInput

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


def check(
    file: Annotated[
        Path, typer.Argument(help="a study in YAML or JSON with code of its own, or a file that carries it")
    ],
    as_json: AsJson = False,
) -> None:
    """Try a study with code of its own on this machine, without a service: a batch of every arm, stacked and alone."""
    body, code = _with_code(file)
    sent = own_code.packed(code)
    with tempfile.TemporaryDirectory(prefix="paretoscope-check-") as place:
        study, folder = Path(place) / "study.json", Path(place) / "code"
        study.write_text(json.dumps({key: value for key, value in body.items() if key != "code"}))
        own_code.unpack(sent, folder)
        command = [sys.executable, "-m", "workers.check_study", str(study), str(folder), sent.entry]
        said = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)  # away from a workers.py
    lines = [json.loads(line) for line in said.stdout.splitlines() if line.startswith("{")]
    if said.returncode or not lines:
        last = said.stderr.strip().splitlines()[-1:] or ["the study could not be tried"]
        raise ClientError(lines[-1]["error"] if lines else last[0], 422)
    if as_json:
        print_json(lines)
        return
    for line in lines:
        say(Text.assemble((line["arm"], "bold"), f": {line['trials']} trials; {line['words']}"))


def _with_code(file: Path) -> tuple[dict[str, object], Path]:
    """A study as it is written, and where its code is."""
    if file.suffix == ".py":
        return own_code.study_in(file), file
    try:
        body = read_body(file.read_text(), "json" if file.suffix == ".json" else "yaml")
    except OSError as error:
        raise ClientError(f"{file} cannot be read: {error.strerror}", 422) from error
    except InvalidInput as error:
        raise ClientError(error.message, 422) from error
    code = body.get("code") if isinstance(body, dict) else None
    if not isinstance(code, str):
        raise ClientError(f"{file} names no code of its own: only such studies are tried here", 422)
    return body, file.parent / code


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
