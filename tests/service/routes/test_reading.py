"""What routes answer, by value: times, places, pages, headers, each told from what stands beside it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import datetime
from typing import Any

import pytest

from tests.processes import short_home
from tests.service.bench import Bench

ARMS = [
    {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.4]}}},
    {"name": "MIB", "weighting": {"name": "mib"}},
]


def error(answer: Any) -> tuple[int, str, list[str]]:
    body = answer.json()["error"]
    assert set(body) == {"code", "message", "details"} and body["message"]
    return answer.status_code, body["code"], [detail["path"] for detail in body["details"]]


def report(trial: str, epoch: int, **metrics: float | None) -> dict[str, Any]:
    return {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": {"epoch": epoch, **metrics}}


def at(bench: Bench, study: str, kind: str, trial: str | None = None) -> str:
    """When it happened, as the log has it."""
    return next(str(e["at"]) for e in bench.events(study) if e["kind"] == kind and e.get("trial") == trial)


# Studies


def test_times_of_a_study_are_those_of_its_events(bench: Bench) -> None:
    study = bench.submit()
    queued = bench.read(study)
    assert (queued["started_at"], queued["ended_at"]) == (None, None)
    bench.report(study, {"uid": "go", "kind": "study_started"})
    running = bench.read(study)
    assert (running["started_at"], running["ended_at"]) == (at(bench, study, "study_started"), None)
    bench.finish(study)
    ended = bench.read(study)
    times = [at(bench, study, kind) for kind in ("study_started", "study_finished")]
    assert [ended["started_at"], ended["ended_at"]] == times
    assert datetime.fromisoformat(ended["created_at"]) <= datetime.fromisoformat(times[0])
    assert len({ended["created_at"], *times}) == 3
    assert ended["last_seq"] == 3


def test_a_submitted_study_says_where_it_is(bench: Bench) -> None:
    spec = {"name": "here", "seeds": [0], "arms": ARMS}
    answer = bench.ask("POST", "/api/studies", json=spec)
    study = answer.json()
    assert answer.headers["location"] == f"/api/studies/{study['id']}"
    assert "figures" not in study and "queue_position" not in study
    assert study["metrics"] and study["spec"]["arms"][0]["name"] == "grid"


def test_studies_are_listed_newest_first_page_by_page() -> None:
    with short_home() as home:
        bench = Bench(home)
        made = [bench.submit(name=f"study {i}") for i in range(5)]
        bench.cancel(made[1])

        def listed(**query: Any) -> tuple[list[str], str | None]:
            page = bench.get("/api/studies", **query)
            assert set(page) == {"studies", "next"}
            return [study["id"] for study in page["studies"]], page["next"]

        assert listed() == (made[::-1], None)
        assert listed(limit=2) == ([made[4], made[3]], made[3])
        assert listed(limit=2, after=made[3]) == ([made[2], made[1]], made[1])
        assert listed(limit=2, after=made[1]) == ([made[0]], None)
        assert listed(limit=5) == (made[::-1], None), "nothing follows a page that is just full"
        assert listed(state="cancelled") == ([made[1]], None)
        assert listed(after="nope") == ([], None)
        assert listed(state="queued", limit=3, after=made[3]) == ([made[2], made[0]], None)
        summary = bench.get("/api/studies", limit=1)["studies"][0]
        assert not {"spec", "metrics", "figures", "queue_position"} & set(summary)
        bench.delete(made[4])
        assert listed()[0] == made[3::-1]
        bench.close()


def test_a_place_in_the_queue_is_shown_only_while_it_waits() -> None:
    with short_home() as home:
        bench = Bench(home)
        first, second, third = (bench.submit(name=name) for name in "abc")
        assert [bench.read(study)["queue_position"] for study in (first, second, third)] == [1, 2, 3]
        bench.cancel(first)
        assert bench.read(second)["queue_position"] == 1
        assert "queue_position" not in bench.read(first)
        bench.report(second, {"uid": "go", "kind": "study_started"})
        assert "queue_position" not in bench.read(second)
        bench.close()


def test_a_new_study_and_an_ended_one_wake_the_launcher(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would see both at its next tick, ten seconds later."""
    woken: list[str] = []
    monkeypatch.setattr(bench.launcher, "wake", lambda: woken.append("woken"))
    study = bench.submit()
    assert woken == ["woken"]
    bench.report(study, {"uid": "go", "kind": "study_started"})
    bench.report(study, report(bench.trials(study)[0], 1))
    assert woken == ["woken"], "what trials say does not concern it"
    bench.finish(study)
    assert woken == ["woken"] * 2


