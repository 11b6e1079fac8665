"""The commands of `paretoscope`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from frontends.cli import data, take
from frontends.cli.display import progress_view, studies_table
from frontends.cli.follow import follow, summarise
from frontends.cli.local import Interrupted, Local, LocalError, raise_on_sigterm
from frontends.cli.terminal import AsJson, Cpus, Home, Host, Port, StudyId, Token, Url, err, out, print_json
from frontends.client import Client, ClientError, default_home

app = typer.Typer(
    help="Compare hand-picked loss weights with automatic weighting: studies, live fronts, honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
for command in (take.export, take.report, take.methods):
    app.command()(command)
DEMO_PRESET = "beta-vs-mib-digits"


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
            out.print(f"Paretoscope is ready at [bold]{local.url}[/bold]  (home {local.home}). Ctrl-C ends it.")
        local.serve()


@app.command()
def demo(
    preset: Annotated[str, typer.Option("--preset", help="which preset to run")] = DEMO_PRESET,
    leave: Annotated[bool, typer.Option("--exit", help="end after the summary")] = False,
    home: Home = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    cpus: Cpus = None,
    as_json: AsJson = False,
) -> None:
    """Start everything, run a preset with live progress, print the comparison and the link."""
    raise_on_sigterm()
    if not as_json:
        out.print("Starting Ray and the service on this machine …")
    with Local(home or default_home(), host, port, None, cpus) as local:
        client = Client(local.url)
        found = next((p for p in client.presets() if p["name"] == preset), None)
        if found is None:
            raise ClientError(f"there is no preset {preset!r}; see 'paretoscope presets'", 422)
        study = client.submit(found["text"])
        if not as_json:
            out.print(f"{found['doc']}\nWatch it live: [bold]{study.page}[/bold]")
        code = summarise(study, follow(study, as_json), as_json)
        if leave:
            raise typer.Exit(code)
        if not as_json:
            out.print(f"The dashboard keeps serving: [bold]{study.page}[/bold]  Ctrl-C ends it.")
        local.serve()


@app.command()
def submit(
    file: Annotated[Path, typer.Argument(help="a study in YAML or JSON; '-' reads standard input")],
    watch_it: Annotated[bool, typer.Option("--watch", help="follow to the end")] = False,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Submit a study."""
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ClientError(f"{file} cannot be read: {error}", 422) from error
    study = Client(url, token).submit(text)
    if not watch_it:
        if as_json:
            print_json(study.read())
        else:
            out.print(f"{study.id} submitted: {study.page}")
        return
    if not as_json:
        out.print(f"{study.id} submitted: {study.page}")
    raise typer.Exit(summarise(study, follow(study, as_json), as_json))


@app.command()
def watch(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Follow a study with live progress, then print the comparison."""
    study = Client(url, token).study(study_id)
    raise typer.Exit(summarise(study, follow(study, as_json), as_json))


@app.command("list")
def list_(
    state: Annotated[str | None, typer.Option("--state", help="only studies in this state")] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Studies, newest first."""
    studies = Client(url, token).studies(state)
    if as_json:
        print_json(studies)
    elif studies:
        out.print(studies_table(studies))
    else:
        out.print("No studies yet. Run one: paretoscope submit FILE, or see paretoscope presets.")


@app.command()
def show(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """One study: state, progress, comparison."""
    study = Client(url, token).study(study_id)
    state = study.read()
    if not as_json:
        out.print(progress_view(state))
        out.print(study.page)
    summarise(study, state, as_json)


@app.command()
def cancel(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """End a study now; what was reported stays."""
    state = Client(url, token).study(study_id).cancel()
    if as_json:
        print_json(state)
    else:
        out.print(
            f"{study_id} cancelled; {state['counts']['finished']} of {state['counts']['planned']} trials had finished."
        )


@app.command()
def presets(url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """The studies that come with Paretoscope."""
    found = Client(url, token).presets()
    if as_json:
        print_json(found)
        return
    for preset in found:
        out.print(f"[bold]{preset['name']}[/bold]\n  {preset['doc']}")


def run(command: Callable[[], Any]) -> int:
    """Exit codes: 0 done, 1 failed, 2 bad input. Errors in words, never a traceback for what a user can act on."""
    try:
        command()
    except ClientError as error:
        err.print(f"[bold red]error:[/bold red] {error.message}")
        for detail in error.details:
            line = f" (line {detail['line']})" if detail.get("line") else ""
            err.print(f"  {detail['path'] or 'study'}{line}: {detail['message']}", markup=False)
        return 2 if 400 <= error.status < 500 else 1
    except LocalError as error:
        err.print(f"[bold red]error:[/bold red] {error}")
        return 1
    except (KeyboardInterrupt, Interrupted):
        return 0
    return 0
