"""A study's results in files, from the command line; the Optuna export is opened by Optuna and by its dashboard."""

from __future__ import annotations

import io
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import optuna
import pandas as pd
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

import paretoscope
from frontends.cli.display import size
from frontends.cli.optuna_study import constants, curves, distribution_of, moment, write_storage
from frontends.client import Client, ClientError
from tests.frontends.cli.command_line import run
from tests.processes import Running


@pytest.fixture
def study(service: Running, spec: dict[str, Any]) -> str:
    """Four trials with a β and two of MIB: one fails, one collapses, one is cut off, one never begins."""
    study_id = str(service.post("/api/studies", json={**spec, "name": "to go"}).json()["id"])
    trials = [trial["id"] for trial in service.get(f"/api/studies/{study_id}/trials").json()["trials"]]
    events: list[dict[str, Any]] = [{"kind": "study_started"}]
    for i, trial in enumerate(trials[:5]):
        rate = 0.01 if i == 2 else 5.0 - i
        metrics = {"epoch": 1, "seconds": 2.0, "i_xz_bits": rate, "i_zy_bits": 1.0 - i / 10, "accuracy": None}
        events += [{"kind": "trial_started", "trial": trial, "host": "here"}]
        events += [{"kind": "report", "trial": trial, "metrics": metrics}]
        events += [{"kind": "report", "trial": trial, "metrics": {**metrics, "epoch": 2, "accuracy": 0.5}}]
        if i == 3:
            events.append({"kind": "trial_failed", "trial": trial, "reason": "loss became non-finite"})
        elif i < 4:
            events.append({"kind": "trial_finished", "trial": trial})
    events.append({"kind": "study_finished"})
    sent = [{"uid": str(i), **event} for i, event in enumerate(events)]
    service.post(f"/api/studies/{study_id}/reports", json={"events": sent}).raise_for_status()
    return study_id


@contextmanager
def storage_of(file: Path) -> Iterator[optuna.storages.RDBStorage]:
    storage = optuna.storages.RDBStorage(f"sqlite:///{file}")
    try:
        yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()


def taken(service: Running, *arguments: str) -> subprocess.CompletedProcess[str]:
    answer = run("export", *arguments, url=service.url)
    assert answer.returncode == 0, answer.stderr
    return answer


def test_a_table_goes_to_standard_output_or_to_a_file(service: Running, study: str, tmp_path: Path) -> None:
    frame = pd.read_csv(io.StringIO(taken(service, study).stdout))
    assert frame["state"].tolist() == ["finished", "finished", "finished", "failed", "stopped", "planned"]
    file = tmp_path / "reports.parquet"
    said = json.loads(taken(service, study, str(file), "--table", "reports", "--json").stdout)
    assert said == {"study": study, "file": str(file), "format": "parquet", "bytes": file.stat().st_size}
    assert len(pd.read_parquet(file)) == 10
    assert json.loads(taken(service, study, "--format", "json").stdout)["study"]["name"] == "to go"
    assert taken(service, study, "--format", "bibtex").stdout.startswith("@misc{alpaydin1998digits,")