def test_a_deleted_study_is_gone_from_every_answer(bench: Bench) -> None:
    study = bench.submit()
    trial = bench.trials(study)[0]
    path = f"/api/studies/{study}/trials/{trial}/artifacts/checkpoint.safetensors"
    assert bench.ask("PUT", path, content=b"weights").status_code == 204
    bench.report(study, {"uid": "go", "kind": "study_started"})
    assert error(bench.delete(study))[:2] == (409, "conflict")
    bench.cancel(study)
    assert bench.delete(study).status_code == 204
    for gone in (f"/api/studies/{study}", f"/api/studies/{study}/trials", f"/api/studies/{study}/events", path):
        assert error(bench.ask("GET", gone)) == (404, "not_found", [])
    assert study not in [each["id"] for each in bench.get("/api/studies", limit=1000)["studies"]]
    assert not (bench.settings.home / "artifacts" / study).exists()
    assert error(bench.delete(study))[:2] == (404, "not_found")


# Trials


def test_what_a_trial_reports_comes_back_with_its_nulls(bench: Bench) -> None:
    study = bench.submit()
    trial = bench.trials(study)[0]
    bench.report(study, {"uid": "s", "kind": "trial_started", "trial": trial, "host": "box", "arm": "another's"})
    bench.report(study, report(trial, 1, accuracy=0.5, loss_pred=2.0, seconds=1.5))
    bench.report(study, report(trial, 2, accuracy=None, seconds=3.0))
    answer = bench.get(f"/api/studies/{study}/trials/{trial}")
    assert answer["reports"] == [
        {"epoch": 1, "accuracy": 0.5, "loss_pred": 2.0, "seconds": 1.5},
        {"epoch": 2, "accuracy": None, "seconds": 3.0},
    ]
    assert answer["metrics"] == {"epoch": 2, "accuracy": None, "loss_pred": 2.0, "seconds": 3.0}
    assert (answer["training_seconds"], answer["host"], answer["arm"]) == (3.0, "box", "a")
    assert {event["arm"] for event in bench.events(study) if "trial" in event} == {"a"}, "the study knows whose it is"


def test_times_of_a_trial_are_those_of_its_events(bench: Bench) -> None:
    study = bench.submit()
    first, second = bench.trials(study)
    bench.report(study, {"uid": "s", "kind": "trial_started", "trial": first})
    bench.report(study, {"uid": "f", "kind": "trial_failed", "trial": first, "reason": "it broke", "log": ["last"]})
    rows = {row["id"]: row for row in bench.get(f"/api/studies/{study}/trials")["trials"]}
    times = [at(bench, study, kind, first) for kind in ("trial_started", "trial_failed")]
    assert [rows[first]["started_at"], rows[first]["ended_at"]] == times and times[0] != times[1]
    assert (rows[first]["state"], rows[first]["reason"]) == ("failed", "it broke")
    assert [rows[second][key] for key in ("started_at", "ended_at", "reason", "host", "training_seconds")] == [None] * 5
    assert bench.get(f"/api/studies/{study}/trials/{first}")["log"] == ["last"]


