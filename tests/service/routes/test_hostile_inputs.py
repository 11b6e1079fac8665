"""The kept collection of hostile inputs: none makes the service fail, none writes anything, each gets an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.hostile import CASES, Victim, fault_of, send
from tests.processes import short_home
from tests.service.bench import Bench


@pytest.fixture(scope="module")
def target() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, allow_code=True)
        yield bench
        bench.close()


@pytest.fixture(scope="module")
def victim(target: Bench) -> Victim:
    study = target.submit()
    return Victim(study, target.trials(study)[0])


def files(bench: Bench) -> set[Path]:
    """All but what databases and the lines about writes are."""
    own = {path for path in bench.settings.home.rglob("*") if path.is_file()}
    return {path for path in own if not path.name.startswith(("paretoscope.db", "summaries.db", "audit.log"))}


def test_there_are_as_many_as_were_asked_for() -> None:
    assert sum("{study}" in case["path"] for case in CASES) >= 20
    assert len(CASES) >= 150 and len({case["why"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_a_hostile_input_is_refused_and_leaves_nothing(target: Bench, victim: Victim, case: dict[str, Any]) -> None:
    before = files(target), target.get("/api/studies"), target.events(victim.study)
    answer = send(target.ask, case, victim)
    assert fault_of(answer, case) is None
    assert (files(target), target.get("/api/studies"), target.events(victim.study)) == before
