"""Databases of earlier releases, with studies in them, under this one."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sql
from alembic.config import Config
from alembic.script import ScriptDirectory

import service.store.upgrading
from service.contract.study.earlier import as_meant
from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.wire.errors import Unavailable
from service.contract.wire.events import StudyState
from service.store.database import FILE
from service.store.schema import REVISION
from service.store.sql import SqlStore
from service.views.cache import Views
from tests.service.store import first_release
from tests.service.store.conftest import report


def of_first_release(home: Path) -> None:
    """A home of 0.1.0."""
    with closing(sqlite3.connect(home / FILE)) as database:
        database.execute("PRAGMA journal_mode=WAL")
    engine = sql.create_engine(f"sqlite:///{home / FILE}")
    first_release.fill(engine)
    engine.dispose()


def goes_on_where_it_was(store: SqlStore) -> None:
    """All that the studies of 0.1.0 told is there, and more is told of the one that runs."""
    assert {row.id: row.state for row in store.list_studies(None, 9, None)} == {
        "later": StudyState.QUEUED,
        "done": StudyState.FINISHED,
        "old": StudyState.RUNNING,
    }
    assert store.last_seqs(["old", "done", "later"]) == first_release.LENGTHS
    spec = store.study("old").spec
    assert (spec["data"]["validation_fraction"], spec["data"]["draw"]) == (0.0, "shared"), "as it was meant then"
    trial = first_release.UNDER_WAY
    assert store.append("old", [report(trial, 3), report(trial, 4)])[:2] == (1, 1)
    views = Views(store)
    with views.read("old") as view:
        assert [metrics["epoch"] for metrics in view.trials[trial].reports] == [1, 2, 3, 4]
        assert [each.state.value for each in view.trials.values()] == [
            "running",
            "finished",
            "failed",
            "running",
            "planned",
        ]
        failed, suggested = list(view.trials.values())[2:4]
        assert failed.reason == "the loss is not finite: nan" and failed.host == "node-1"
        assert suggested.planned.config["weighting.beta"] == 0.05
    with views.read("done") as view:
        assert [len(each.reports) for each in view.trials.values()] == [4] * 5
        assert all(each.counts_for_front for each in view.trials.values())
    assert store.create("new", spec, None)[1]


@pytest.mark.parametrize("preset", first_release.WRITTEN["presets"], ids=lambda preset: preset["name"])
def test_a_stored_preset_of_the_first_release_plans_the_trials_that_it_planned_then(preset: dict[str, Any]) -> None:
    """Under the same ids, by which its log names them."""
    planned = [trial.id for trial in expand(check_study(as_meant(preset["spec"], 1)))]
    assert (len(planned), [*planned[:2], planned[-1]]) == (preset["count"], preset["trials"])


def schema_of(file: Path) -> list[tuple[Any, ...]]:
    """Columns and indexes of every table, however their statements were written."""
    with closing(sqlite3.connect(file)) as database:
        tables = [
            name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        columns = [(table, *row[1:]) for table in tables for row in database.execute(f"PRAGMA table_info({table})")]
        unique = [(t, row[2:4]) for t in tables for row in sorted(database.execute(f"PRAGMA index_list({t})"))]
        return [*columns, *sorted(unique)]


def test_a_database_of_the_first_release_goes_on_where_it_was(tmp_path: Path) -> None:
    of_first_release(tmp_path)
    store = SqlStore(tmp_path)
    goes_on_where_it_was(store)
    store.close()


def test_a_copy_of_what_was_there_is_kept(tmp_path: Path) -> None:
    of_first_release(tmp_path)
    SqlStore(tmp_path).close()
    kept = tmp_path / f"{FILE}.before-schema-2"
    with closing(sqlite3.connect(kept)) as database:
        events = database.execute("SELECT COUNT(*) FROM events").fetchone()
        assert events == (sum(first_release.LENGTHS.values()),)
        assert "spec_version" not in {row[1] for row in database.execute("PRAGMA table_info(studies)")}
    SqlStore(tmp_path).close()
    assert [path.name for path in tmp_path.glob("*before*")] == [kept.name], "the second start has nothing to do"


def test_every_step_leads_to_the_tables_of_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    of_first_release(tmp_path / "old")
    for home in ("old", "new"):
        SqlStore(tmp_path / home).close()
    assert schema_of(tmp_path / "old" / FILE) == schema_of(tmp_path / "new" / FILE)


def test_the_steps_form_one_line_that_ends_where_the_tables_are() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(service.store.upgrading.__file__).parent / "migrations"))
    steps = list(ScriptDirectory.from_config(config).walk_revisions())
    assert [step.revision for step in steps] == [str(i) for i in range(int(REVISION), 0, -1)]


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    SqlStore(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '99'")
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(Unavailable, match="newer version of Paretoscope \\(schema 99, this one knows"):
        SqlStore(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_first_release(tmp_path)
    before = schema_of(tmp_path / FILE)

    def fail(*_: object) -> None:
        raise RuntimeError("the power went")

    with monkeypatch.context() as patched:
        patched.setattr("alembic.op.execute", fail)
        with pytest.raises(RuntimeError, match="the power went"):
            SqlStore(tmp_path)
    assert schema_of(tmp_path / FILE) == before
    SqlStore(tmp_path).close()
    assert len(schema_of(tmp_path / FILE)) > len(before)


def test_two_processes_that_open_an_old_database_at_once_both_can(tmp_path: Path) -> None:
    of_first_release(tmp_path)
    code = "import sys, pathlib; from service.store.sql import SqlStore; SqlStore(pathlib.Path(sys.argv[1])).close()"
    both = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]


def test_a_database_that_is_up_to_date_does_not_wait_for_alembic(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from service.store.sql import SqlStore; SqlStore(pathlib.Path(sys.argv[1])).close();"
        "print('alembic' in sys.modules)"
    )
    for _ in range(2):  # a new one, and one that was there
        answer = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
        assert answer.stdout.strip() == "False"