def test_trials_come_page_by_page_and_as_they_were_asked_for(bench: Bench) -> None:
    study = bench.submit(seeds=[0, 1], arms=ARMS, training={"epochs": 1})
    path, trials = f"/api/studies/{study}/trials", bench.trials(study)
    for i, trial in enumerate(trials[:4]):
        bench.report(study, report(trial, 1, i_xz_bits=[5.0, 1.0, 3.0, 9.0][i], i_zy_bits=[2.0, 1.0, 1.5, 1.0][i]))

    def asked(**query: Any) -> tuple[list[int], str | None, int]:
        page = bench.get(path, **query)
        return [trials.index(row["id"]) for row in page["trials"]], page["next"], page["total"]

    assert asked() == (list(range(8)), None, 8)
    assert asked(limit=3) == ([0, 1, 2], trials[2], 8)
    assert asked(limit=3, after=trials[2]) == ([3, 4, 5], trials[5], 8)
    assert asked(limit=3, after=trials[5]) == ([6, 7], None, 8)
    assert asked(limit=8) == (list(range(8)), None, 8)
    assert asked(sort="i_xz_bits", limit=2) == ([1, 2], trials[2], 8)
    assert asked(sort="i_xz_bits", limit=2, after=trials[2]) == ([0, 3], trials[3], 8)
    assert asked(front=True) == ([0, 1, 2], None, 3)
    assert asked(front=False, state="running") == ([3], None, 1)
    assert asked(arm="MIB") == ([6, 7], None, 2)
    assert asked(state="planned") == ([4, 5, 6, 7], None, 4)
    assert asked(collapsed=True) == ([], None, 0)
    assert asked(trial=[trials[5], trials[2]]) == ([2, 5], None, 2)
    assert asked(where="i_xz_bits > 2, seed = 0") == ([0, 2], None, 2)
    assert [row["on_front"] for row in bench.get(path)["trials"]] == [True] * 3 + [False] * 5
    assert bench.get(path, limit=1)["columns"]["varied"] == ["weighting.beta"]
    assert bench.get(path, limit=1)["selection"] == "test", "nothing of the held-out split was reported"
    for query, place in (({"after": "nope"}, "after"), ({"sort": "nope"}, "sort"), ({"where": "nope"}, "where")):
        assert error(bench.ask("GET", path, params=query)) == (422, "invalid_input", [place])


def test_a_front_has_its_axes_the_right_way_round(bench: Bench) -> None:
    study = bench.submit()
    first, second = bench.trials(study)
    bench.report(study, report(first, 1, i_xz_bits=4.0, i_zy_bits=2.0), report(second, 1, i_xz_bits=8.0, i_zy_bits=1.0))
    bench.report(study, {"uid": "f", "kind": "trial_finished", "trial": first})
    front = bench.get(f"/api/studies/{study}/front")
    assert (front["x"], front["y"], front["goals"]) == ("i_xz_bits", "i_zy_bits", ["minimize", "maximize"])
    point = {"trial": first, "arm": "a", "x": 4.0, "y": 2.0, "where": None, "state": "finished"}
    assert front["points"] == [point] and front["arms"][0]["points"] == [point]
    (x, y), volume = front["reference_point"], front["hypervolume"]
    assert volume == front["arms"][0]["hypervolume"] == pytest.approx((x - 4.0) * (2.0 - y))
    other = bench.get(f"/api/studies/{study}/front", x="i_zy_bits", y="i_xz_bits")
    assert (other["x"], other["goals"], other["reference_point"]) == ("i_zy_bits", ["maximize", "minimize"], [y, x])
    assert (other["points"][0]["x"], other["points"][0]["y"]) == (2.0, 4.0)
    for axis in ("x", "y"):
        assert error(bench.ask("GET", f"/api/studies/{study}/front", params={axis: "nope"}))[2] == [axis]


