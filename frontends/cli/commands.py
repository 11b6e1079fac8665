"""The commands of `paretoscope`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from frontends.cli import data, doctor, exports, keeping, kept_code, notes, own_code, picking, tokens
from frontends.cli.display import progress_view, studies_table
from frontends.cli.follow import follow, summarise
from frontends.cli.local import Interrupted, Local, LocalError, raise_on_sigterm
from frontends.cli.terminal import (
    AsJson,
    Cpus,
    Home,
    Host,
    NoToken,
    Port,
    StudyId,
    Token,
    Url,
    complain,
    out,
    print_json,
    say,
)
from frontends.client import Answer, Client, ClientError, Study, default_home
from frontends.connection import NoAnswer
from paretoscope import __version__
from service.contract.wire.addresses import is_loopback
from service.contract.wire.tokens import SHORTEST, TOO_SHORT
from service.contract.wording.demo_preset import DEMO_PRESET

app = typer.Typer(
    help="Compare hand-picked loss weights with automatic weighting: studies, live fronts, honest intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _say_version(asked: bool) -> None:
    if asked:
        say(f"paretoscope {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="which version this is")
    ] = False,
) -> None:
    """Only this is asked of no command."""


@app.command()
def up(
    home: Home = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    token: Token = None,
    no_token: NoToken = False,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="with --no-token: run code that whoever is on this machine sends")
    ] = False,
    cpus: Cpus = None,
    as_json: AsJson = False,
) -> None:
    """Start Ray and the service on this machine, until Ctrl-C. Its token is in the file `token` of its home."""
    check_door(host, no_token)
    if token is not None and len(token) < SHORTEST:
        raise typer.BadParameter(TOO_SHORT, param_hint="--token")
    raise_on_sigterm()
    with Local(home or default_home(), host, port, token, cpus, not no_token, allow_code) as local:
        if as_json:
            print_json({"url": local.url, "home": str(local.home), "link": local.link()})
        else:
            ready = ("Paretoscope is ready at ", (local.link(), "bold"), f"  (home {local.home}). Ctrl-C ends it.")
            say(Text.assemble(*ready))
        local.serve()


def check_door(host: str, no_token: bool) -> None:
    """Without a token nobody but this machine may knock."""
    if no_token and not is_loopback(host):
        rule = f"goes with an address of this machine alone, such as 127.0.0.1, got --host {host}"
        raise typer.BadParameter(rule, param_hint="--no-token")


@app.command()
def demo(
    preset: Annotated[str, typer.Option("--preset", help="which preset to run")] = DEMO_PRESET,
    leave: Annotated[bool, typer.Option("--exit", help="stop after the summary")] = False,
    home: Home = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    no_token: NoToken = False,
    cpus: Cpus = None,
    as_json: AsJson = False,
) -> None:
    """Start everything, run a preset with live progress, print the comparison and the link."""
    check_door(host, no_token)
    raise_on_sigterm()
    if not as_json:
        say("Starting Ray and the service on this machine …")
    started = Local(home or default_home(), host, port, None, cpus, not no_token)
    with started as local, Client(local.url, local.token) as client:
        chosen = next((known for known in client.presets() if known["name"] == preset), None)
        if chosen is None:
            raise ClientError(f"there is no preset {preset!r}; see 'paretoscope presets'", 422)
        study = client.submit(chosen["text"])
        if not as_json:
            say(Text.assemble(f"{chosen['doc']}\nWatch it live: ", (local.link(study.page), "bold")))
        code = summarise(study, follow(study, as_json), as_json)
        if leave:
            raise typer.Exit(code)
        if not as_json:
            say(Text.assemble("The dashboard stays up: ", (local.link(study.page), "bold"), "  Ctrl-C ends it."))
        local.serve()


@app.command()
def submit(
    file: Annotated[Path, typer.Argument(help="a study in YAML or JSON; '-' reads standard input")],
    watch_it: own_code.WatchIt = False,
    check_it: own_code.CheckIt = False,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Submit a study; code of its own that it names by a path is sent along."""
    if check_it:
        own_code.tried(file)
    with Client(url, token) as client:
        study = client.submit(spec := written_in(file))
        if not as_json:
            say(f"{study.id} submitted: {study.page}")
            warn(client, spec)
        elif not watch_it:
            print_json(study.read())
        if watch_it:
            raise typer.Exit(summarise(study, follow(study, as_json), as_json))


