"""What people write about a study: its name, notes and tags."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from frontends.cli.terminal import AsJson, StudyId, Token, Url, print_json, say
from frontends.client import Client, Study


def note(
    study_id: StudyId,
    name: Annotated[str | None, typer.Option("--name", help="what it is called from now on")] = None,
    notes: Annotated[str | None, typer.Option("--notes", help="in Markdown; '-' reads standard input")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="one more tag; may be repeated")] = None,
    untag: Annotated[list[str] | None, typer.Option("--untag", help="a tag to take away; may be repeated")] = None,
    pinned: Annotated[bool | None, typer.Option("--pin/--unpin", help="mark it as pinned, or not")] = None,
    archived: Annotated[bool | None, typer.Option("--archive/--restore", help="leave it out of lists, or not")] = None,
    trial: Annotated[str | None, typer.Option("--trial", help="write about this trial of the study")] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Rename a study, write notes about it or one of its trials, tag, pin or archive it."""
    if trial is not None and not (name is None and pinned is None and archived is None):
        raise typer.BadParameter("goes with --notes, --tag and --untag alone", param_hint="--trial")
    text = sys.stdin.read() if notes == "-" else notes
    with Client(url, token) as client:
        study = Study(client, study_id)
        kept = None
        if tags or untag:
            known = (study.read() if trial is None else study.trial(trial)).get("tags", [])
            kept = [tag for tag in dict.fromkeys([*known, *(tags or ())]) if tag not in (untag or ())]
        if trial is None:
            answer = study.note(name, text, kept, pinned, archived)
        else:
            answer = study.note_trial(trial, text, kept)
    if as_json:
        print_json(answer)
    else:
        tagged = f", tagged {', '.join(answer['tags'])}" if answer.get("tags") else ""
        say(f"{answer['id']} updated{tagged}.")
