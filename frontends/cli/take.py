"""Commands that take a study home: export, report, methods."""

from __future__ import annotations

import json
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from frontends.cli.terminal import AsJson, StudyId, Token, Url, out, print_json
from frontends.client import Client, ClientError, StudyHandle


class Format(StrEnum):
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    OPTUNA = "optuna"
    BIBTEX = "bibtex"


class TableName(StrEnum):
    TRIALS = "trials"
    REPORTS = "reports"


BY_SUFFIX = {".json": Format.JSON, ".parquet": Format.PARQUET, ".db": Format.OPTUNA, ".bib": Format.BIBTEX}
ONLY_FILES = (Format.PARQUET, Format.OPTUNA)
STUDY_ID = re.compile(r"s[0-9a-f]{10}")

What = Annotated[str | None, typer.Argument(metavar="[ID]", help="the study's id; none: the newest study")]
File = Annotated[Path | None, typer.Argument(help="where to write; none: standard output")]


def target(client: Client, first: str | None, file: Path | None) -> tuple[StudyHandle, Path | None]:
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


def done(study: StudyHandle, file: Path, format: str, as_json: bool, **more: Any) -> None:
    """What was written, in words or as JSON."""
    if as_json:
        print_json({"study": study.id, "file": str(file), "format": format, **more})
    else:
        words = f"{file}: {format} of {study.id}" + "".join(
            f", {value:,} {key.replace('_', ' ')}" for key, value in more.items() if value
        )
        out.print(Text(words), soft_wrap=True)


def export(
    first: What = None,
    file: File = None,
    format: Annotated[Format | None, typer.Option("--format", help="none: by the file's ending, else csv")] = None,
    table: Annotated[TableName, typer.Option("--table", help="of csv and parquet")] = TableName.TRIALS,
    force: Annotated[bool, typer.Option("--force", help="optuna: replace a study of the same name")] = False,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Take the results: tables (csv, parquet), everything (json), the papers (bibtex), an Optuna storage (optuna)."""
    study, path = target(Client(url, token), first, file)
    chosen = format or BY_SUFFIX.get(path.suffix if path else "", Format.CSV)
    if path is None and chosen in ONLY_FILES:
        raise ClientError(f"--format {chosen.value} needs a FILE to write to", 422)
    if chosen is Format.OPTUNA and path is not None:
        from frontends.cli.optuna_study import write_storage  # a second, only this format needs it

        written = write_storage(json.loads(study.export("json")), path, force)
        done(study, path, chosen.value, as_json, **written)
        return
    bibtex = chosen is Format.BIBTEX
    content = study.methods()["bibtex"].encode() if bibtex else study.export(chosen.value, table.value)
    if path is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    write(path, content)
    done(study, path, chosen.value, as_json, bytes=len(content))


def report(
    study_id: StudyId,
    file: Annotated[Path | None, typer.Argument(help="where to write; none: report-ID.html; '-': stdout")] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Write one HTML file with verdict, figures, trials, methods and papers; it works offline."""
    study = Client(url, token).study(study_id)
    content = study.report().encode()
    if file is not None and str(file) == "-":
        sys.stdout.buffer.write(content)
        return
    path = file or Path(f"report-{study.id}.html")
    write(path, content)
    done(study, path, "report", as_json, bytes=len(content))


def methods(study_id: StudyId, url: Url = None, token: Token = None, as_json: AsJson = False) -> None:
    """Print a methods paragraph for a paper, and the BibTeX of what it cites."""
    found = Client(url, token).study(study_id).methods()
    if as_json:
        print_json(found)
        return
    out.print(Text(found["paragraph"]), soft_wrap=not out.is_terminal)
    out.print()
    out.file.write(found["bibtex"])
    out.file.flush()
