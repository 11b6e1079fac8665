"""Commands that write a study's results for use elsewhere: export, report, methods."""

from __future__ import annotations

import json
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from frontends.cli.display import size
from frontends.cli.terminal import AsJson, StudyId, Token, Url, out, print_json, say
from frontends.client import Client, ClientError, Study


class Format(StrEnum):
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    OPTUNA = "optuna"
    BIBTEX = "bibtex"
    LATEX = "latex"


class TableName(StrEnum):
    TRIALS = "trials"
    POINTS = "points"
    REPORTS = "reports"


BY_SUFFIX = {
    ".json": Format.JSON,
    ".parquet": Format.PARQUET,
    ".db": Format.OPTUNA,
    ".bib": Format.BIBTEX,
    ".tex": Format.LATEX,
}
ONLY_FILES = (Format.PARQUET, Format.OPTUNA)
STUDY_ID = re.compile(r"s[0-9a-f]{10}")

What = Annotated[str | None, typer.Argument(metavar="[ID]", help="the study's id; default: the newest study")]
File = Annotated[Path | None, typer.Argument(help="where to write; default: standard output")]


def target(client: Client, first: str | None, file: Path | None) -> tuple[Study, Path | None]:
    """`ID FILE`, `ID`, `FILE` or nothing: what is no id is a file, and without an id it is the newest study."""
    if first is not None and (file is not None or STUDY_ID.fullmatch(first)):
        return client.study(first), file
    newest = client.studies(limit=1)
    if not newest:
        raise ClientError("there is no study yet: run one with 'paretoscope submit FILE'", 404)
    return client.study(newest[0]["id"]), Path(first) if first is not None else None


def write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise ClientError(f"{file} cannot be written: {error.strerror}", 422) from error


def to_stdout(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def tell_written(study: Study, file: Path, format: str, as_json: bool, size_in_bytes: int) -> None:
    """Which file was made, in words or as JSON."""
    if as_json:
        print_json({"study": study.id, "file": str(file), "format": format, "bytes": size_in_bytes})
    else:
        say(f"{file}: {format} of {study.id}, {size(size_in_bytes)}")


def content_of(study: Study, format: Format, table: TableName) -> bytes:
    if format is Format.BIBTEX:
        return str(study.methods()["bibtex"]).encode()
    return study.export(format.value, table.value)


def print_export(study: Study, format: Format, table: TableName, as_json: bool) -> None:
    """To standard output, where --json allows JSON only."""
    if format in ONLY_FILES or (as_json and format is not Format.JSON):
        raise ClientError(f"--format {format.value}{' with --json' if as_json else ''} needs a FILE to write to", 422)
    to_stdout(content_of(study, format, table))


def export_optuna(study: Study, file: Path, force: bool, as_json: bool) -> None:
    from frontends.cli.optuna_study import write_storage  # a second, only this format needs it

    counts = write_storage(json.loads(study.export("json")), file, force)
    if as_json:
        print_json({"study": study.id, "file": str(file), "format": Format.OPTUNA.value, **counts._asdict()})
    else:
        left_out = f", {counts.never_begun:,} never begun" if counts.never_begun else ""
        say(f"{file}: {Format.OPTUNA.value} of {study.id}, {counts.trials:,} trials{left_out}")


def export(
    first: What = None,
    file: File = None,
    format: Annotated[Format | None, typer.Option("--format", help="default: by the file's ending, else csv")] = None,
    table: Annotated[TableName, typer.Option("--table", help="rows of csv and parquet")] = TableName.TRIALS,
    force: Annotated[bool, typer.Option("--force", help="optuna: replace a study of the same name")] = False,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Write the results: tables (csv, parquet), the comparison (latex), everything (json), papers (bibtex), optuna."""
    with Client(url, token) as client:
        study, path = target(client, first, file)
        usual = Format.JSON if as_json and path is None else Format.CSV
        chosen = format or BY_SUFFIX.get(path.suffix.lower() if path else "", usual)
        if path is None:
            print_export(study, chosen, table, as_json)
        elif chosen is Format.OPTUNA:
            export_optuna(study, path, force, as_json)
        else:
            content = content_of(study, chosen, table)
            write(path, content)
            tell_written(study, path, chosen.value, as_json, len(content))


def report(
    study_id: StudyId,
    file: Annotated[
        Path | None, typer.Argument(help="where to write; default: report-ID.html; '-': standard output")
    ] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Write one HTML file with verdict, figures, trials, methods and papers; it works offline."""
    printed = str(file) == "-"
    if printed and as_json:
        raise ClientError("a report with --json needs a FILE to write to", 422)
    with Client(url, token) as client:
        study = Study(client, study_id)
        content = study.report().encode()
    if printed:
        to_stdout(content)
        return
    path = file or Path(f"report-{study.id}.html")
    write(path, content)
    tell_written(study, path, "report", as_json, len(content))


def methods(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Print a methods paragraph for a paper, and the BibTeX of what it cites."""
    with Client(url, token) as client:
        answer = Study(client, study_id).methods()
    if as_json:
        print_json(answer)
        return
    out.print(Text(answer["paragraph"]), soft_wrap=not out.is_terminal)
    out.print()
    out.file.write(answer["bibtex"])
    out.file.flush()
