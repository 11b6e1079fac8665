"""`paretoscope pause`, `resume`, `extend`, `retry` and `delete`: what becomes of the study, and what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from frontends.cli.commands import points_of
from frontends.client import ClientError
from tests.frontends.cli.command_line import run
from tests.frontends.played import begin, send
from tests.processes import Running


def state_of(service: Running, study: str) -> str:
    return str(service.get(f"/api/studies/{study}").json()["state"])


def test_a_study_is_paused_and_resumed(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=False)
    paused = run("pause", study, url=service.url)
    assert paused.returncode == 0 and study in paused.stdout and state_of(service, study) == "paused"
    resumed = run("resume", study, "--json", url=service.url)
    assert resumed.returncode == 0 and json.loads(resumed.stdout)["state"] == state_of(service, study) != "paused"


def test_what_does_not_apply_is_an_error_that_names_the_state(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=True)
    for command in ("pause", "resume"):
        answer = run(command, study, url=service.url)
        assert answer.returncode != 0 and "finished" in answer.stderr


def test_a_study_is_extended_by_seeds_and_grid_points(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=True)
    before = service.get(f"/api/studies/{study}").json()["counts"]
    answer = run("extend", study, "--seed", "7", "--grid", "manual β:weighting.beta=0.5", url=service.url)
    assert answer.returncode == 0, answer.stderr
    after = service.get(f"/api/studies/{study}").json()["counts"]
    assert (before["planned"], after["planned"], after["finished"]) == (6, 12, 6)
    assert run("extend", study, "--grid", "no axis", url=service.url).returncode == 2


def test_more_points_are_read_as_they_are_meant() -> None:
    """An arm's name may have any sign in it; a number is one, a whole one stays whole."""
    read = points_of(["a: 1=2:weighting.beta=0.5, 2", "a: 1=2:model.latent=8", "b:weighting.name=mib,1e-3"])
    assert read == {
        "a: 1=2": {"weighting.beta": [0.5, 2], "model.latent": [8]},
        "b": {"weighting.name": ["mib", 0.001]},
    }
    assert [type(value) for value in read["a: 1=2"]["weighting.beta"]] == [float, int]


@pytest.mark.parametrize("text", ["weighting.beta=1", ":weighting.beta=1", "a:weighting.beta", "a:weighting.beta="])
def test_points_without_an_arm_or_a_value_are_refused_with_the_form(text: str) -> None:
    with pytest.raises(ClientError, match="--grid is 'ARM:weighting\\.beta=0\\.5,2', got"):
        points_of([text])


def test_failed_trials_are_retried(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=False)
    trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    failed = {"kind": "trial_failed", "trial": trial, "reason": "it broke"}
    send(service, study, failed, {"kind": "study_finished"})
    answer = run("retry", study, url=service.url)
    assert answer.returncode == 0, answer.stderr
    assert service.get(f"/api/studies/{study}").json()["counts"]["failed"] == 0


def test_a_study_is_deleted(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=True)
    answer = run("delete", study, "--json", url=service.url)
    assert json.loads(answer.stdout) == {"deleted": study}
    assert service.get(f"/api/studies/{study}").status_code == 404