BEGINNINGS = {
    "x.csv": b"study,",
    "x.txt": b"study,",
    "[red]x[i].csv": b"study,",  # a name, no markup
    "x": b"study,",
    "x.json": b'{"paretoscope":',
    "X.JSON": b'{"paretoscope":',
    "x.parquet": b"PAR1",
    "x.db": b"SQLite format 3",
    "x.bib": b"@misc{",
    "table.tex": b"% Paretoscope ",
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_the_format_is_that_of_the_files_ending_unless_told(
    service: Running, study: str, tmp_path: Path, name: str
) -> None:
    said = taken(service, study, str(tmp_path / name)).stdout
    content = (tmp_path / name).read_bytes()
    assert content.startswith(BEGINNINGS[name])
    assert said.startswith(f"{tmp_path / name}: ") and f" of {study}, " in said and said.count("\n") == 1
    taken(service, study, str(tmp_path / name), "--format", "bibtex")
    assert (tmp_path / name).read_bytes().startswith(b"@misc{")


def test_a_file_is_told_with_its_size(service: Running, study: str, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    said = taken(service, study, str(file)).stdout
    assert said == f"{file}: csv of {study}, {size(file.stat().st_size)}\n"
    optuna = json.loads(taken(service, study, str(tmp_path / "x.db"), "--json").stdout)
    file = tmp_path / "x.db"
    assert optuna == {"study": study, "file": str(file), "format": "optuna", "trials": 5, "never_begun": 1}
    again = run("export", study, str(file), url=service.url)
    assert again.returncode == 2 and "already has a study 'to go': --force replaces it" in again.stderr
    taken(service, study, str(file), "--force")


def test_standard_output_with_json_is_json(service: Running, study: str, tmp_path: Path) -> None:
    assert json.loads(taken(service, study, "--json").stdout)["study"]["id"] == study
    for arguments in (["export", study, "--json", "--format", "csv"], ["report", study, "-", "--json"]):
        answer = run(*arguments, url=service.url)
        assert (answer.returncode, answer.stdout) == (2, "") and "with --json needs a FILE" in answer.stderr


def test_without_an_id_it_is_the_newest_study(
    service: Running, study: str, spec: dict[str, Any], tmp_path: Path
) -> None:
    newest, file = str(service.post("/api/studies", json=spec).json()["id"]), tmp_path / "newest.csv"
    assert newest in taken(service, str(file)).stdout and newest != study
    assert set(pd.read_csv(file)["study"]) == {newest}


def test_a_file_may_be_named_after_a_study(
    service: Running, study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    newest = service.get("/api/studies", limit=1).json()["studies"][0]["id"]
    for name in (f"{study}-trials.csv", f"my-{study}", "sABCDEF0123"):
        assert taken(service, name).stdout.startswith(f"{name}: csv of {newest}, ")
        assert (tmp_path / name).read_bytes().startswith(b"study,")


def test_what_cannot_be_written_is_refused_in_words(service: Running, study: str, tmp_path: Path) -> None:
    other = tmp_path / "notes.db"
    other.write_text("not a database")
    for arguments, words in (
        ([study, "--format", "parquet"], "needs a FILE"),
        ([study, "--format", "optuna"], "needs a FILE"),
        (["s0000000000"], "no study"),
        ([study, str(tmp_path / "nowhere" / "x.csv")], "cannot be written"),
        ([study, str(tmp_path / "nowhere" / "x.db")], "cannot be written"),
        ([study, str(other)], "not an SQLite database"),
        ([study, "--format", "xlsx"], "xlsx"),
    ):
        answer = run("export", *arguments, url=service.url)
        assert answer.returncode == 2 and words in " ".join(answer.stderr.split()), answer
    assert other.read_text() == "not a database"


def test_report_and_methods_are_commands(
    service: Running, study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    said = run("report", study, str(file), url=service.url)
    assert said.returncode == 0 and study in said.stdout and "<h1>to go</h1>" in file.read_text()
    assert run("report", study, "-", url=service.url).stdout == file.read_text()
    monkeypatch.chdir(tmp_path)
    said = run("report", study, "--json", url=service.url)
    own = tmp_path / f"report-{study}.html"
    expected = {"study": study, "file": own.name, "format": "report", "bytes": own.stat().st_size}
    assert json.loads(said.stdout) == expected and own.read_text() == file.read_text()
    assert run("report", study, str(tmp_path), url=service.url).returncode == 2
    printed = run("methods", study, url=service.url).stdout
    assert "Of 6 trials, 3 finished (1 of them collapsed" in printed and "@inproceedings{alemi2017deep," in printed
    assert "paragraph" in json.loads(run("methods", study, "--json", url=service.url).stdout)


def test_optuna_reads_the_study_as_it_was(service: Running, study: str, tmp_path: Path) -> None:
    file = tmp_path / "study.db"
    assert "5 trials, 1 never begun" in " ".join(taken(service, study, str(file)).stdout.split())
    with storage_of(file) as storage:
        loaded = optuna.load_study(study_name="to go", storage=storage)
        ours = service.get(f"/api/studies/{study}/trials").json()["trials"][0]
        _check_loaded(loaded, ours, {"study": study, **service.get(f"/api/studies/{study}/comparison").json()})


def _check_loaded(loaded: optuna.Study, ours: dict[str, Any], compared: dict[str, Any]) -> None:
    assert [direction.name for direction in loaded.directions] == ["MINIMIZE", "MAXIMIZE"]
    assert loaded.metric_names == ["i_xz_bits", "i_zy_bits"]
    first, second, third, fourth, fifth = loaded.trials
    assert first.values == [5.0, 1.0] and second.values == [4.0, 0.9]
    assert first.params == {"arm": "manual β", "weighting.name": "fixed", "weighting.beta": 0.001}
    assert fifth.params["arm"] == "MIB" and fifth.params["weighting.mu"] == 0.2
    assert first.distributions["weighting.beta"] == FloatDistribution(0.001, 0.1, log=True)
    assert (fourth.state, fourth.user_attrs["note"]) == (TrialState.FAIL, "loss became non-finite")
    assert (fifth.state, fifth.user_attrs["state"]) == (TrialState.COMPLETE, "stopped")
    assert first.user_attrs["learning_curve"]["accuracy"] == [None, 0.5] and first.user_attrs["seed"] == 0
    assert loaded.user_attrs["constants"]["problem.rate"] == "vib"
    assert loaded.user_attrs["paretoscope"] == {"version": paretoscope.__version__, "study": compared["study"]}
    assert loaded.user_attrs["verdict"] == compared["verdict"]
    assert loaded.user_attrs["reference_point"] == [axis["reference"] for axis in compared["objectives"]]
    begun = datetime.fromisoformat(ours["started_at"])
    assert first.datetime_start is not None and first.datetime_start.astimezone(UTC) == begun
    assert third.user_attrs["collapsed"] and third not in loaded.best_trials
    assert loaded.best_trials == [first, second, fifth]
    assert [trial for trial in loaded.trials if trial.user_attrs["on_front"]] == loaded.best_trials


def test_a_finished_trial_without_one_of_its_objectives_is_no_complete_one(
    service: Running, study: str, tmp_path: Path
) -> None:
    with Client(service.url) as client:
        whole = json.loads(client.study(study).export("json"))
    whole["trials"][0]["metrics"]["i_zy_bits"] = None
    del whole["trials"][1]["metrics"]["i_zy_bits"]
    write_storage(whole, tmp_path / "study.db", force=False)
    with storage_of(tmp_path / "study.db") as storage:
        null, absent, measured, *_ = optuna.load_study(study_name="to go", storage=storage).trials
    assert [trial.user_attrs["state"] for trial in (null, absent, measured)] == ["finished"] * 3
    assert [trial.state for trial in (null, absent)] == [TrialState.FAIL] * 2
    assert measured.state == TrialState.COMPLETE


def test_a_study_of_the_same_name_is_replaced_only_by_force(service: Running, study: str, tmp_path: Path) -> None:
    file = tmp_path / "study.db"
    with storage_of(file) as storage:
        optuna.create_study(storage=storage, study_name="somebody's")
    with Client(service.url) as client:
        whole = json.loads(client.study(study).export("json"))
    write_storage(whole, file, force=False)
    with pytest.raises(ClientError, match="already has a study 'to go': --force replaces it"):
        write_storage(whole, file, force=False)
    assert write_storage(whole, file, force=True) == (5, 1)
    with storage_of(file) as storage:
        assert optuna.get_all_study_names(storage) == ["somebody's", "to go"]


def test_the_dashboard_of_optuna_opens_it(service: Running, study: str, tmp_path: Path) -> None:
    import optuna_dashboard  # seconds, not for everyone who collects the tests

    taken(service, study, str(tmp_path / "study.db"))
    with storage_of(tmp_path / "study.db") as storage:
        application = httpx.WSGITransport(optuna_dashboard.wsgi(storage))
        with httpx.Client(transport=application, base_url="http://dashboard/api/studies") as dashboard:
            (summary,) = dashboard.get("").json()["study_summaries"]
            detail = dashboard.get(f"/{summary['study_id']}").json()
    assert summary["study_name"] == "to go" and summary["directions"] == ["minimize", "maximize"]
    assert [trial["state"] for trial in detail["trials"]] == ["Complete"] * 3 + ["Fail", "Complete"]
    assert [trial["constraints"] for trial in detail["trials"]] == [[0.0], [0.0], [1.0], [0.0], [0.0]]
    assert detail["objective_names"] == ["i_xz_bits", "i_zy_bits"]
    assert {space["name"] for space in detail["union_search_space"]} >= {"arm", "weighting.beta"}


def test_a_space_is_told_from_its_values() -> None:
    assert distribution_of([1, 8]) == IntDistribution(1, 8)
    assert distribution_of([0.1, 1.0]) == FloatDistribution(0.1, 1.0)
    assert distribution_of([1, 0.001]) == FloatDistribution(0.001, 1.0, log=True)
    assert distribution_of([0.0, 100.0]) == FloatDistribution(0.0, 100.0)
    assert distribution_of([True, False, True]) == CategoricalDistribution([True, False])
    assert distribution_of(["sum", 0.5]) == CategoricalDistribution(["sum", 0.5])


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("tokyo")
def test_times_are_those_of_the_wall_as_optuna_has_them() -> None:
    assert moment("2026-01-02T20:00:00+00:00") == datetime(2026, 1, 3, 5)


def test_settings_that_all_trials_share_are_told_once() -> None:
    trials = [{"config": {"rate": "vib", "beta": beta}} for beta in (0.1, 1.0)]
    assert constants(trials) == {"rate": "vib"} and constants([]) == {}
    assert curves([{"a": 1.0}, {"a": 2.0, "b": 3.0}]) == {"a": [1.0, 2.0], "b": [None, 3.0]}
