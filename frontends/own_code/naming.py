"""A study and its code: how a study names it, and a Python file that carries its study."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from frontends.connection import ClientError
from frontends.own_code.packing import read

LINE = re.compile(r"^code:[ \t]*(?P<quote>[\"']?)(?P<path>[^\"'#\n]+?)(?P=quote)[ \t]*(#.*)?$", re.MULTILINE)
HASH = re.compile("[0-9a-f]{64}")
PACKAGE = "package:"


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
    source = read(path).decode(errors="replace")
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
