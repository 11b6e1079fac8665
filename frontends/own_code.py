"""Code of one's own on its way to the service: a file, or a folder as an archive."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from frontends.connection import ClientError

LINE = re.compile(r"^code:[ \t]*(?P<quote>[\"']?)(?P<path>[^\"'#\n]+?)(?P=quote)[ \t]*(#.*)?$", re.MULTILINE)
HASH = re.compile("[0-9a-f]{64}")
PACKAGE = "package:"
LEFT_OUT = {"__pycache__", "node_modules", "venv"}
LARGEST = 20_000_000
MAIN = "main.py"


class Sent(NamedTuple):
    """What goes to the service, and which of its files is imported."""

    content: bytes
    kind: str
    entry: str


def packed(path: Path) -> Sent:
    """A Python file as it is; a folder as an archive, without hidden files and what tools leave behind."""
    if path.is_file():
        return Sent(_read(path), "text/x-python", path.name)
    if not path.is_dir():
        raise ClientError(f"code: there is no file or folder {path}", 422)
    files = dict(_files(path))
    size = sum(file.stat().st_size for file in files.values())
    if size > LARGEST:
        rule = f"the folder {path} has {size:,} bytes, over the limit of {LARGEST:,}: keep data elsewhere"
        raise ClientError(f"code: {rule}", 413)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items():
            archive.writestr(name, _read(file))
    return Sent(buffer.getvalue(), "application/zip", _entry(path, files))


def unpack(sent: Sent, folder: Path) -> None:
    """As the service will have it."""
    folder.mkdir(parents=True)
    if sent.kind == "application/zip":
        with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
            archive.extractall(folder)
    else:
        (folder / sent.entry).write_bytes(sent.content)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        for name in folders:
            _check_link(Path(root) / name, folder)
        for name in sorted(names):
            file = Path(root) / name
            if not name.startswith(".") and file.suffix != ".pyc" and file.is_file():
                _check_link(file, folder)
                yield file.relative_to(folder).as_posix(), file


def _check_link(path: Path, folder: Path) -> None:
    """A link may stand for another file of the folder, never for what lies outside: that was not meant to be sent."""
    if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
        name = path.relative_to(folder).as_posix()
        raise ClientError(f"code: the link {name} in {folder} leads out of the folder: put a copy in its place", 422)


def _entry(folder: Path, files: Mapping[str, Path]) -> str:
    """The only Python file at the top, the one named as its folder, or main.py."""
    top = [name for name in files if "/" not in name and name.endswith(".py")]
    for name in (f"{folder.resolve().name}.py", MAIN):
        if name in top:
            return name
    if len(top) != 1:
        known = ", ".join(top) or "none"
        raise ClientError(f"code: call the file to import {MAIN}; the folder {folder} has {known}", 422)
    return top[0]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ClientError(f"code: {path} cannot be read: {error.strerror}", 422) from error


def named_in(text: str) -> str | None:
    """The path that a study in YAML gives for its code; none where it has none, or a hash."""
    line = LINE.search(text)
    path = line["path"].strip() if line else None
    return None if path is None or is_known(path) else path


def is_known(code: str) -> bool:
    """Whether the service has it already: by its hash, or in a package that is installed there."""
    return code.startswith(PACKAGE) or HASH.fullmatch(code) is not None


def json_with_code(text: str) -> dict[str, object] | None:
    """A study in JSON that names code; none for any other text, which is sent as it is."""
    try:
        study = json.loads(text)
    except ValueError:
        return None
    return study if isinstance(study, dict) and "code" in study else None


def with_hash(text: str, code_hash: str) -> str:
    """The same text, line by line, with the hash in place of the path."""
    return LINE.sub(f"code: {code_hash}", text, count=1)


def study_in(path: Path) -> dict[str, object]:
    """The study that a Python file carries as `study = {…}`, read without running the file."""
    source = _read(path).decode(errors="replace")
    try:
        tree = ast.parse(source, str(path))
    except SyntaxError as error:
        raise ClientError(f"{path.name}, line {error.lineno}: {error.msg}", 422) from error
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):  # study: dict = {…}
            targets = [statement.target]
        if any(isinstance(target, ast.Name) and target.id == "study" for target in targets):
            return _literal(path, statement)
    raise ClientError(f"{path.name} carries no study: give it one as study = {{…}}, or write it in YAML", 422)


def _literal(path: Path, statement: ast.stmt) -> dict[str, object]:
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    try:
        study = ast.literal_eval(value) if value is not None else None
    except ValueError:
        study = None
    if not isinstance(study, dict):
        rule = "must be a plain dict of values, as it is read without running the file"
        raise ClientError(f"{path.name}, line {statement.lineno}: study {rule}", 422)
    return study
