"""The commands of `paretoscope`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from frontends.cli import data, exports
from frontends.cli.display import progress_view, studies_table
from frontends.cli.follow import follow, summarise
from frontends.cli.local import Interrupted, Local, LocalError, raise_on_sigterm
from frontends.cli.terminal import AsJson, Cpus, Home, Host, Port, StudyId, Token, Url, complain, out, print_json, say
from frontends.client import Answer, Client, ClientError, Study, default_home
from frontends.connection import NoAnswer
from service.contract.wording.presets import DEMO_PRESET

app = typer.Typer(
    help="Compare hand-picked loss weights with automatic weighting: studies, live fronts, honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
for command in (exports.export, exports.report, exports.methods):
    app.command()(command)


@app.command()
def up(
    home: Home = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    token: Token = None,
    cpus: Cpus = None,
    as_json: AsJson = False,
) -> None:
    """Start Ray and the service on this machine, until Ctrl-C."""
    raise_on_sigterm()
    with Local(home or default_home(), host, port, token, cpus) as local:
        if as_json:
            print_json({"url": local.url, "home": str(local.home)})
        else:
            ready = ("Paretoscope is ready at ", (local.url, "bold"), f"  (home {local.home}). Ctrl-C ends it.")
            say(Text.assemble(*ready))
        local.serve()


@app.command()
def demo(
    preset: Annotated[str, typer.Option("--preset", help="which preset to run")] = DEMO_PRESET,
    leave: Annotated[bool, typer.Option("--exit", help="stop after the summary")] = False,
    home: Home = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    cpus: Cpus = None,
    as_json: AsJson = False,
) -> None:
    """Start everything, run a preset with live progress, print the comparison and the link."""
    raise_on_sigterm()
    if not as_json:
        say("Starting Ray and the service on this machine …")
    with Local(home or default_home(), host, port, None, cpus) as local, Client(local.url) as client:
        chosen = next((known for known in client.presets() if known["name"] == preset), None)
        if chosen is None:
            raise ClientError(f"there is no preset {preset!r}; see 'paretoscope presets'", 422)
        study = client.submit(chosen["text"])
        if not as_json:
            say(Text.assemble(f"{chosen['doc']}\nWatch it live: ", (study.page, "bold")))
        code = summarise(study, follow(study, as_json), as_json)
        if leave:
            raise typer.Exit(code)
        if not as_json:
            say(Text.assemble("The dashboard stays up: ", (study.page, "bold"), "  Ctrl-C ends it."))
        local.serve()


@app.command()
def submit(
    file: Annotated[Path, typer.Argument(help="a study in YAML or JSON; '-' reads standard input")],
    watch_it: Annotated[bool, typer.Option("--watch", help="follow it to the end")] = False,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Submit a study."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ClientError(f"{file} cannot be read: {error}", 422) from error
    with Client(url, token) as client:
        study = client.submit(text)
        if not as_json:
            say(f"{study.id} submitted: {study.page}")
            warn(client, text)
        elif not watch_it:
            print_json(study.read())
        if watch_it:
            raise typer.Exit(summarise(study, follow(study, as_json), as_json))


def warn(client: Client, text: str) -> None:
    """What the check warns of; a study that was submitted does not fail for want of it."""
    with suppress(ClientError):
        for warning in client.check(text).get("warnings", []):
            say(f"warning: {place_of(warning)}: {warning['message']}")


@app.command()
def watch(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Follow a study with live progress, then print the comparison."""
    with Client(url, token) as client:
        study = client.study(study_id)
        raise typer.Exit(summarise(study, follow(study, as_json), as_json))


@app.command("list")
def list_(
    state: Annotated[str | None, typer.Option("--state", help="only studies in this state")] = None,
    limit: Annotated[int, typer.Option("--limit", help="how many at most", min=1)] = 50,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Studies, newest first."""
    with Client(url, token) as client:
        studies = client.studies(state, limit)
    if as_json:
        print_json(studies)
    elif studies:
        out.print(studies_table(studies))
    elif state:
        say(f"No study is {state}.")
    else:
        say("No studies yet. Run one: paretoscope submit FILE, or see paretoscope presets.")


@app.command()
def show(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """One study: state, progress, comparison."""
    with Client(url, token) as client:
        study = Study(client, study_id)
        state = study.read()
        if not as_json:
            out.print(progress_view(state, out.width))
            say(study.page)
        summarise(study, state, as_json)


@app.command()
def cancel(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """End a study now; what was reported stays."""
    with Client(url, token) as client:
        state = Study(client, study_id).cancel()
    if as_json:
        print_json(state)
    else:
        counts = state["counts"]
        say(f"{study_id} cancelled; {counts['finished']} of {counts['planned']} trials had finished.")


@app.command()
def presets(url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """The studies that come with Paretoscope."""
    with Client(url, token) as client:
        known = client.presets()
    if as_json:
        print_json(known)
        return
    for preset in known:
        say(Text.assemble((preset["name"], "bold"), f"\n  {preset['doc']}"))


def run(command: Callable[[], object]) -> int:
    """Exit codes: 0 done, 1 failed, 2 bad input. Errors in words, never a traceback for what a user can act on."""
    try:
        command()
    except ClientError as error:
        complain(*in_words(error))
        return 2 if 400 <= error.status < 500 else 1
    except LocalError as error:
        complain(str(error))
        return 1
    except Interrupted:  # before it was done; typer does the same for Ctrl-C
        return 1
    return 0


def in_words(error: ClientError) -> list[str]:
    """What went wrong, each thing once: the details of a refusal say all that its message says, and the line."""
    if isinstance(error, NoAnswer):
        return [f"{error.message}; start the service with 'paretoscope up', or name another with --url"]
    if not error.details:
        return [error.message]
    rules = [f"{place_of(detail)}: {detail['message']}" for detail in error.details]
    return rules if len(rules) == 1 else [f"{len(rules)} things are wrong", *rules]


def place_of(detail: Answer) -> str:
    """`arms[0].name (line 7)`."""
    line = f" (line {detail['line']})" if detail.get("line") else ""
    return f"{detail['path'] or 'study'}{line}"
