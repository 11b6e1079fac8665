"""What crosses a process is a class of the contract: neither who sends nor who folds handles bare dicts by kind."""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

import httpx
import pytest

from service.contract.wire import events
from service.contract.wire.events import KINDS, Event, TrialFinished
from service.store.protocol import Store
from workers.sending.study_client import StudyClient

ROOT = Path(__file__).parent.parent
ROOMS = (
    "workers",
    "frontends",
    "findings",
    "service/views",
    "service/analysis",
    "service/answers",
    "service/launching",
)
BY_KIND = {"KINDS", "event_of", "body_of"}  # of `wire.events`: what goes between events and dicts
KNOWN = {
    "workers/on_ray/trainable.py": {"'report'"},  # the key of our part in a result of Tune
    "frontends/cli/exports.py": {"'report'"},  # the command, and what its answer calls the page that it wrote
}
WIRE = events.__name__


def bare(source: str) -> set[str]:
    """What a module does with events as dicts: kinds as texts, their key, attribute or table."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and node.value in ("kind", *KINDS):
            found.add(repr(node.value))
        elif isinstance(node, ast.Attribute) and ast.unparse(node).endswith("event.kind"):
            found.add(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom) and node.module == WIRE:
            found |= {alias.name for alias in node.names} & BY_KIND
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.events" == WIRE:
            found |= {alias.name for alias in node.names} & {"events"}  # and with it all that it has
    return found


@pytest.mark.parametrize(
    "line",
    [
        'send({"uid": uid, "kind": kind, "trial": trial})',
        'if body["kind"] == what: pass',
        'events.append(dict(kind="trial_started"))',
        'if logged.event.kind == "report": pass',
        "if event.kind in LATE: pass",
        'if kind == "report": pass',
        'FOLDED = {"study_finished": end}',
        "from service.contract.wire.events import KINDS",
        "from service.contract.wire.events import Report, event_of as made",
        "from service.contract.wire import events",
    ],
)
def test_an_event_that_is_handled_as_a_dict_is_seen(line: str) -> None:
    assert bare(line)


@pytest.mark.parametrize(
    "line",
    [
        "from service.contract.wire.events import Report, TrialEvent\nisinstance(event, Report)",
        "client.send(spec.kind)",
        "Report(uid=uid, trial=trial, metrics=metrics)",
    ],
)
def test_a_class_is_what_an_event_is(line: str) -> None:
    assert not bare(line)


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_handles_events_as_dicts(room: str) -> None:
    paths = sorted((ROOT / room).rglob("*.py"))
    assert len(paths) > 2
    found = {str(path.relative_to(ROOT)): bare(path.read_text()) for path in paths}
    assert {path: how for path, how in found.items() if how} == {p: h for p, h in KNOWN.items() if p.startswith(room)}


# Where JSON is what people asked for: the client's answers are plain, as docs/design.md says.
PLAIN = {"frontends/connection.py": {"response.json()"}}
CHECKED_BY_ITS_PROCESS = {"frontends/cli/own_code.py"}  # may only leave


def read_bare(source: str) -> set[str]:
    """What a module reads of another process without a class: the JSON of an answer, or of what a program printed."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    of_answers = {
        ast.unparse(call) for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "json"
    }
    loads = {ast.unparse(call) for call in calls if ast.unparse(call.func).endswith("loads")}
    return of_answers | {call for call in loads if "stdout" in call or ".content" in call}


@pytest.mark.parametrize(
    "line",
    [
        'str(self._ask("GET", "").json()["entry"])',
        "answer = dict(json.loads(done.stdout.splitlines()[-1]))",
        "orjson.loads(answer.content)",
    ],
)
def test_what_is_read_without_a_class_is_seen(line: str) -> None:
    assert len(read_bare(line)) == 1 and not read_bare("json.loads(path.read_text())")


@pytest.mark.parametrize("room", ["workers", "frontends"])
def test_no_room_reads_what_another_process_says_without_a_class(room: str) -> None:
    paths = {str(path.relative_to(ROOT)): path for path in (ROOT / room).rglob("*.py")}
    assert len(paths) > 10
    bare = {path: read for path, own in paths.items() if (read := read_bare(own.read_text()))}
    assert {path: read for path, read in bare.items() if path not in CHECKED_BY_ITS_PROCESS} == {
        path: read for path, read in PLAIN.items() if path.startswith(room)
    }


CARRIERS = (
    "frontends",
    "workers/sending",
    "workers/on_ray",
    "workers/planning",
    "service/contract/wire",
    "service/store",
)
CARRIERS += ("service/views", "service/routes")
SETTINGS = {"frontends/cli/optuna_study.py"}  # of values of parameters, none of which is a metric


def test_numbers_that_are_not_finite_are_cleaned_in_one_place() -> None:
    """Where an event or a report is made; whoever carries it on, or reads it, has numbers and nulls."""
    asking = {
        str(path.relative_to(ROOT))
        for room in CARRIERS
        for path in (ROOT / room).rglob("*.py")
        if any(name in path.read_text() for name in ("isfinite", "isnan", "isinf"))
    }
    assert asking - SETTINGS == {"service/contract/wire/events.py"}


def test_workers_ask_the_service_by_one_client_with_one_rule_of_trying_again() -> None:
    """`Asking` alone makes requests; whoever names a transport for it makes none."""
    makes = re.compile(r"\bhttpx\.(?:Client|AsyncClient|request|stream|get|post|put|patch|delete|head)\b|\burlopen\(")
    makers = {str(p.relative_to(ROOT)) for p in (ROOT / "workers").rglob("*.py") if makes.search(p.read_text())}
    assert makers == {"workers/sending/asking.py"}


def test_client_and_store_take_events_and_nothing_else() -> None:
    assert get_type_hints(StudyClient.report)["events"] == Sequence[Event]
    assert get_type_hints(Store.append)["events"] == Sequence[Event]
    assert set(get_args(Event)) == set(KINDS.values()) and dict not in get_args(Event)


def test_a_dict_is_not_sent() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"accepted": 1, "duplicates": 0})

    loose: Any = {"uid": "u", "kind": "trial_finished", "trial": "t"}
    with StudyClient("http://service", None, "s1", httpx.MockTransport(answer)) as client:
        with pytest.raises(AttributeError):
            client.report([loose], threading.Event())
        assert asked == []
        client.report([TrialFinished(uid="u", trial="t")], threading.Event())
    assert len(asked) == 1
