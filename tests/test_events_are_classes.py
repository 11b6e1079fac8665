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
    "service/exports",
    "service/figures",
    "service/routes",
    "service/web",
)
BY_KIND = {"KINDS", "event_of", "body_of"}  # of `wire.events`: what goes between events and dicts
KNOWN = {
    "workers/on_ray/trainable.py": {"'report'"},  # the key of our part in a result of Tune
    "frontends/cli/exports.py": {"'report'"},  # the command, and what its answer calls the page that it wrote
    "service/web/streams.py": {"logged.event.kind"},  # the name of an event in a stream, which browsers listen for
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


# Where JSON is read or written without a class, and what it is there. This list may only shrink.
PLAIN = {
    "workers/check_study.py": "a study, which the contract checks",
    "workers/run_study.py": "what Ray says of its job",
    "workers/data/sets/cifar10.py": "a file of the data set",
    "workers/own_code/packages.py": "a report of pip's",
    "workers/on_ray/searcher.py": "texts in a trial's config of Tune",
    "workers/on_ray/trainable.py": "texts in a trial's config of Tune",
    "workers/sending/checkpoint.py": "texts in the head of a safetensors file",
    "frontends/client.py": "the client's questions are plain, as docs/design.md says",
    "frontends/connection.py": "the client's answers are plain",
    "frontends/study.py": "the client's questions and answers are plain",
    "frontends/home.py": "the note of an address in the home, which the client reads without pydantic",
    "frontends/own_code/naming.py": "a study",
    "frontends/cli/exports.py": "an export that people asked for",
    "frontends/cli/local.py": "the note of an address in the home",
    "frontends/cli/optuna_study.py": "texts in a storage of Optuna's",
    "frontends/cli/own_code.py": "a study",
    "frontends/cli/terminal.py": "what people asked for with --json",
    "service/answers/estimates.py": "a key to compare by",
    "service/answers/own_catalog.py": "a key to compare by",
    "service/views/selectors.py": "a key to compare by",
    "service/contract/study/batches.py": "a text to hash",
    "service/contract/study/expansion.py": "a text to hash",
    "service/contract/study/parsing.py": "a study as it was sent, which the contract checks",
    "service/contract/wire/cohort_state.py": "the head of a safetensors file, and a text to hash",
    "service/contract/wire/events.py": "events, whose classes these are",
    "service/contract/wire/transitions.py": "a number in a sentence",
    "service/exports/flat_tables.py": "a value in a cell of a table",
    "service/exports/report.py": "figures, for the script of the report",
    "service/routes/exports.py": "an answer's class, faster",
    "service/routes/figures.py": "a figure of Plotly's",
    "service/store/keeping.py": "a note in an archive, for people",
    "service/store/ledgers.py": "the body of an event in the log, of which its class is made",
    "service/store/sql.py": "the body of an event in the log, and a study's spec",
    "service/web/audit.py": "a line for people and their tools",
    "service/web/streams.py": "an event as its class says it",
}
BY_HAND = re.compile(r"(^|\.)(loads|dumps|json)$")


def bare_json(source: str) -> set[str]:
    """What a module reads or writes without a class: by `json` and its like, or of an answer."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {ast.unparse(call) for call in calls if BY_HAND.search(ast.unparse(call.func))}


@pytest.mark.parametrize(
    "line",
    [
        'str(self._ask("GET", "").json()["entry"])',
        "answer = dict(json.loads(done.stdout.splitlines()[-1]))",
        "said = [json.loads(line) for line in answers.read_text().splitlines()]",
        'file.write(json.dumps({"error": error.message}))',
        "orjson.loads(answer.content)",
    ],
)
def test_what_is_read_or_written_without_a_class_is_seen(line: str) -> None:
    assert len(bare_json(line)) == 1


def test_what_a_class_reads_and_writes_is_not_bare() -> None:
    assert not bare_json("KnownToken.model_validate_json(answer.content)\ntold.model_dump_json()")


@pytest.mark.parametrize("room", ["workers", "frontends", "service"])
def test_no_room_reads_or_writes_json_of_its_own(room: str) -> None:
    paths = {str(path.relative_to(ROOT)): path for path in (ROOT / room).rglob("*.py")}
    assert len(paths) > 10
    bare = {path for path, own in paths.items() if bare_json(own.read_text())}
    assert bare == {path for path in PLAIN if path.startswith(room)}


# Each in whose process a study is tried, and who asked for it: of JSON they have the study alone.
TRIED = {
    "workers/check_study.py": {"json.loads(Path(arguments[0]).read_text())"},
    "frontends/cli/own_code.py": {"json.dumps(body, default=str)"},
}


@pytest.mark.parametrize("path", TRIED)
def test_what_is_told_of_a_tried_arm_is_a_class(path: str) -> None:
    assert bare_json((ROOT / path).read_text()) == TRIED[path]


CARRIERS = (
    "frontends",
    "workers/sending",
    "workers/on_ray",
    "workers/planning",
    "service/contract/wire",
    "service/store",
    "service/views",
    "service/routes",
)
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