def test_each_arm_has_a_front_of_its_own(bench: Bench) -> None:
    study = bench.submit(arms=ARMS)
    first, _, third, other = bench.trials(study)
    for trial, x, y in ((first, 4.0, 2.0), (third, 6.0, 2.5), (other, 5.0, 1.0)):
        bench.report(study, report(trial, 1, i_xz_bits=x, i_zy_bits=y))
    front = bench.get(f"/api/studies/{study}/front")
    assert [point["trial"] for point in front["points"]] == [first, third]
    by_arm = {arm["name"]: [point["trial"] for point in arm["points"]] for arm in front["arms"]}
    assert by_arm == {"grid": [first, third], "MIB": [other]}, "dominated by the grid, and still MIB's best"
    volumes = {arm["name"]: arm["hypervolume"] for arm in front["arms"]}
    assert volumes["MIB"] < volumes["grid"] == front["hypervolume"]


# Events


def test_a_stream_begins_where_it_was_asked_to(bench: Bench) -> None:
    study = bench.submit()
    bench.report(study, {"uid": "go", "kind": "study_started"})
    bench.finish(study)
    assert [event["seq"] for event in bench.stream(study)] == [1, 2, 3]
    assert [event["seq"] for event in bench.stream(study, after=1)] == [2, 3]
    assert [event["seq"] for event in bench.stream(study, {"Last-Event-ID": "2"})] == [3]
    assert [event["seq"] for event in bench.stream(study, {"Last-Event-ID": "2"}, after=0)] == [3]
    assert [event["seq"] for event in bench.stream(study, {"Last-Event-ID": ""}, after=2)] == [3], "none seen yet"
    assert [event["seq"] for event in bench.stream(study, {"Last-Event-ID": "0"}, after=2)] == [1, 2, 3]
    assert bench.stream(study, after=3) == []
    for bad in ("x", "-1", "1.5", "9" * 16, "²"):
        answer = bench.ask("GET", f"/api/studies/{study}/events", headers={"Last-Event-ID": bad.encode()})
        assert error(answer) == (422, "invalid_input", ["Last-Event-ID"]), bad


def test_a_stream_is_neither_packed_nor_kept(bench: Bench) -> None:
    """A packed stream comes in lumps, or only when it has ended."""
    study = bench.submit()
    for i in range(60):
        bench.report(study, report(bench.trials(study)[0], i + 1, accuracy=0.5))
    bench.finish(study)
    packed = {"Accept-Encoding": "gzip"}
    stream = bench.ask("GET", f"/api/studies/{study}/events", headers=packed)
    assert len(stream.content) > 4000 and "content-encoding" not in stream.headers
    assert (stream.headers["cache-control"], stream.headers["x-accel-buffering"]) == ("no-store", "no")
    assert bench.ask("GET", "/api/catalog", headers=packed).headers["content-encoding"] == "gzip"
    assert "content-encoding" not in bench.ask("GET", "/healthz", headers=packed).headers


# Files, exports, figures


