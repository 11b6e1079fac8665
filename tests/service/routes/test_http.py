"""The public face over real HTTP, without Ray: drivers are played by posting events."""

from __future__ import annotations

import json
from typing import Any

import httpx
import plotly.graph_objects as go
import pytest

from service.figures import FIGURES
from tests.processes import Running, service_alone, short_home


def submit(service: Running, spec: dict[str, Any], **headers: str) -> dict[str, Any]:
    answer = service.post("/api/studies", json=spec, headers=headers)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def send(service: Running, study: str, *events: dict[str, Any]) -> httpx.Response:
    return service.post(f"/api/studies/{study}/reports", json={"events": list(events)})


def played(service: Running, spec: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """A study that ran: every trial reports two epochs and finishes."""
    study = submit(service, spec)["id"]
    trials = service.get(f"/api/studies/{study}/trials").json()["trials"]
    events: list[dict[str, Any]] = [{"uid": "go", "kind": "study_started"}]
    for i, trial in enumerate(trials):
        tid = trial["id"]
        events.append({"uid": f"{tid}:started", "kind": "trial_started", "trial": tid})
        for epoch in (1, 2):
            metrics = {
                "epoch": epoch,
                "seconds": epoch,
                "i_xz_bits": 10.0 - i,
                "i_zy_bits": 3.0 - i / 10,
                "accuracy": 0.9,
            }
            events.append({"uid": f"{tid}:{epoch}", "kind": "report", "trial": tid, "metrics": metrics})
        events.append({"uid": f"{tid}:finished", "kind": "trial_finished", "trial": tid})
    events.append({"uid": "end", "kind": "study_finished"})
    assert send(service, study, *events).json() == {"accepted": len(events), "duplicates": 0}
    return study, trials


def stream(service: Running, study: str, **headers: str) -> list[dict[str, Any]]:
    answer = httpx.get(f"{service.url}/api/studies/{study}/events", headers=headers, timeout=30, trust_env=False)
    lines = answer.text.splitlines()
    ids = [int(line[4:]) for line in lines if line.startswith("id: ")]
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert ids == [event["seq"] for event in events]
    return events


def test_a_study_goes_from_queued_to_finished(service: Running, spec: dict[str, Any]) -> None:
    queued = submit(service, spec)
    assert (queued["state"], queued["counts"]["planned"], queued["progress"]) == ("queued", 6, 0.0)
    study, _ = played(service, spec)
    answer = service.get(f"/api/studies/{study}").json()
    assert answer["state"] == "finished" and answer["progress"] == 1.0
    assert answer["counts"] | {} == {
        "planned": 6,
        "running": 0,
        "finished": 6,
        "failed": 0,
        "stopped": 0,
        "collapsed": 0,
    }
    assert answer["spec"]["arms"][0]["weighting"]["beta"] == {"grid": [0.001, 0.1]}
    assert [arm["name"] for arm in answer["arms"]] == ["manual β", "MIB"]
    listed = service.get("/api/studies", limit=1000).json()["studies"]
    assert study in [s["id"] for s in listed] and "spec" not in listed[0]


def test_the_front_and_the_comparison_agree_with_the_trials(service: Running, spec: dict[str, Any]) -> None:
    study, trials = played(service, spec)
    front = service.get(f"/api/studies/{study}/front").json()
    assert (front["x"], front["y"], front["goals"]) == ("i_xz_bits", "i_zy_bits", ["minimize", "maximize"])
    assert {p["trial"] for p in front["points"]} == {t["id"] for t in trials}  # a staircase: all non-dominated
    assert front["hypervolume"] >= max(arm["hypervolume"] for arm in front["arms"]) > 0
    on_front = service.get(f"/api/studies/{study}/trials", front="true", arm="MIB").json()["trials"]
    assert len(on_front) == 2 and all(t["on_front"] for t in on_front)
    comparison = service.get(f"/api/studies/{study}/comparison").json()
    # Of 76.8 and 77.1 in the two seeds, the grid alone attains 9.2 and 9.6, MIB alone 5.2 and 5.0.
    assert [arm["front_share"] for arm in comparison["arms"]] == pytest.approx(
        [(9.2 / 76.8 + 9.6 / 77.1) / 2, (5.2 / 76.8 + 5.0 / 77.1) / 2]
    )
    assert [arm["training_seconds"] for arm in comparison["arms"]] == [8.0, 4.0]


def test_trials_can_be_sorted_filtered_and_paged(service: Running, spec: dict[str, Any]) -> None:
    study, trials = played(service, spec)
    path = f"/api/studies/{study}/trials"
    by_rate = service.get(path, sort="i_xz_bits").json()["trials"]
    assert [t["metrics"]["i_xz_bits"] for t in by_rate] == [5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    assert service.get(path, sort="-i_xz_bits").json()["trials"] == by_rate[::-1]
    first = service.get(path, limit=4).json()
    rest = service.get(path, limit=4, after=first["next"]).json()
    assert [t["id"] for t in first["trials"] + rest["trials"]] == [t["id"] for t in trials] and rest["next"] is None
    one = service.get(f"{path}/{trials[0]['id']}").json()
    assert [r["epoch"] for r in one["reports"]] == [1, 2] and one["config"]["weighting.beta"] == 0.001
    assert service.get(path, sort="colour").status_code == 422
    assert service.get(path, state="planned").json()["trials"] == []


def test_every_figure_is_valid_plotly(service: Running, spec: dict[str, Any]) -> None:
    figures = service.get("/api/figures").json()["figures"]
    assert len(figures) == len(FIGURES) > 15
    for study in (submit(service, spec)["id"], played(service, spec)[0]):
        for figure in figures:
            drawn = service.get(f"/api/studies/{study}/figures/{figure['name']}").json()
            go.Figure(drawn)
            flat = any(key.startswith("xaxis") for key in drawn["layout"])
            assert flat or {trace["type"] for trace in drawn["data"]} <= {"parcoords", "scatter3d"}
            named = not flat or drawn["layout"]["xaxis"]["title"]["text"] or "xaxis2" in drawn["layout"]
            assert named, "an axis has a name"


def test_a_front_known_by_formula_is_drawn(service: Running, spec: dict[str, Any]) -> None:
    gaussian = submit(service, {**spec, "data": {"name": "gaussian"}})["id"]
    for study, known in ((gaussian, True), (submit(service, spec)["id"], False)):
        for figure in ("information-plane", "pareto-front"):
            traces = service.get(f"/api/studies/{study}/figures/{figure}").json()["data"]
            assert any(trace["name"] == "exact curve" for trace in traces) is known


def test_the_stream_shows_every_event_once_from_anywhere(service: Running, spec: dict[str, Any]) -> None:
    study, _ = played(service, spec)
    events = stream(service, study)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["kind"], events[-1]["kind"]) == ("study_queued", "study_finished")
    assert stream(service, study, **{"Last-Event-ID": "5"}) == events[5:]
    assert stream(service, study, **{"Last-Event-ID": str(len(events))}) == []
    address = f"{service.url}/api/studies/{study}/events"
    both = httpx.get(address, params={"after": 2}, headers={"Last-Event-ID": "5"}, timeout=30, trust_env=False)
    assert both.text.count("\ndata: ") == len(events) - 5, "a stream that broke goes on where it broke"
    alone = httpx.get(address, params={"after": 2}, timeout=30, trust_env=False)
    assert alone.text.count("\ndata: ") == len(events) - 2
    bad = httpx.get(f"{service.url}/api/studies/{study}/events", headers={"Last-Event-ID": "x"}, trust_env=False)
    assert bad.status_code == 422


def test_a_report_sent_twice_changes_nothing(service: Running, spec: dict[str, Any]) -> None:
    study = submit(service, spec)["id"]
    trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    event = {"uid": "a", "kind": "report", "trial": trial, "metrics": {"epoch": 1, "accuracy": None}}
    send(service, study, {"uid": "go", "kind": "study_started"}).raise_for_status()
    assert send(service, study, event).json() == {"accepted": 1, "duplicates": 0}
    assert send(service, study, event, event).json() == {"accepted": 0, "duplicates": 2}
    assert send(service, study, {**event, "uid": "b", "trial": "nope"}).status_code == 422


def test_an_idempotency_key_makes_a_retry_safe(service: Running, spec: dict[str, Any]) -> None:
    key = {"Idempotency-Key": "one"}
    assert submit(service, spec, **key)["id"] == submit(service, spec, **key)["id"]
    assert service.post("/api/studies", json={**spec, "name": "b"}, headers=key).status_code == 409


def test_cancel_and_delete_follow_the_state(service: Running, spec: dict[str, Any]) -> None:
    study = submit(service, spec)["id"]
    assert service.post(f"/api/studies/{study}/cancel").json()["state"] == "cancelled"
    again = service.post(f"/api/studies/{study}/cancel")
    assert again.status_code == 409 and again.json()["error"]["details"] == [{"path": "state", "message": "cancelled"}]
    assert httpx.delete(f"{service.url}/api/studies/{study}", trust_env=False).status_code == 204
    assert service.get(f"/api/studies/{study}").status_code == 404


BAD = [
    (b"{", "application/json", 422),
    (b"", "application/json", 422),
    (b"\xff\xfe", "application/json", 422),
    (b"[1, 2]", "application/json", 422),
    (b'{"name": "x", "arms": [{"name": "a", "weighting": {"name": "fixed", "beta": NaN}}]}', "application/json", 422),
    (b"name: [", "application/yaml", 422),
    (b"{" * 100_000, "application/json", 422),
    (b"[" * 100_000, "application/yaml", 422),
    (b" " * 5_000_000, "application/json", 413),
]


@pytest.mark.parametrize(("body", "kind", "status"), BAD, ids=[f"{len(b)} bytes {b[:8]!r}" for b, _, _ in BAD])
def test_bad_bodies_get_the_error_shape(service: Running, body: bytes, kind: str, status: int) -> None:
    answer = service.post("/api/studies", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "details"} and error["message"]


def test_a_body_that_hides_its_size_is_cut_too(service: Running) -> None:
    def chunks() -> Any:
        for _ in range(50):
            yield b" " * 100_000

    answer = service.post("/api/studies", content=chunks(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413 and answer.json()["error"]["code"] == "too_large"


def test_a_study_can_be_checked_without_being_submitted(service: Running, spec: dict[str, Any]) -> None:
    before = len(service.get("/api/studies", limit=1000).json()["studies"])
    good = service.post("/api/studies/check", json=spec).json()
    assert (good["valid"], good["trials"], good["spec"]) == (True, 6, spec)
    assert [(arm["name"], arm["trials"]) for arm in good["arms"]] == [("manual β", 4), ("MIB", 2)]
    bad = service.post("/api/studies/check", json={**spec, "seeds": []}).json()
    assert bad["valid"] is False and bad["error"]["details"][0]["path"] == "seeds"
    assert bad["spec"] == {**spec, "seeds": []}, "what was written comes back, though it breaks a rule"
    assert len(service.get("/api/studies", limit=1000).json()["studies"]) == before


def test_a_front_of_any_two_metrics_has_a_hypervolume_only_where_a_reference_is_known(
    service: Running, spec: dict[str, Any]
) -> None:
    study, _ = played(service, spec)
    front = service.get(f"/api/studies/{study}/front", x="seconds", y="accuracy").json()
    assert front["points"] and front["hypervolume"] is None and front["reference_point"] == [None, 0.0]
    assert service.get(f"/api/studies/{study}/front", x="colour").status_code == 422


def test_unknown_things_get_the_error_shape(service: Running) -> None:
    for path in (
        "/api/studies/nope",
        "/api/studies/nope/trials",
        "/api/nope",
        "/assets/nope.js",
        "/api/studies/nope/events",
    ):
        answer = service.get(path)
        assert answer.status_code == 404 and answer.json()["error"]["code"] == "not_found", path
    assert service.post("/api/catalog").json()["error"]["code"] == "method_not_allowed"
    assert service.get("/assets/..%2f..%2fclient.py").status_code == 404


def test_the_catalog_documents_every_name_and_default(service: Running) -> None:
    catalog = service.get("/api/catalog").json()
    weightings = {w["name"]: w["schema"]["properties"] for w in catalog["weightings"]}
    assert {"fixed", "uniform", "target-rate", "mib", "mgda", "stch"} <= set(weightings)
    mib = weightings["mib"]
    assert mib["mu"]["default"] == 0.2 and mib["normalize"]["description"]
    assert {"data", "models", "problems", "rates", "searches", "attacks", "estimators", "figures"} <= set(catalog)
    schemas = service.get("/openapi.json").json()["components"]["schemas"]
    assert {"Study", "Fixed", "Mib", "Mlp", "Digits", "Training"} <= set(schemas)
    page = service.get("/docs").text
    assert "swagger" in page and "//" not in page.replace(service.url, "").split("<script>")[0]


def test_without_ray_the_service_is_alive_but_not_ready(service: Running) -> None:
    assert service.get("/healthz").status_code == 200
    answer = service.get("/readyz")
    assert answer.status_code == 503 and "PARETOSCOPE_RAY_URL" in answer.json()["error"]["message"]


def test_a_token_guards_the_api_and_nothing_else(spec: dict[str, Any]) -> None:
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="secret-of-the-owner") as running:
        assert running.get("/healthz").status_code == running.get("/").status_code == 200
        assert running.get("/api/studies").status_code == 401
        for headers in (
            {"Authorization": "Bearer secret-of-the-owner"},
            {"Cookie": "paretoscope_token=secret-of-the-owner"},
        ):
            answer = httpx.get(f"{running.url}/api/studies", headers=headers, trust_env=False)
            assert answer.status_code == 200
        wrong = httpx.get(f"{running.url}/api/studies", headers={"Authorization": "Bearer x"}, trust_env=False)
        assert wrong.status_code == 401


def test_a_restarted_service_tells_the_same_story(spec: dict[str, Any]) -> None:
    with short_home() as home:
        with service_alone(home) as running:
            study, _ = played(running, spec)
            before = running.get(f"/api/studies/{study}").json(), running.get(f"/api/studies/{study}/front").json()
            running.process.kill()
        with service_alone(home) as running:
            after = running.get(f"/api/studies/{study}").json(), running.get(f"/api/studies/{study}/front").json()
    assert before == after


def test_no_error_left_a_traceback_in_the_log(service: Running) -> None:
    """Runs after the bad requests above, on the same service."""
    assert "Traceback" not in service.log()


def test_a_figure_is_new_after_every_event(service: Running, spec: dict[str, Any]) -> None:
    """It is kept for as long as the log stays as it is."""
    study = submit(service, spec)["id"]
    trials = service.get(f"/api/studies/{study}/trials").json()["trials"]
    path = f"/api/studies/{study}/figures/pareto-front"

    def points() -> int:
        return sum(len(trace.get("customdata", [])) for trace in service.get(path).json()["data"])

    send(service, study, {"uid": "start", "kind": "study_started"})
    for i, trial in enumerate(trials[:3], 1):
        metrics = {"epoch": 1, "i_xz_bits": float(i), "i_zy_bits": 1.0}
        send(service, study, {"uid": f"r{i}", "kind": "report", "trial": trial["id"], "metrics": metrics})
        assert (points(), points()) == (i, i)
