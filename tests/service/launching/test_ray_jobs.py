"""The Jobs client against answers as Ray 2.60 gives them; the real Ray is in tests/frontends/cli/test_local_ray.py."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from service.contract.wire.errors import Conflict, Unavailable
from service.launching.jobs import JobStatus
from service.launching.ray_jobs import RayJobs


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


@pytest.mark.parametrize(
    "body", ["{}", "[]", '{"status": {}, "stopped": "perhaps", "deleted": 7, "logs": null}', "<html>"]
)
def test_an_answer_that_says_something_else_is_unavailable(body: str) -> None:
    """Of another Ray, or of a proxy before it."""
    jobs = client(200, body)
    with pytest.raises(Unavailable, match=r"could not tell the status of s1 \(200\)"):
        jobs.status("s1")
    with pytest.raises(Unavailable, match=r"could not stop s1 \(200\)"):
        jobs.stop("s1")
    with pytest.raises(Unavailable, match=r"could not delete s1 \(200\)"):
        jobs.delete("s1")
    with pytest.raises(Unavailable, match=r"could not give the logs of s1 \(200\)"):
        jobs.logs("s1")
    if body != "[]":  # there are none
        with pytest.raises(Unavailable, match=r"could not list its jobs \(200\)"):
            jobs.live()


def test_nobody_there_is_unavailable() -> None:
    with RayJobs("http://127.0.0.1:9") as jobs:
        assert not jobs.alive()
        with pytest.raises(Unavailable, match=r"Ray at http://127\.0\.0\.1:9 cannot be reached"):
            jobs.status("s1")


@pytest.mark.parametrize(
    "trouble", [httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.ReadError, httpx.ConnectTimeout]
)
def test_a_ray_that_is_slow_or_breaks_off_is_unavailable(trouble: type[httpx.TransportError]) -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        raise trouble("too slow", request=request)

    with RayJobs("http://ray:8265", transport=httpx.MockTransport(broken)) as jobs:
        assert not jobs.alive()
        with pytest.raises(Unavailable, match=r"Ray at http://ray:8265 cannot be reached: too slow"):
            jobs.status("s1")


def test_the_client_loads_no_ray() -> None:
    code = "import sys, service.launching.ray_jobs; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_live_jobs_are_those_of_ours_that_have_not_ended() -> None:
    listed = [
        {"submission_id": "s1", "status": "RUNNING"},
        {"submission_id": "s2", "status": "PENDING"},
        *({"submission_id": f"e-{status}", "status": status} for status in ("STOPPED", "SUCCEEDED", "FAILED")),
        {"submission_id": None, "status": "RUNNING"},  # started by a driver of its own, without the Jobs API
    ]
    assert client(200, json.dumps(listed)).live() == {"s1", "s2"}
    with pytest.raises(Unavailable, match="could not list its jobs"):
        client(500, "no agent").live()


@pytest.mark.parametrize(("status", "alive"), [(200, True), (401, False), (403, False), (500, False)])
def test_ray_is_alive_when_it_takes_our_token(status: int, alive: bool) -> None:
    seen: list[httpx.Request] = []
    assert client(status, "{}", seen).alive() is alive
    assert [(r.method, r.url.path, r.headers["Authorization"]) for r in seen] == [
        ("GET", "/api/version", "Bearer secret")
    ]


def test_stopping_and_deleting_ask_for_just_that() -> None:
    seen: list[httpx.Request] = []
    assert client(200, '{"stopped": true}', seen).stop("s1") is True
    assert client(200, '{"stopped": false}', seen).stop("s1") is False
    assert client(200, '{"deleted": true}', seen).delete("s1") is True
    assert [(r.method, r.url.path) for r in seen] == [
        ("POST", "/api/jobs/s1/stop"),
        ("POST", "/api/jobs/s1/stop"),
        ("DELETE", "/api/jobs/s1"),
    ]
    with pytest.raises(Conflict, match="job s1 still runs"):
        client(500, "ValueError: the job is not in a terminal state").delete("s1")


def test_a_refused_submission_is_unavailable_not_taken() -> None:
    with pytest.raises(Unavailable, match=r"could not submit s1 \(500\): no agent"):
        client(500, "no agent").submit("s1", "true")


def test_without_a_token_no_header_is_sent() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, text="{}")

    RayJobs("http://ray:8265", transport=httpx.MockTransport(answer)).alive()
    assert "Authorization" not in seen[0].headers


class Answering(BaseHTTPRequestHandler):
    """A Ray that is alive."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_proxy_of_the_environment_never_sees_our_token(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with HTTPServer(("127.0.0.1", 0), Answering) as ray:
        thread = threading.Thread(target=ray.handle_request, daemon=True)
        thread.start()
        with RayJobs(f"http://127.0.0.1:{ray.server_port}", "secret") as jobs:
            assert jobs.alive()
        thread.join(timeout=10)


def test_waiting_for_ray_has_an_end_and_asking_for_life_a_sooner_one() -> None:
    seen: list[httpx.Request] = []
    client(200, "{}", seen).alive()
    client(404, "", seen).status("s1")
    assert seen[0].extensions["timeout"] == dict.fromkeys(("connect", "read", "write", "pool"), 3.0)
    assert seen[1].extensions["timeout"] == {"connect": 3.0, "read": 30.0, "write": 30.0, "pool": 30.0}


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_is_not_an_unknown_job(status: int) -> None:
    jobs = client(status, "{}")
    for ask in (lambda: jobs.status("s1"), jobs.live, lambda: jobs.submit("s1", "true"), lambda: jobs.logs("s1")):
        with pytest.raises(Unavailable, match=rf"refuses our token \({status}\)"):
            ask()


def test_a_job_without_an_environment_has_none_and_a_message_may_be_missing() -> None:
    seen: list[httpx.Request] = []
    client(200, "{}", seen).submit("s1", "true")
    assert json.loads(seen[0].content)["runtime_env"] == {}
    assert client(200, '{"status": "FAILED", "message": null}').status("s1") == JobStatus("FAILED", None)


def test_lines_of_a_log_are_as_many_as_asked_for() -> None:
    jobs = client(200, json.dumps({"logs": "\n".join(map(str, range(60)))}))
    assert jobs.logs("s1").splitlines() == [str(i) for i in range(10, 60)]
    assert jobs.logs("s1", tail=0) == ""


def test_what_ray_said_last_is_told_and_cut() -> None:
    for body, told in (("", "nothing"), ("x" * 600, "x" * 500), ("[1]", r"\[1\]")):
        with pytest.raises(Unavailable, match=rf"could not stop s1 \(200\): {told}$"):
            client(200, body).stop("s1")