def test_a_file_is_sent_as_it_is_with_its_kind_and_name(bench: Bench) -> None:
    study = bench.submit()
    trial = bench.trials(study)[0]
    path = f"/api/studies/{study}/trials/{trial}"
    assert bench.ask("PUT", f"{path}/artifacts/checkpoint.safetensors", content=b"w" * 5000).status_code == 204
    for place in (f"{path}/checkpoint", f"{path}/artifacts/checkpoint.safetensors"):
        answer = bench.ask("GET", place, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["content-type"] == "application/octet-stream"
        assert (answer.headers["content-encoding"], answer.headers["content-length"]) == ("identity", "5000")
    answer = bench.ask("GET", f"{path}/artifacts/latent-map.json")
    assert error(answer)[:2] == (404, "not_found") and "latent_map" in answer.json()["error"]["message"]


def test_an_export_is_what_it_says(bench: Bench) -> None:
    study = bench.submit(name="to go")
    path = f"/api/studies/{study}/export"
    kinds = {
        "csv": "text/csv; charset=utf-8",
        "json": "application/json",
        "parquet": "application/vnd.apache.parquet",
    }
    for kind, content_type in kinds.items():
        answer = bench.ask("GET", path, params={"format": kind})
        table = "" if kind == "json" else "-trials"
        assert answer.headers["content-type"] == content_type
        assert answer.headers["content-disposition"].startswith(f'attachment; filename="to-go-{study}{table}.{kind}"')
    assert set(bench.get(path, format="json")) == {"paretoscope", "study", "comparison", "trials"}
    plain = bench.ask("GET", path)
    assert plain.text.startswith("study,trial,") and plain.headers["content-type"] == kinds["csv"]
    reports = bench.ask("GET", path, params={"table": "reports"})
    assert "-reports.csv" in reports.headers["content-disposition"] and reports.text != plain.text
    assert error(bench.ask("GET", path, params={"format": "xls"})) == (422, "invalid_input", ["format"])
    page = bench.ask("GET", f"/api/studies/{study}/report")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-disposition"].startswith("inline")


def test_studies_laid_over_each_other_are_bounded_and_each_must_exist(bench: Bench) -> None:
    studies = [bench.submit(name=f"over {i}") for i in range(7)]
    for path in (f"/api/studies/{studies[0]}/comparison", f"/api/studies/{studies[0]}/figures/pareto-front"):
        assert bench.ask("GET", path, params={"studies": ",".join(studies[1:6])}).status_code == 200
        assert error(bench.ask("GET", path, params={"studies": ",".join(studies)})) == (
            422,
            "invalid_input",
            ["studies"],
        )
        assert error(bench.ask("GET", path, params={"studies": "nope"}))[:2] == (404, "not_found")
    both = bench.get(f"/api/studies/{studies[0]}/comparison", studies=f"{studies[1]}, {studies[0]}")
    assert both["study"] == f"{studies[0]}+{studies[1]}" and len(both["arms"]) == 2


def test_a_figure_is_the_one_that_was_asked_for(bench: Bench) -> None:
    """Also right after another one of the same name: each is kept under all that was asked."""
    study = bench.submit(seeds=[0, 1], arms=ARMS)
    trials = bench.trials(study)
    for i, trial in enumerate(trials):
        bench.report(study, report(trial, 1, i_xz_bits=5.0 - i, i_zy_bits=1.0 + i, accuracy=0.5, seconds=1.0 + i))
    path = f"/api/studies/{study}/figures"

    def axes(**query: Any) -> tuple[str, str]:
        layout = bench.get(f"{path}/pareto-front", **query)["layout"]
        return layout["xaxis"]["title"]["text"], layout["yaxis"]["title"]["text"]

    plain = axes()
    assert axes(x="seconds")[0] != plain[0] and axes(x="seconds")[1] == plain[1]
    assert axes(y="accuracy")[1] != plain[1] and axes(y="accuracy")[0] == plain[0]
    assert axes(x="seconds", y="accuracy") == (axes(x="seconds")[0], axes(y="accuracy")[1])
    assert axes() == plain
    assert bench.get(f"{path}/pareto-front", z="accuracy")["data"][0]["type"] == "scatter3d"
    assert error(bench.ask("GET", f"{path}/nope"))[:2] == (404, "not_found")
    names = [figure["name"] for figure in bench.get("/api/figures")["figures"]]
    offered = bench.read(study)["figures"]
    assert {"pareto-front", "learning-curves"} <= {figure["name"] for figure in offered} <= set(names)
    assert {control["param"] for figure in offered for control in figure["controls"]} >= {"x", "y"}


# Errors


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_a_method_that_is_not_there_says_which_are(bench: Bench, method: str) -> None:
    answer = bench.ask(method, "/api/catalog")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert answer.headers["content-type"] == "application/json"
    if method != "HEAD":
        assert error(answer) == (405, "method_not_allowed", [])
        assert f"{method} /api/catalog" in answer.json()["error"]["message"]


def test_an_address_that_is_not_there_is_named(bench: Bench) -> None:
    for path in ("/api/nope", "/api/studies/x/nope", "/nope"):
        answer = bench.ask("GET", path)
        assert error(answer) == (404, "not_found", []) and path in answer.json()["error"]["message"]


def test_a_bad_query_is_named(bench: Bench) -> None:
    for query, path in (({"limit": 0}, "limit"), ({"limit": 1001}, "limit"), ({"state": "gone"}, "state")):
        answer = bench.ask("GET", "/api/studies", params=query)
        assert error(answer) == (422, "invalid_input", [path])
        assert repr(str(query[path])) in answer.json()["error"]["message"]
    assert bench.ask("GET", "/api/studies", params={"limit": 1000}).status_code == 200
    study = bench.submit()
    for limit, status in ((20_000, 200), (20_001, 422), (0, 422)):
        assert bench.ask("GET", f"/api/studies/{study}/trials", params={"limit": limit}).status_code == status
    answer = bench.ask("POST", "/api/studies", json={}, headers={"Idempotency-Key": "k" * 201})
    assert error(answer) == (422, "invalid_input", ["Idempotency-Key"])


def test_a_key_is_one_study_for_good(bench: Bench) -> None:
    spec = {"name": "keyed", "seeds": [0], "arms": ARMS}
    first, again = (bench.ask("POST", "/api/studies", json=spec, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201) and first.json()["id"] == again.json()["id"]
    other = bench.ask("POST", "/api/studies", json={**spec, "name": "other"}, headers={"Idempotency-Key": "k"})
    assert error(other)[:2] == (409, "conflict")
    assert bench.ask("POST", "/api/studies", json=spec).json()["id"] != first.json()["id"]


def test_what_nobody_expected_tells_a_stranger_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a password in a message")

    monkeypatch.setattr(bench.parts.store, "list_studies", broken)
    answer = bench.ask("GET", "/api/studies", raise_errors=False)
    assert error(answer) == (500, "internal", []) and "password" not in answer.text


def test_not_ready_when_the_store_cannot_be_read() -> None:
    with short_home() as home:
        bench = Bench(home)
        assert bench.get("/readyz")["status"] == "ready"
        with closing(sqlite3.connect(home / "paretoscope.db")) as database:
            database.execute("drop table studies")
        answer = bench.ask("GET", "/readyz")
        assert error(answer) == (503, "unavailable", []) and "store" in answer.json()["error"]["message"]
        assert bench.get("/healthz") == {"status": "ok"}
        bench.close()


def test_a_check_says_what_a_study_would_be(bench: Bench) -> None:
    checked = bench.ask("POST", "/api/studies/check", json={"name": "c", "seeds": [0, 1], "arms": ARMS}).json()
    assert (checked["valid"], checked["trials"]) == (True, 8)
    arms = [(arm["name"], arm["trials"], arm["symbol"]) for arm in checked["arms"]]
    assert arms == [("grid", 6, "circle"), ("MIB", 2, "diamond")]
    assert [objective["metric"] for objective in checked["objectives"]] == ["i_xz_bits", "i_zy_bits"]
    assert [arm["name"] for arm in checked["cost"]["arms"]] == ["grid", "MIB"]
    assert json.dumps(checked["spec"]) == json.dumps({"name": "c", "seeds": [0, 1], "arms": ARMS})


def test_counts_that_an_old_log_has_as_floats_are_answered_as_whole_numbers(bench: Bench) -> None:
    study = bench.submit()
    trial = bench.trials(study)[0]
    bench.report(study, report(trial, 1, test_examples=360, accuracy=1.0))
    with closing(sqlite3.connect(bench.settings.home / "paretoscope.db")) as log, log:
        body = {"trial": trial, "metrics": {"epoch": 1.0, "test_examples": 360.0, "accuracy": 1.0}}
        where = "WHERE study = ? AND kind = 'report'"
        assert log.execute(f"UPDATE events SET body = ? {where}", (json.dumps(body), study)).rowcount == 1
    bench.parts.views.forget(study)
    answer = bench.get(f"/api/studies/{study}/trials/{trial}")
    for metrics in (answer["metrics"], *answer["reports"], bench.events(study)[-1]["metrics"]):
        assert json.dumps(metrics) == '{"epoch": 1, "test_examples": 360, "accuracy": 1.0}'