def written_in(file: Path) -> str | Path:
    """What standard input says, or the file, where it can be read."""
    if str(file) == "-":
        return sys.stdin.read()
    try:
        file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ClientError(f"{file} cannot be read: {error}", 422) from error
    return file


def warn(client: Client, spec: str | Path) -> None:
    """What the check warns of; a study that was submitted does not fail for want of it."""
    with suppress(ClientError):
        for warning in client.check(spec).get("warnings", []):
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
    text: Annotated[str | None, typer.Option("--text", help="words of its name, notes, tags, data or arms")] = None,
    tag: Annotated[str | None, typer.Option("--tag", help="only studies with this tag")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="those that were archived")] = False,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Studies, newest first."""
    with Client(url, token) as client:
        studies = client.studies(state, limit, text=text, tag=tag, archived=archived or None)
    if as_json:
        print_json(studies)
    elif studies:
        out.print(studies_table(studies))
    elif text or tag or archived:
        say("No study matches.")
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
def pause(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Start no new trials of a study; those in training save their state and leave."""
    with Client(url, token) as client:
        state = Study(client, study_id).pause()
    told(state, as_json, "paused")


@app.command()
def resume(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Let a paused or failed study go on where it was."""
    with Client(url, token) as client:
        state = Study(client, study_id).resume()
    told(state, as_json, "resumed")


@app.command()
def retry(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Train the failed trials of a study once more."""
    with Client(url, token) as client:
        state = Study(client, study_id).retry()
    told(state, as_json, "goes on with its failed trials")


@app.command()
def extend(
    study_id: StudyId,
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="one more seed; may be repeated")] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", help="train every trial to this epoch", min=1)] = None,
    grid: Annotated[
        list[str] | None, typer.Option("--grid", help="more points: 'ARM:weighting.beta=0.5,2'; may be repeated")
    ] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """More seeds, grid points or epochs for a study that is paused or has ended."""
    with Client(url, token) as client:
        state = Study(client, study_id).extend(seeds or (), epochs, points_of(grid or []))
    told(state, as_json, "extended")


def points_of(grid: list[str]) -> dict[str, dict[str, list[object]]]:
    """`ARM:weighting.beta=0.5,2` as the service takes it."""
    points: dict[str, dict[str, list[object]]] = {}
    for text in grid:
        arm, _, axis = text.rpartition(":")
        key, equals, values = axis.partition("=")
        if not arm or not equals or not values:
            raise ClientError(f"--grid is 'ARM:weighting.beta=0.5,2', got {text!r}", 422)
        points.setdefault(arm, {})[key] = [_value(value.strip()) for value in values.split(",")]
    return points


def _value(text: str) -> object:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


@app.command()
def delete(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Remove a study with its results and files, for good."""
    with Client(url, token) as client:
        Study(client, study_id).delete()
    if as_json:
        print_json({"deleted": study_id})
    else:
        say(f"{study_id} deleted.")


@app.command()
def cancel(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """End a study now; what was reported stays."""
    with Client(url, token) as client:
        state = Study(client, study_id).cancel()
    told(state, as_json, "cancelled")


def told(state: Answer, as_json: bool, done: str) -> None:
    """What became of a study that somebody wanted something of."""
    if as_json:
        print_json(state)
    else:
        counts = state["counts"]
        say(f"{state['id']} {done}; {counts['finished']} of {counts['planned']} trials had finished.")


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


# Below those above in the help: nobody's first command is one of them.
app.add_typer(data.app, name="data")
app.add_typer(tokens.app, name="token")
app.add_typer(kept_code.app, name="code")
for command in (
    exports.export,
    exports.report,
    exports.methods,
    picking.pick,
    doctor.doctor,
    keeping.backup,
    keeping.restore,
    keeping.migrate,
    own_code.new,
    own_code.check,
    own_code.run,
    notes.note,
):
    app.command()(command)


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
    except OSError as error:  # a disk that is full, or a folder that can only be read
        complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
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
