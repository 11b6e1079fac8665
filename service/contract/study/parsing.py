"""From bytes a user wrote (JSON or YAML) to a checked study, or an InvalidInput that names path, rule and value."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from service.contract.study import limit_rules, stopping_rules
from service.contract.study.axis_sizes import refuse_crowded
from service.contract.study.expansion import arm_errors, count_trials, count_verifying, idle_searches
from service.contract.study.rules import broken
from service.contract.study.study import Study
from service.contract.study.yaml_text import compose, value_of
from service.contract.wire.errors import Detail, InvalidInput
from service.contract.wording.plain_text import hidden_places, printable

Loc = tuple[str | int, ...]
MOST_TOLD = 20
MOST_LISTED = 100  # of the rules that a study breaks
NO_MAPPING = ("dict_type", "model_type", "model_attributes_type")  # of pydantic, whose words are of classes
LONGEST = 300  # of what a parser says, which may quote a whole line


class Written(NamedTuple):
    """What a user wrote, read once: plain values, and for YAML the tree that knows their lines."""

    body: Any
    root: yaml.Node | None


def path_of(loc: Loc) -> str:
    """('arms', 0, 'weighting') -> 'arms[0].weighting'."""
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _own_loc(loc: Loc, body: Any) -> Loc:
    """pydantic's location without the union tags it mixes in: only steps that exist in what the user wrote."""
    kept: list[str | int] = []
    here: Any = body
    for part in loc:
        if isinstance(here, list):  # a range is searched for a text number by number
            exists = isinstance(part, int) and part in range(len(here))
        else:
            exists = isinstance(here, dict) and part in here
        if exists:
            here = here[part]
            kept.append(part)
    return tuple(kept)


def _as_written(loc: Loc, body: Any) -> Loc:
    """Where the problem of an arm that names none stands: at the top."""
    if (
        loc[:1] == ("arms",)
        and loc[2:3] == ("problem",)
        and "problem" in body
        and "problem" not in body["arms"][loc[1]]
    ):
        return loc[2:]
    return loc


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


def _details(error: ValidationError, body: Any) -> list[Detail]:
    details: dict[str, Detail] = {}
    for e in error.errors():
        if e["type"] == "default_factory_not_called":  # a consequence of an error that is listed by itself
            continue
        loc = _own_loc(_as_written(e["loc"], body), body)
        message, ctx = e["msg"].removeprefix("Value error, "), e.get("ctx") or {}
        if e["type"] == "unknown_key":
            loc = (*loc, ctx["key"])
        elif e["type"] == "union_tag_invalid":
            loc = (*loc, "name")
            message = f"{ctx['tag']!r} is not known; known: {ctx['expected_tags'].replace(chr(39), '')}"
        elif e["type"] == "unknown_problem":
            loc = (*loc, "name")
        elif e["type"] == "union_tag_not_found":
            message = f"give a name; got {_shown(e['input'])}"
        elif e["type"] == "missing":
            loc = (*loc, e["loc"][-1])
            message = "required, but missing"
        elif e["type"] in NO_MAPPING:
            message = f"must be a mapping of keys to values, got {_shown(e['input'])}"
        elif e["type"] != "value_error":
            message = f"{message}, got {_shown(e['input'])}"
        path = path_of(loc)
        if path in details:
            told = details[path].message
            message = told if message in told else f"{told}; or: {message}"
        details[path] = Detail(path=path, message=message)
    return list(details.values())


