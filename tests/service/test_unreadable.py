"""A study that this version cannot read: shown with the reason, alone; the list, the queue and the others go on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service.contract.study.earlier import SPEC_VERSION
from tests.service.bench import SPEC, Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path, studies_at_once=1)
    yield bench
    bench.close()


def write(bench: Bench, statement: str, *values: object) -> None:
    """As another version of Paretoscope, or a failing disk, would have left it."""
    with closing(sqlite3.connect(bench.settings.home / "paretoscope.db")) as database, database:
        database.execute(statement, values)


def stored(bench: Bench, study: str, **spec: Any) -> None:
    write(bench, "UPDATE studies SET spec = ? WHERE id = ?", json.dumps({**SPEC, **spec}), study)


NEWER = {"data": {"name": "holograms", "validation_fraction": 0.0, "draw": "shared"}, "name": "of tomorrow"}
SPOILT = {
    "a name that is not known here": (json.dumps({**SPEC, **NEWER}), "data.name: 'holograms' is not known"),
    "no JSON": ('{"name": "cut o', "its stored spec cannot be read"),
    "no mapping": ("[1, 2]", "its stored spec"),
    "an axis that is refused": (
        json.dumps({**SPEC, "arms": [{"name": "a", "weighting": {"name": "fixed", "beta": {"grid": [-1]}}}]}),
        "arms[0].weighting.beta",
    ),
}


@pytest.mark.parametrize("how", SPOILT)
def test_it_is_shown_with_the_reason_and_the_others_as_ever(bench: Bench, how: str) -> None:
    before, spoilt, after = (bench.submit(name=name) for name in ("before", "spoilt", "after"))
    text, reason = SPOILT[how]
    write(bench, "UPDATE studies SET spec = ? WHERE id = ?", text, spoilt)
    bench.parts.views.forget(spoilt)
    rows = {row["id"]: row for row in bench.get("/api/studies")["studies"]}
    assert list(rows) == [after, spoilt, before]
    row, alone = rows[spoilt], bench.read(spoilt)
    assert reason in row["unreadable"] == row["reason"] and spoilt in row["unreadable"]
    assert (row["state"], row["arms"], row["counts"]["planned"]) == ("queued", [], 0)
    assert {key: alone[key] for key in row} == row and alone["figures"] == []
    assert "unreadable" not in rows[before] and rows[after]["counts"]["planned"] == 2
    for path in ("trials", "front", "comparison", "figures/pareto-front", "export?format=csv"):
        answer = bench.ask("GET", f"/api/studies/{spoilt}/{path}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "unreadable"), path


def test_its_spec_is_answered_as_it_is_stored(bench: Bench) -> None:
    study = bench.submit()
    stored(bench, study, **NEWER)
    bench.parts.views.forget(study)
    read = bench.read(study)
    assert read["name"] == "of tomorrow" and read["spec"]["data"]["name"] == "holograms"


def test_the_queue_goes_on_behind_it(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    first, second, third = bench.submit(), bench.submit(), bench.submit()
    stored(bench, first, **NEWER)
    bench.parts.views.forget(first)
    for _ in range(3):
        assert bench.launcher.step() is True
    assert bench.cluster.started() == [second]
    assert [bench.state(study) for study in (first, second, third)] == ["queued", "running", "queued"]
    assert [r.message for r in caplog.records if first in r.message] == [bench.read(first)["unreadable"]], "told once"


def test_one_that_runs_takes_no_place_from_others_and_its_driver_is_left_alone(bench: Bench) -> None:
    first, second = bench.submit(), bench.submit()
    bench.launcher.tick()
    stored(bench, first, **NEWER)
    bench.parts.views.forget(first)
    bench.launcher.tick()
    assert bench.cluster.started() == [first, second] and bench.cluster.stopped == []
    assert bench.read(first)["state"] == "running"


def test_it_can_be_cancelled_which_ends_its_job_and_deleted(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    stored(bench, study, **NEWER)
    bench.parts.views.forget(study)
    assert bench.delete(study).status_code == 409
    answer = bench.cancel(study)
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    bench.launcher.tick()
    assert bench.cluster.stopped == [study]
    assert bench.delete(study).status_code == 204 and bench.get("/api/studies")["studies"] == []


def test_a_spec_of_a_later_version_is_not_guessed_at(bench: Bench) -> None:
    study = bench.submit()
    write(bench, "UPDATE studies SET spec_version = ?", SPEC_VERSION + 1)
    bench.parts.views.forget(study)
    assert f"version {SPEC_VERSION + 1}" in bench.read(study)["unreadable"]
    write(bench, "UPDATE studies SET spec_version = ?", SPEC_VERSION)
    assert "unreadable" not in bench.read(study), "a version that reads it has it as it was"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("kind = 'study_dreamt'", "event 2 of study"),
        ("body = '{\"half\": '", "event 2 of study"),
    ],
)
def test_an_event_that_cannot_be_read_harms_its_study_alone(bench: Bench, change: str, reason: str) -> None:
    study, other = bench.submit(), bench.submit()
    bench.launcher.tick()
    write(bench, f"UPDATE events SET {change} WHERE study = ? AND seq = 2", study)
    bench.parts.views.forget(study)
    rows = {row["id"]: row for row in bench.get("/api/studies")["studies"]}
    assert reason in rows[study]["unreadable"] and rows[study]["state"] == "running"
    assert "unreadable" not in rows[other]
    for _ in range(2):
        assert bench.ask("GET", f"/api/studies/{study}/trials").status_code == 409, "half a log is not all of it"
    assert bench.cancel(study).status_code == 200
    assert bench.stream(study) == [], "and its stream ends"


def test_a_trial_that_the_plan_does_not_have_is_told(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    trial = bench.trials(study)[0]
    bench.report(study, {"uid": "r", "kind": "report", "trial": trial, "metrics": {"epoch": 1}})
    write(bench, "UPDATE events SET body = REPLACE(body, ?, 'elsewhere') WHERE study = ?", trial, study)
    bench.parts.views.forget(study)
    assert "unknown 'elsewhere'" in bench.read(study)["unreadable"]
    for _ in range(2):
        assert bench.ask("GET", f"/api/studies/{study}/trials").status_code == 409, "half a log is not all of it"


def test_a_check_estimates_by_the_studies_that_can_be_read(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    bench.finish(study)
    write(bench, "UPDATE studies SET spec = '{}'")
    answer = bench.ask("POST", "/api/studies/check", json=SPEC)
    assert answer.json()["valid"] is True
