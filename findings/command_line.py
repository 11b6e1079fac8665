"""`make findings`: write the numbers of README and docs from the kept studies; run a study for a finding; keep one."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from findings import tables
from findings.commit import commit_of, spanned
from findings.finding import kept
from findings.folder import ROOT, asked, differences, names, save
from findings.quantities import QUANTITIES
from findings.running import Notes, begun, ended, machine_words, measured
from findings.texts import pages, rendered
from findings.texts import said as answer
from frontends.cli.local import Local, raise_on_sigterm
from frontends.cli.terminal import Cpus, Token, Url, say
from frontends.client import Client, default_home

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

HOME = ROOT / ".findings"
Machine = Annotated[str | None, typer.Option("--machine", help="what it ran on, in words; default: this machine")]
Commit = Annotated[
    str | None,
    typer.Option("--commit", help="of the tree that ran; default: this tree's, none for a service that ran elsewhere"),
]
Name = Annotated[str, typer.Argument(help="of the finding, as in docs/findings")]


@app.callback(invoke_without_command=True)
def write(context: typer.Context) -> None:
    """Write the marked numbers of README.md and docs/*.md from docs/findings; nothing is trained."""
    if context.invoked_subcommand is not None:
        return
    wrong, changed, all_pages = [], [], pages()
    for path in all_pages:
        place, text = str(path.relative_to(ROOT)), path.read_text()
        try:
            new = rendered(text, place)
        except ValueError as error:  # the other pages do not wait for the one that asks for what nobody kept
            wrong.append(str(error))
            continue
        if new != text:
            path.write_text(new)
            changed.append(place)
            say(f"{place}: written")
    for line in wrong:
        say(f"not written: {line}")
    if wrong:
        raise typer.Exit(1)
    if not changed:
        say(f"{len(all_pages)} pages agree with {len(names())} kept studies.")


@app.command()
def run(
    studies: Annotated[list[str], typer.Argument(help="names: docs/findings/NAME.yaml, or a preset")],
    again: Annotated[bool, typer.Option("--again", help="train anew what has been trained")] = False,
    machine: Machine = None,
    commit: Commit = None,
    home: Annotated[Path, typer.Option("--home", help="of the service that is started for it")] = HOME,
    url: Url = None,
    token: Token = None,
    cpus: Cpus = None,
) -> None:
    """Run studies and keep them. What was broken off goes on; what is finished is kept again, not trained again."""
    todo = {name: asked(name) for name in studies}
    raise_on_sigterm()
    os.environ.setdefault("PARETOSCOPE_DATA", str(default_home() / "data"))  # prepared once, for every home
    service = nullcontext() if url else Local(home, "127.0.0.1", None, None, cpus)
    notes = Notes(home / "findings")
    with service as local, Client(local.url if local else url, local.token if local else token) as client:
        for name, each in todo.items():
            study, note = begun(client, notes, name, each, again, commit or _own_commit(url))
            before = study.read()["ended_at"]
            say(f"{name}: {f'finished {before}, kept again (--again trains anew)' if before else study.page}")
            ended(study)
            if not before:  # the tree may have moved while it ran
                note = note._replace(commit=spanned(note.commit, commit or _own_commit(url)))
                notes.write(name, note)
            path = save(name, measured(study, each, machine or machine_words(), note))
            say(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


def _own_commit(url: str | None) -> str | None:
    return None if url else commit_of(ROOT)


@app.command()
def keep(
    name: Name,
    source: Annotated[str, typer.Argument(help="a study's id, or a file of its export as JSON")],
    machine: Machine = None,
    commit: Commit = None,
    url: Url = None,
    token: Token = None,
) -> None:
    """Keep a study that was run elsewhere. It must be what docs/findings/NAME.yaml or the preset asks for."""
    if Path(source).is_file():
        export = json.loads(Path(source).read_bytes())
    else:
        with Client(url, token) as client:
            export = json.loads(client.study(source).export("json"))
    study = asked(name)
    finding = kept(export, machine or machine_words(), study.curves, commit=commit, only=study.metrics)
    if wrong := differences(name, finding):
        raise ValueError(f"{source} is not the study that {name} asks for: {'; '.join(wrong)}")
    path = save(name, finding)
    say(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


@app.command("say")
def say_(name: Name, asked: Annotated[str, typer.Argument(help="a quantity, or a table")]) -> None:
    """Print what a kept study answers, to try a marker."""
    say(answer(name, asked))


@app.command("list")
def list_() -> None:
    """Every quantity with its arguments, and how a table is asked for."""
    for quantity in QUANTITIES.values():
        say(f"{quantity.usage}\n    {quantity.doc}")
    say(f"\n{tables.__doc__}")
