"""The kept collection of hostile inputs: none makes the service fail, none writes anything, each gets an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import short_home
from tests.service.bench import Bench

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "hostile.json").read_text())


@pytest.fixture(scope="module")
def target() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home)
        yield bench
        bench.close()


def files(bench: Bench) -> set[Path]:
    """All but what a database and the lines about writes are."""
    own = {path for path in bench.settings.home.rglob("*") if path.is_file()}
    return {path for path in own if not path.name.startswith(("paretoscope.db", "audit.log"))}


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(CASES) >= 150 and len({case["why"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_a_hostile_input_is_refused_and_leaves_nothing(target: Bench, case: dict[str, Any]) -> None:
    before = files(target)
    headers = dict(case.get("headers", {}))
    if case.get("type", "none") != "none":
        headers["Content-Type"] = case["type"]
    content = (case["body"] * case.get("repeat", 1)).encode() if "body" in case else None
    answer = target.ask(case["method"], case["path"], headers=headers, content=content)
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:200])
    assert answer.status_code == case.get("status", answer.status_code), answer.text[:300]
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "details"} and len(answer.content) < 100_000
    assert not any(ord(character) < 32 and character != "\n" for character in error["message"])
    assert target.get("/api/studies")["studies"] == [] and files(target) == before
