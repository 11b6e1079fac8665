"""Trials that are trained elsewhere, over HTTP: asked for with a token, reported with a lease."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.contract.wire.events import STATE_HEADER, StudyStarted
from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.elsewhere import GRID, SEARCH, far_study
from tests.service.own_code import SCRIPT

HERE: dict[str, Any] = {"name": "here", "problem": {"name": "forest", "depth": 3}}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token="owner", driver_tokens=home / "drivers")
        yield bench
        bench.close()


def begun(bench: Bench, *arms: dict[str, Any]) -> str:
    """A study that runs, of code that was described."""
    headers = {"Content-Type": "text/x-python", "Authorization": "Bearer owner"}
    sent = bench.ask("POST", "/api/code", params={"entry": "mine.py"}, content=b"# nothing\n", headers=headers)
    code = sent.json()["hash"]
    bench.ask("POST", f"/api/code/{code}/description", json={"problems": [SCRIPT]})
    study = bench.submit(**{**far_study(*arms), "code": code})
    bench.parts.store.append(study, [StudyStarted(uid="go", job=study)])
    return study


def ask(bench: Bench, study: str, token: str = "owner", **wish: Any) -> Any:
    return bench.ask("POST", f"/api/studies/{study}/ask", json=wish, headers={"Authorization": f"Bearer {token}"})


def event(handed: dict[str, Any], kind: str, **more: Any) -> dict[str, Any]:
    uid = f"{handed['lease']}:{kind}:{more.get('metrics')}"
    return {"uid": uid, "kind": kind, "trial": handed["trial"], "lease": handed["lease"], **more}


def test_a_trial_is_asked_for_reported_and_finished(bench: Bench) -> None:
    study = begun(bench)
    handed = ask(bench, study, lease_seconds=30, holder="laptop:17").json()
    assert handed.keys() >= {"trial", "arm", "seed", "config", "parameters", "metrics", "lease", "lease_seconds"}
    bench.report(study, event(handed, "report", metrics={"epoch": 1, "acc": 0.5}), event(handed, "trial_alive"))
    bench.report(study, event(handed, "trial_finished"))
    trial = bench.get(f"/api/studies/{study}/trials/{handed['trial']}")
    assert (trial["state"], trial["host"], trial["metrics"]["acc"]) == ("finished", "laptop:17", 0.5)


def test_asking_needs_the_scope_ingest_and_nothing_else(bench: Bench) -> None:
    study = begun(bench)
    tokens = {
        scope: bench.ask("POST", "/api/tokens", json={"name": f"of {scope}", "scopes": [scope]}).json()["token"]
        for scope in ("ingest", "read", "write")
    }
    assert ask(bench, study, tokens["ingest"]).status_code == 200
    for scope in ("read", "write"):
        assert ask(bench, study, tokens[scope]).status_code == 403
    held = next(trial for trial in bench.get(f"/api/studies/{study}/trials")["trials"] if trial["host"])
    assert held["host"] == "of ingest"


def of_token(bench: Bench, *scopes: str) -> str:
    answer = bench.ask("POST", "/api/tokens", json={"name": "a person", "scopes": list(scopes)})
    return str(answer.json()["token"])


def told(bench: Bench, study: str, token: str, *events: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return bench.ask("POST", f"/api/studies/{study}/reports", json={"events": list(events)}, headers=headers)


def test_a_token_tells_of_the_trials_that_were_asked_for_with_it_and_of_no_other(bench: Bench) -> None:
    study = begun(bench)
    mine, theirs = of_token(bench, "read", "ingest"), of_token(bench, "read", "ingest")
    handed = ask(bench, study, mine).json()
    report = event(handed, "report", metrics={"epoch": 1, "acc": 0.5})
    refused = told(bench, study, theirs, report)
    assert refused.status_code == 403 and "another token" in refused.json()["error"]["message"]
    assert told(bench, study, mine, report).json() == {"accepted": 1, "duplicates": 0}
    assert told(bench, study, theirs, event(handed, "trial_returned")).status_code == 403
    assert told(bench, study, mine, event(handed, "trial_finished")).status_code == 200
    assert told(bench, study, mine, report).json() == {"accepted": 0, "duplicates": 1}, "a resend changes nothing"
    assert told(bench, study, mine, event(handed, "trial_alive")).status_code == 409, "its lease is over"


@pytest.mark.parametrize(
    "sent",
    [
        {"kind": "study_finished"},
        {"kind": "study_failed", "reason": "so there"},
        {"kind": "study_started"},
        {"kind": "trial_started"},
        {"kind": "trial_suggested", "config": {"problem.depth": 1}},
        {"kind": "report", "metrics": {"acc": 1.0}},
        {"kind": "trial_finished"},
    ],
)
def test_a_token_with_the_scope_ingest_is_no_driver(bench: Bench, sent: dict[str, Any]) -> None:
    study = begun(bench, GRID, HERE)
    here = bench.trials(study)[-1]
    about = {} if sent["kind"].startswith("study") else {"trial": here}
    answer = told(bench, study, of_token(bench, "read", "ingest"), {"uid": "u", **about, **sent})
    assert answer.status_code == 403 and "for drivers" in answer.json()["error"]["message"]
    assert "u" not in [logged.event.uid for logged in bench.parts.store.read(study, after=0)]


def played(bench: Bench, token: str) -> list[int]:
    """What a token gets that plays a driver from the first event to the last."""
    study = bench.submit()
    trial = bench.trials(study)[0]
    events: list[dict[str, Any]] = [
        {"kind": "study_started", "job": "slurm-7"},
        {"kind": "trial_started", "trial": trial},
        *({"kind": "report", "trial": trial, "metrics": {"epoch": epoch}} for epoch in (1, 70)),
        {"kind": "trial_finished", "trial": trial},
        {"kind": "study_finished"},
    ]
    return [told(bench, study, token, {"uid": f"u{i}", **event}).status_code for i, event in enumerate(events)]


@pytest.mark.parametrize("scopes", [["read", "ingest", "write"], ["ingest", "admin"], None])
def test_a_study_that_got_no_driver_of_ours_may_have_one_of_somebody_elses(
    bench: Bench, scopes: list[str] | None
) -> None:
    assert played(bench, of_token(bench, *scopes) if scopes else str(bench.settings.token)) == [200] * 6


def test_where_there_is_no_ray_whoever_may_report_may_drive(tmp_path: Path) -> None:
    bench = Bench(tmp_path, token="owner")
    bench.parts.jobs = None
    assert played(bench, of_token(bench, "read", "ingest")) == [200] * 6
    bench.close()


@pytest.mark.parametrize("scopes", [["ingest"], ["read", "ingest"], ["read", "code", "ingest"]])
def test_who_may_only_report_ends_no_study_that_waits(bench: Bench, scopes: list[str]) -> None:
    study, token = bench.submit(), of_token(bench, *scopes)
    failed = {"uid": "x", "kind": "study_failed", "reason": "x"}
    begun = [{"uid": "a", "kind": "study_started", "job": "j"}, {"uid": "b", "kind": "study_finished"}]
    for events in ([failed], begun):
        answer = told(bench, study, token, *events)
        assert answer.status_code == 403 and "for drivers" in answer.json()["error"]["message"]
    assert bench.kinds(study) == ["study_queued"]


def test_files_and_states_are_drivers_alone(bench: Bench) -> None:
    study, token = begun(bench, HERE), of_token(bench, "read", "write", "code", "ingest", "admin")
    trial, key = bench.trials(study)[0], "c" + "0" * 16
    headers = {"Authorization": f"Bearer {token}"}
    for path in (f"trials/{trial}/artifacts/checkpoint.safetensors", f"cohorts/{key}/state"):
        answer = bench.ask("PUT", f"/api/studies/{study}/{path}", content=b"mine", headers=headers)
        assert answer.status_code == 403 and "scope 'driver'" in answer.json()["error"]["message"]


def test_none_now_and_none_ever_again_are_told_apart(bench: Bench) -> None:
    study = begun(bench, {**GRID, "problem": {"name": "forest", "depth": 2}})
    handed = ask(bench, study).json()
    now = ask(bench, study)
    assert (now.status_code, now.json()["error"]["code"]) == (409, "conflict")
    assert now.json()["error"]["details"] == [
        {"path": "free", "message": "later"},
        {"path": "state", "message": "running"},
    ]
    bench.report(study, event(handed, "trial_failed", reason="out of memory"))
    assert ask(bench, study).json()["error"]["details"][0] == {"path": "free", "message": "never"}


def test_a_holder_whose_lease_is_over_gets_a_conflict_with_words(bench: Bench) -> None:
    study = begun(bench)
    handed = ask(bench, study).json()
    bench.report(study, event(handed, "trial_returned"))
    answer = bench.send(study, event(handed, "report", metrics={"acc": 0.1}))
    assert answer.status_code == 409
    assert "is over: the trial went back to be asked for again" in answer.json()["error"]["message"]


def test_the_answer_to_a_report_says_that_the_study_is_paused(bench: Bench) -> None:
    study = begun(bench)
    handed = ask(bench, study).json()
    assert bench.ask("POST", f"/api/studies/{study}/pause").status_code == 200
    answer = bench.send(study, event(handed, "trial_alive"))
    assert (answer.status_code, answer.headers[STATE_HEADER]) == (200, "paused")
    assert bench.read(study)["counts"]["running"] == 1


@pytest.mark.parametrize(
    ("sent", "path", "words"),
    [
        ({"kind": "report", "metrics": {"acc": 1.0}}, "events[0].lease", "ask for it"),
        ({"kind": "trial_started"}, "events[0].lease", "ask for it"),
        ({"kind": "trial_finished"}, "events[0].lease", "ask for it"),
        (
            {"kind": "report", "metrics": {"accuracy": 1.0}, "lease": "l"},
            "events[0].metrics.accuracy",
            "'accuracy' is not declared by forest, which reports acc, leaves",
        ),
        (
            {"kind": "trial_suggested", "config": {"problem.depth": 1}},
            "events[0].trial",
            "has its values by the plan",
        ),
    ],
)
def test_what_does_not_fit_a_trial_elsewhere_is_refused_with_its_place(
    bench: Bench, sent: dict[str, Any], path: str, words: str
) -> None:
    study = begun(bench)
    answer = bench.send(study, {"uid": "u", "trial": bench.trials(study)[0], **sent})
    (detail,) = answer.json()["error"]["details"]
    assert answer.status_code == 422 and detail["path"] == path and words in detail["message"]


@pytest.mark.parametrize("config", [{"problem.depth": "deep"}, {}])
def test_a_suggestion_that_its_trial_cannot_have_is_refused(bench: Bench, config: dict[str, Any]) -> None:
    study = begun(bench, SEARCH)
    suggested = {"uid": "u", "kind": "trial_suggested", "trial": bench.trials(study)[0], "config": config}
    assert bench.send(study, suggested).json()["error"]["details"][0]["path"] == "events[0].config"
    assert bench.report(study, {**suggested, "config": {"problem.depth": 3}})["accepted"] == 1
    assert ask(bench, study).json()["parameters"] == {"depth": 3}


def test_a_trial_that_is_trained_here_takes_neither_a_lease_nor_a_suggestion(bench: Bench) -> None:
    study = begun(bench, HERE)
    trial = bench.trials(study)[0]
    assert ask(bench, study).status_code == 422
    suggested = {"uid": "s", "kind": "trial_suggested", "trial": trial, "config": {"problem.depth": 1}}
    assert bench.send(study, suggested).status_code == 422
    reported = {"uid": "r", "kind": "report", "trial": trial, "metrics": {"acc": 1.0}, "lease": "l"}
    assert bench.send(study, reported).status_code == 409


@pytest.mark.parametrize("wish", [{"lease_seconds": 0}, {"lease_seconds": 1e9}, {"arm": 3}, {"more": 1}])
def test_a_wish_that_breaks_a_rule_is_refused(bench: Bench, wish: dict[str, Any]) -> None:
    answer = ask(bench, begun(bench), **wish)
    assert answer.status_code == 422 and answer.json()["error"]["details"][0]["path"].endswith(next(iter(wish)))


def test_the_launcher_takes_back_what_is_held_in_silence(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    study = begun(bench)
    bench.cluster.submit(study, "python")
    handed = ask(bench, study, lease_seconds=1).json()
    clock = bench.parts.leases._clock
    monkeypatch.setattr(bench.parts.leases, "_clock", lambda: clock().replace(year=clock().year + 1))
    bench.launcher.tick()
    trial = bench.get(f"/api/studies/{study}/trials/{handed['trial']}")
    assert (trial["state"], trial["host"]) == ("planned", None)
