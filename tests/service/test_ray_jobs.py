"""The Jobs client against answers as Ray 2.60 gives them; the real Ray is in tests/frontends/test_local_ray.py."""

from __future__ import annotations

import json
import subprocess
import sys

import httpx
import pytest

from service.contract.errors import Conflict, Unavailable
from service.ray_jobs import JobStatus, RayJobs


def client(status: int, body: str, seen: list[httpx.Request] | None = None) -> RayJobs:
    def answer(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        return httpx.Response(status, text=body)

    return RayJobs("http://ray:8265/", "secret", transport=httpx.MockTransport(answer))


def test_submit_sends_the_job_and_the_token() -> None:
    seen: list[httpx.Request] = []
    client(200, '{"job_id": "s1", "submission_id": "s1"}', seen).submit("s1", "python -m x", {"A": "1"})
    [request] = seen
    assert str(request.url) == "http://ray:8265/api/jobs/"
    assert request.headers["Authorization"] == "Bearer secret"
    assert json.loads(request.content) == {
        "submission_id": "s1",
        "entrypoint": "python -m x",
        "runtime_env": {"env_vars": {"A": "1"}},
    }


def test_a_taken_submission_id_is_a_conflict() -> None:
    text = "Traceback …\nValueError: Job with submission_id s1 already exists. Please use a different submission_id."
    with pytest.raises(Conflict, match="already has a job s1"):
        client(500, text).submit("s1", "true")


def test_status_of_a_known_and_of_an_unknown_job() -> None:
    assert client(200, '{"status": "RUNNING", "message": "runs"}').status("s1") == JobStatus("RUNNING", "runs")
    assert client(404, "Job s1 does not exist").status("s1") is None


@pytest.mark.parametrize(
    ("status", "ended"),
    [("PENDING", False), ("RUNNING", False), ("STOPPED", True), ("SUCCEEDED", True), ("FAILED", True)],
)
def test_which_states_are_the_end(status: str, ended: bool) -> None:
    assert JobStatus(status, None).is_ended() is ended


def test_stop_delete_and_logs_of_an_unknown_job_do_nothing() -> None:
    jobs = client(404, "Job s1 does not exist")
    assert (jobs.stop("s1"), jobs.delete("s1"), jobs.logs("s1")) == (False, False, "")


def test_logs_are_cut_to_their_end() -> None:
    assert client(200, json.dumps({"logs": "a\nb\nc\n"})).logs("s1", tail=2) == "b\nc"


def test_ids_cannot_leave_their_path() -> None:
    seen: list[httpx.Request] = []
    client(404, "", seen).status("../version?x")
    assert seen[0].url.raw_path == b"/api/jobs/..%2Fversion%3Fx"


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, "Unauthorized", r"Ray at http://ray:8265 refuses our token \(401\)"),
        (
            500,
            "Traceback\nRuntimeError: no agent",
            r"Ray at http://ray:8265 could not stop s1 \(500\): RuntimeError: no agent",
        ),
        (200, "<html>", r"Ray at http://ray:8265 could not stop s1 \(200\)"),
    ],
)
def test_trouble_is_unavailable_and_names_the_address(status: int, body: str, message: str) -> None:
    with pytest.raises(Unavailable, match=message):
        client(status, body).stop("s1")


def test_nobody_there_is_unavailable() -> None:
    with RayJobs("http://127.0.0.1:9") as jobs:
        assert not jobs.alive()
        with pytest.raises(Unavailable, match=r"Ray at http://127\.0\.0\.1:9 cannot be reached"):
            jobs.status("s1")


def test_the_client_loads_no_ray() -> None:
    code = "import sys, service.ray_jobs; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
