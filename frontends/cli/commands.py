"""The commands of `paretoscope`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live

from frontends.cli import data
from frontends.cli.display import comparison_table, objectives_line, progress_view, studies_table
from frontends.cli.local import Interrupted, Local, LocalError, raise_on_sigterm
from frontends.client import Client, ClientError, StudyHandle, default_home

app = typer.Typer(
    help="Compare hand-picked loss weights with automatic weighting: studies, live fronts, honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

DEMO_PRESET = "beta-vs-mib-digits"

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


def _print_json(value: Any) -> None:
    out.file.write(json.dumps(value, ensure_ascii=False) + "\n")
    out.file.flush()


def _follow(study: StudyHandle, as_json: bool) -> dict[str, Any]:
    """Live progress until the study has ended: bars on a terminal, a line per change elsewhere."""
    last: dict[str, Any] = {}
    said = ""
    if as_json:
        for last in study.follow():
            _print_json(last)
        return last
    if out.is_terminal:
        with Live(console=out, refresh_per_second=4, transient=True) as live:
            for last in study.follow():
                live.update(progress_view(last))
        return last
    for last in study.follow():
        done = last["counts"]["finished"] + last["counts"]["failed"]
        line = f"{last['state']} {last['progress']:4.0%}  {done}/{last['counts']['planned']} trials"
        step = f"{last['state']} {int(last['progress'] * 10)}"
        if step != said:
            out.print(line)
            said = step
    return last


def _summarise(study: StudyHandle, state: dict[str, Any], as_json: bool) -> int:
    """The comparison; exit code 0 only when the study finished."""
    if as_json:
        _print_json({"study": state, "comparison": study.comparison()})
    else:
        comparison = study.comparison()
        out.print(
            f"[bold]{state['name']}[/bold]  {state['state']}" + (f": {state['reason']}" if state["reason"] else "")
        )
        out.print(comparison_table(comparison))
        out.print(objectives_line(comparison), style="dim")
    return 0 if state["state"] == "finished" else 1


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
            _print_json({"url": local.url, "home": str(local.home)})
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
        code = _summarise(study, _follow(study, as_json), as_json)
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
            _print_json(study.read())
        else:
            out.print(f"{study.id} submitted: {study.page}")
        return
    if not as_json:
        out.print(f"{study.id} submitted: {study.page}")
    raise typer.Exit(_summarise(study, _follow(study, as_json), as_json))


@app.command()
def watch(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Follow a study with live progress, then print the comparison."""
    study = Client(url, token).study(study_id)
    raise typer.Exit(_summarise(study, _follow(study, as_json), as_json))


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
        _print_json(studies)
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
    _summarise(study, state, as_json)


@app.command()
def cancel(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """End a study now; what was reported stays."""
    state = Client(url, token).study(study_id).cancel()
    if as_json:
        _print_json(state)
    else:
        out.print(
            f"{study_id} cancelled; {state['counts']['finished']} of {state['counts']['planned']} trials had finished."
        )


@app.command()
def presets(url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """The studies that come with Paretoscope."""
    found = Client(url, token).presets()
    if as_json:
        _print_json(found)
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
