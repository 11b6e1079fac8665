"""Commands for code of your own: a file to start from, and a study that a file carries."""

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

from frontends.cli.follow import follow, summarise
from frontends.cli.local import Local, raise_on_sigterm
from frontends.cli.terminal import AsJson, Cpus, Home, Token, Url, print_json, say
from frontends.client import Client, ClientError, default_home
from frontends.connection import NoAnswer
from frontends.own_code import naming, packing
from frontends.own_code.asked_packages import packages_of, with_packages
from service.contract.study.parsing import read_body
from service.contract.wire.errors import InvalidInput
from service.contract.wire.tried_arms import ArmBegins, ArmTried, StudyRefused, Told, told_in

TEMPLATES = Path(__file__).parent / "templates"
Name = Annotated[str, typer.Argument(help="of the files, such as my_task")]
File = Annotated[Path, typer.Argument(help="a study in YAML or JSON, or a Python file with study = {…}")]
WatchIt = Annotated[bool, typer.Option("--watch", help="follow it to the end")]
CheckIt = Annotated[bool, typer.Option("--check", help="try it on this machine first, and send it only if all is well")]
SECONDS = 60  # that an arm may take to be tried


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
    file: Annotated[Path, typer.Argument(help="a study in YAML or JSON, or a Python file that carries it")],
    seconds: Annotated[int, typer.Option(min=1, help="that an arm, or a script's first report, may take")] = SECONDS,
    as_json: AsJson = False,
) -> None:
    """Try a study on this machine, without a service: a step of every arm, members together and alone."""
    arms = tried(file, seconds)
    if as_json:
        print_json([{"arm": a.arm, "trials": a.trials, **a.outcome.model_dump(exclude_none=True)} for a in arms])
        return
    for each in arms:
        say(Text.assemble((each.arm, "bold"), f": {each.trials} trials; {each.outcome.words}"))


def tried(file: Path, seconds: int = SECONDS) -> list[ArmTried]:
    """What each arm would do, in a process of its own. A ClientError where something is wrong, with the user's line."""
    body, code = _with_code(file)
    with tempfile.TemporaryDirectory(prefix="paretoscope-check-") as place:
        study, answers, folder = Path(place) / "study.json", Path(place) / "answers", Path(place) / "code"
        command = [sys.executable, "-m", "workers.check_study", str(study), str(answers), str(seconds)]
        if code is not None:
            sent = with_packages(packing.packed(code), packages_of(body))
            packing.unpack(sent, folder)
            command += [str(folder), sent.entry]
            body = {key: value for key, value in body.items() if key not in ("code", "requirements")}
        study.write_text(json.dumps(body, default=str))
        ended = subprocess.run(
            command, cwd=place, capture_output=True, text=True, check=False
        )  # away from a workers.py
        told = told_in(answers.read_bytes()) if answers.exists() else []
    if ended.returncode:
        raise ClientError(_fault(told, ended.stderr), 422)
    return [each for each in told if isinstance(each, ArmTried)]


def _fault(told: list[Told], stderr: str) -> str:
    """What it says itself, else what was tried when the process ended."""
    last = told[-1] if told else None
    if isinstance(last, StudyRefused):
        return last.reason
    what = f"arm {last.arm!r}" if isinstance(last, ArmBegins) else "the study"
    if "Timeout (" in stderr:  # by faulthandler
        return f"{what} took longer than --seconds in a call that cannot be interrupted"
    words = [line for line in stderr.splitlines() if line.strip()][-1:] or ["it gave no reason"]
    return f"{what} could not be tried: {words[0].strip()}"


def _with_code(file: Path) -> tuple[dict[str, object], Path | None]:
    """A study as it is written, and where its code is; none where it has none of its own."""
    if file.suffix == ".py":
        return naming.study_in(file), file
    try:
        body = read_body(file.read_text(), "json" if file.suffix == ".json" else "yaml")
    except OSError as error:
        raise ClientError(f"{file} cannot be read: {error.strerror}", 422) from error
    except InvalidInput as error:
        raise ClientError(error.message, 422) from error
    if not isinstance(body, dict):
        raise ClientError(f"{file} holds no study: a mapping with name and arms", 422)
    code = body.get("code")
    if code is None:
        return body, None
    if not isinstance(code, str) or naming.is_known(code):
        raise ClientError("code: only a file or a folder can be tried here, by its path", 422)
    return body, file.parent / code


def run(
    file: File,
    watch: WatchIt = False,
    check_it: CheckIt = False,
    home: Home = None,
    url: Url = None,
    token: Token = None,
    cpus: Cpus = None,
    as_json: AsJson = False,
) -> None:
    """Run a study. Where no service answers, one is started and the study is followed."""
    if check_it:
        tried(file)
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
