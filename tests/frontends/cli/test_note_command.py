"""`paretoscope note`: names, notes and tags from the command line and the client."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from frontends.client import Client
from tests.frontends.cli.command_line import run
from tests.frontends.played import begin
from tests.processes import Running


def test_a_study_is_renamed_noted_tagged_and_found_again(
    service: Running, spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = begin(service, spec, end=True)
    said = run("note", study, "--name", "table 3", "--tag", "paper", "--tag", "old", "--pin", url=service.url)
    assert said.returncode == 0 and said.stdout == f"{study} updated, tagged paper, old.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("# Why\n"))
    answer = run("note", study, "--notes", "-", "--untag", "old", "--json", url=service.url)
    noted = json.loads(answer.stdout)
    assert (noted["name"], noted["notes"], noted["tags"], noted["pinned"]) == ("table 3", "# Why\n", ["paper"], True)
    found = json.loads(run("list", "--tag", "paper", "--text", "why", "--json", url=service.url).stdout)
    assert [each["id"] for each in found] == [study]
    assert run("note", study, "--archive", url=service.url).returncode == 0
    assert run("list", "--tag", "paper", url=service.url).stdout == "No study matches.\n"
    assert "table 3" in run("list", "--archived", url=service.url).stdout


def test_a_trial_has_notes_and_nothing_else(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=True)
    with Client(service.url) as client:
        trial = client.study(study).trials(limit=1)[0]["id"]
    assert run("note", study, "--trial", trial, "--notes", "odd", "--tag", "outlier", url=service.url).returncode == 0
    with Client(service.url) as client:
        shown = client.study(study).trial(trial)
        assert (shown["notes"], shown["tags"]) == ("odd", ["outlier"])
        assert client.study(study).note_trial(trial, tags=())["notes"] == "odd"
        assert "tags" not in client.study(study).trial(trial)
    assert run("note", study, "--trial", trial, "--pin", url=service.url).returncode == 2


def test_nothing_to_change_is_bad_input(service: Running, spec: dict[str, Any]) -> None:
    said = run("note", begin(service, spec, end=True), url=service.url)
    assert said.returncode == 2 and "nothing to change" in said.stderr