def read(text: str, kind: str) -> Written:
    """Parse the text; syntax errors name the line."""
    try:
        root = None if kind == "json" else compose(text)
        body = json.loads(text) if kind == "json" else value_of(root)
        json.dumps(body, ensure_ascii=False, skipkeys=True, default=str).encode()
        return Written(body, root)
    except json.JSONDecodeError as error:
        detail = Detail(path="", message=f"is not JSON: {error.msg} at column {error.colno}", line=error.lineno)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        detail = Detail(
            path="",
            message=f"is not YAML: {printable(problem)[:LONGEST]}",
            line=min(mark.line, text.count("\n")) + 1 if mark else None,
        )
    except UnicodeEncodeError as error:
        half = error.object[error.start].encode("unicode_escape").decode()
        detail = Detail(path="", message=f"cannot be read: {half} is half of a character")
    except (ValueError, RecursionError) as error:
        detail = Detail(path="", message=f"cannot be read: {error}")
    where = f" (line {detail.line})" if detail.line else ""
    raise InvalidInput(f"the study {detail.message}{where}", [detail])


def read_body(text: str, kind: str) -> Any:
    """The values of a text."""
    return read(text, kind).body


def check_study(body: Any) -> Study:
    """Everything is checked before anything starts."""
    if not isinstance(body, dict):
        message = f"a study is a mapping with name and arms, got {_shown(body)}"
        raise InvalidInput(message, [Detail(path="", message=message)])
    try:
        study = Study.model_validate(body)
    except ValidationError as error:
        raise _refused(_details(error, body)) from None
    except RecursionError:
        raise _refused([Detail(path="", message="nested too deeply")]) from None
    with suppress(ValidationError):  # of what an arm overrides, which the arm's errors tell
        _refuse_more(study, sum(count_trials(study).values()))  # before the values of its axes are looked at
    # Rules between parts take it that each value of an axis is one that its field may have.
    if details := arm_errors(study):
        raise _refused([*details, *idle_searches(study)])
    if details := broken(study):
        raise _refused(details)
    _refuse_more(study, sum(count_trials(study).values()) + sum(count_verifying(study).values()))
    if details := [*limit_rules.broken(study), *stopping_rules.idle(study)]:
        raise _refused(details)
    return study


def _refuse_more(study: Study, planned: int) -> None:
    if planned > study.limits.trials:
        rule = f"the study expands to {planned:,} trials, over limits.trials = {study.limits.trials:,}"
        raise _refused([Detail(path="limits.trials", message=rule)])


def _refused(details: Sequence[Detail]) -> InvalidInput:
    """With so many of them that a person may read them all; the message says how many there are."""
    first, others = details[0], len(details) - 1
    more = f" (and {others:,} more)" if others else ""
    if len(details) > MOST_LISTED:
        more = f" (and {others:,} more, of which {MOST_LISTED - 1} are listed)"
    return InvalidInput(
        f"{first.path}: {first.message}{more}" if first.path else f"{first.message}{more}", [*details[:MOST_LISTED]]
    )


def _line_of(node: yaml.Node | None, path: str) -> int | None:
    """The line of the deepest part of `path` that stands in the YAML text."""
    line = None
    for part in re.findall(r"[^.\[\]]+", path):
        if isinstance(node, yaml.MappingNode):
            pair = next((p for p in node.value if p[0].value == part), None)
            if pair is None:
                return line
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
            line = node.start_mark.line + 1
        else:
            return line
    return line


def parse_study(text: str, kind: str) -> Study:
    """Read and check; for YAML each detail carries its line."""
    return parse(read(text, kind))


def parse(source: Written) -> Study:
    """A study that is to be submitted; one that is stored may be older than a rule about how it is written."""
    try:
        refuse_hidden(source.body)
        refuse_crowded(source.body)
        return check_study(source.body)
    except InvalidInput as error:
        if source.root is None:
            raise
        raise InvalidInput(error.message, with_lines(error.details, source.root)) from None


def refuse_hidden(body: Any) -> None:
    """Control characters and marks of direction, in any name, text or key."""
    places = islice(hidden_places(body), MOST_TOLD)
    if details := [Detail(path=path_of(place), message=rule) for place, rule in places]:
        raise InvalidInput(f"{details[0].path or 'the study'}: {details[0].message}", details)


def with_lines(details: Sequence[Detail], root: yaml.Node) -> list[Detail]:
    """Each with its line of the YAML text."""
    return [replace(detail, line=_line_of(root, detail.path) or 1) for detail in details]
