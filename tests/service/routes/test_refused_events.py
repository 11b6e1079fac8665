"""What a driver may not tell: refused one by one with the reason, while the rest of its batch is taken."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.contract.wire.ceilings import METRIC_NAMES
from service.contract.wire.events import Report
from tests.service.bench import Bench
from workers.sending.reporter import Reporter
from workers.sending.study_client import StudyClient


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def study(bench: Bench) -> str:
    """Runs as the job of its own name, for nine epochs."""
    study = bench.submit(training={"epochs": 9})
    bench.launcher.tick()
    return study


def report(trial: str, epoch: float, uid: str = "") -> dict[str, Any]:
    metrics = {"epoch": epoch}
    return {"uid": uid or f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": metrics}


def finished(trial: str) -> dict[str, Any]:
    return {"uid": f"{trial}:finished", "kind": "trial_finished", "trial": trial}


def send(bench: Bench, study: str, *events: dict[str, Any], job: str | None = None) -> httpx.Response:
    return bench.ask("POST", f"/api/studies/{study}/reports", json={"events": list(events), "job": job})


def test_a_study_that_waits_takes_no_events(bench: Bench) -> None:
    study = bench.submit()
    trial = bench.trials(study)[0]
    for event in (report(trial, 1), {"uid": "end", "kind": "study_finished"}):
        answer = send(bench, study, event)
        assert (answer.status_code, answer.json()["error"]["details"][0]["message"]) == (409, "queued")
    assert bench.kinds(study) == ["study_queued"]


def test_what_breaks_a_rule_is_named_and_the_rest_is_taken(bench: Bench, study: str) -> None:
    a, b = bench.trials(study)
    wrong = [
        report(a, 1, "twice"),
        report(a, -3),
        report("elsewhere", 1),
        {**report(b, 1), "uid": "service:started:2"},
        report(b, 9),
    ]
    answer = send(bench, study, report(a, 1), *wrong[:3], finished(b), *wrong[3:]).json()
    assert (answer["accepted"], answer["duplicates"], answer["refused"]) == (2, 0, 5)
    assert {each["uid"]: each["reason"] for each in answer["refusals"]} == {
        "twice": f"epoch 1 of trial {a} comes after its epoch 1, which was reported",
        f"{a}:-3": "metrics.epoch of a report is a whole number from 0 on, got -3",
        "elsewhere:1": f"there is no trial 'elsewhere' in study {study}",
        "service:started:2": "service:… is reserved, got 'service:started:2'",
        f"{b}:9": f"report does not follow in trial {b}, which is finished",
    }
    assert bench.kinds(study)[2:] == ["report", "trial_finished"]


def test_our_driver_tells_of_no_epoch_that_nobody_planned(bench: Bench) -> None:
    long = {"name": "long", "training": {"epochs": 3}, "weighting": {"name": "fixed", "beta": 0.1}}
    short = {"name": "short", "weighting": {"name": "fixed", "beta": 0.1}}
    study = bench.submit(arms=[short, long])
    bench.launcher.tick()
    one, three = bench.trials(study)
    answer = send(bench, study, report(one, 1), report(one, 10**12), report(three, 3), report(three, 4)).json()
    assert {each["uid"]: each["reason"] for each in answer["refusals"]} == {
        f"{one}:{10**12}": f"trial {one} has 1 epoch by its plan, got 1000000000000",
        f"{three}:4": f"trial {three} has 3 epochs by its plan, got 4",
    }
    assert answer["accepted"] == 2
    assert send(bench, study, report(one, 2)).json()["error"]["details"][0]["path"] == "events[0].metrics.epoch"


def test_an_extended_study_has_its_new_epochs(bench: Bench, study: str) -> None:
    a, b = bench.trials(study)
    send(bench, study, report(a, 1), finished(a), report(b, 1), finished(b), {"uid": "end", "kind": "study_finished"})
    bench.cluster.end(study, "SUCCEEDED", None)
    assert bench.ask("POST", f"/api/studies/{study}/extend", json={"epochs": 11}).status_code == 200
    bench.launcher.tick()
    assert send(bench, study, report(a, 10), report(a, 11)).json()["accepted"] == 2
    assert send(bench, study, report(a, 12)).status_code == 422


@pytest.mark.parametrize("epoch", [None, 1.5, -1])
def test_an_epoch_is_a_whole_number(bench: Bench, study: str, epoch: Any) -> None:
    answer = send(bench, study, {**report(bench.trials(study)[0], 1), "metrics": {"epoch": epoch}})
    assert answer.status_code == 422 and "a whole number from 0 on" in answer.text


def test_a_batch_of_which_nothing_is_left_is_an_error_with_every_reason(bench: Bench, study: str) -> None:
    a, _ = bench.trials(study)
    answer = send(bench, study, report(a, -1), report("elsewhere", 1))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "invalid_input")
    assert [detail["path"] for detail in error["details"]] == ["events[1].trial", "events[0]"]


def test_a_resend_is_a_duplicate_also_where_it_would_be_refused_now(bench: Bench, study: str) -> None:
    a, _ = bench.trials(study)
    batch = [report(a, 1), report(a, 2), finished(a)]
    send(bench, study, *batch)
    assert send(bench, study, *batch).json() == {"accepted": 0, "duplicates": 3}


def test_a_driver_that_was_replaced_is_told_to_stop_and_harms_nothing(bench: Bench, study: str) -> None:
    """Killed for a while, then back: what it says of trials, and of the study's end, is the other's to say."""
    a, b = bench.trials(study)
    assert send(bench, study, report(a, 1), job=study).json()["accepted"] == 1
    bench.cluster.end(study)
    bench.launcher.tick()
    new = f"{study}-2"
    failed = {"uid": f"{a}:failed", "kind": "trial_failed", "trial": a, "reason": "its actor died"}
    for late in (failed, {"uid": "end", "kind": "study_finished"}, report(b, 1)):
        answer = send(bench, study, late, job=study)
        assert answer.status_code == 409 and f"job {study} has been replaced by {new}" in answer.text
    assert send(bench, study, report(a, 1), job=study).json() == {"accepted": 0, "duplicates": 1}
    again = [report(a, 1), report(a, 2), finished(a)]
    assert send(bench, study, *again, job=new).json() == {"accepted": 2, "duplicates": 1}
    assert bench.state(study) == "running"


def test_where_the_log_names_no_driver_none_was_replaced(bench: Bench) -> None:
    """As in logs from before drivers had names, and of who names none."""
    study = bench.submit()
    a, _ = bench.trials(study)
    assert send(bench, study, {"uid": "go", "kind": "study_started"}).json()["accepted"] == 1
    for epoch, job in enumerate((None, study, "another"), 1):
        assert send(bench, study, report(a, epoch), job=job).json()["accepted"] == 1


def test_reports_that_meet_a_cancelled_study_end_their_driver(bench: Bench, study: str) -> None:
    a, _ = bench.trials(study)
    bench.cancel(study)
    assert send(bench, study, report(a, 1), job=study).status_code == 409


def test_a_driver_logs_what_was_refused_and_trains_on(
    bench: Bench, study: str, caplog: pytest.LogCaptureFixture
) -> None:
    a, b = bench.trials(study)

    def answer(request: httpx.Request) -> httpx.Response:
        sent = bench.ask(
            "POST", request.url.path, content=request.content, headers={"Content-Type": "application/json"}
        )
        return httpx.Response(sent.status_code, content=sent.content)

    send(bench, study, finished(a))
    reporter = Reporter(StudyClient("http://service", None, study, httpx.MockTransport(answer), job=study))
    reporter.report(a, 1, {"epoch": 1})
    reporter.report(b, 1, {"epoch": 1})
    assert reporter.close(30) and not reporter.ended.is_set()
    assert [r.message for r in caplog.records if "refused" in r.message] == [
        f"event {a}:1 was refused: report does not follow in trial {a}, which is finished"
    ]
    assert bench.kinds(study)[2:] == ["trial_finished", "report"]


def test_a_client_hands_back_what_was_not_taken() -> None:
    refused = {"accepted": 1, "duplicates": 0, "refused": 1, "refusals": [{"uid": "u", "reason": "why"}]}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=refused))
    with StudyClient("http://service", None, "s1", transport) as client:
        (refusal,) = client.report([Report(uid="u", trial="t", metrics={})], threading.Event()).refusals
    assert (refusal.uid, refusal.reason) == ("u", "why")


HIDDEN = "loss\x1b[2J\n"


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ({"kind": "report", "metrics": {HIDDEN: 1.0}}, "events[0].report.metrics"),
        (
            {"kind": "report", "metrics": {"loss": 1.0}, "points": [{"where": {HIDDEN: 1.0}, "metrics": {}}]},
            "events[0].report.points[0].where",
        ),
        (
            {"kind": "report", "metrics": {}, "points": [{"where": {"beta": 1.0}, "metrics": {HIDDEN: 1.0}}]},
            "events[0].report.points[0].metrics",
        ),
        ({"kind": "trial_started", "config": {"weighting.form": HIDDEN}}, "events[0].trial_started.config"),
        ({"kind": "trial_started", "config": {HIDDEN: 1}}, "events[0].trial_started.config"),
        ({"kind": "trial_suggested", "config": {"weighting.form": HIDDEN}}, "events[0].trial_suggested.config"),
        ({"kind": "study_started", "job": HIDDEN}, "events[0].study_started.job"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_its_place(
    bench: Bench, study: str, told: dict[str, Any], place: str
) -> None:
    about = {} if told["kind"] == "study_started" else {"trial": bench.trials(study)[0]}
    answer = send(bench, study, {"uid": "u", **about, **told})
    (detail,) = answer.json()["error"]["details"]
    assert answer.status_code == 422 and detail["path"] == place and "control characters" in detail["message"]
    assert "\x1b" not in detail["message"]


@pytest.mark.parametrize(
    ("told", "place", "rule"),
    [
        ('"kind": "trial_started", "config": {"weighting.beta": 1e999}', "config", "must be a finite number, got inf"),
        ('"kind": "trial_suggested", "config": {"weighting.beta": NaN}', "config", "must be a finite number, got nan"),
        (f'"kind": "trial_started", "config": {{"x": "{"a" * 1001}"}}', "config", "1,001 characters, at most 1,000"),
        (
            '"kind": "report", "metrics": {}, "points": [{"where": {"beta": 1e999}, "metrics": {}}]',
            "points[0].where.beta",
            "should be a finite number",
        ),
    ],
    ids=["infinite", "no number", "long", "place"],
)
def test_settings_and_places_are_numbers_that_json_can_say(
    bench: Bench, study: str, told: str, place: str, rule: str
) -> None:
    body = f'{{"events": [{{"uid": "u", "trial": "{bench.trials(study)[0]}", {told}}}]}}'
    headers = {"Content-Type": "application/json"}
    answer = bench.ask("POST", f"/api/studies/{study}/reports", content=body, headers=headers)
    (detail,) = answer.json()["error"]["details"]
    assert answer.status_code == 422 and detail["path"].endswith(place) and rule in detail["message"]


def test_a_job_whose_name_cannot_be_shown_is_refused(bench: Bench, study: str) -> None:
    answer = send(bench, study, report(bench.trials(study)[0], 1), job=HIDDEN)
    assert answer.status_code == 422 and answer.json()["error"]["details"][0]["path"] == "job"


def test_a_place_that_cannot_be_shown_is_quoted_without_that(bench: Bench, study: str) -> None:
    answer = send(bench, study, {"uid": "u", "kind": "study_started", HIDDEN: 1})
    (detail,) = answer.json()["error"]["details"]
    assert "\x1b" not in detail["path"] and "\n" not in detail["path"] and "\ufffd" in detail["path"]


def test_a_study_has_so_many_names_of_metrics_and_no_more(bench: Bench, study: str) -> None:
    one, two = bench.trials(study)

    def named(trial: str, epoch: int, *names: str) -> dict[str, Any]:
        return {**report(trial, epoch), "metrics": {"epoch": epoch, **dict.fromkeys(names, 1.0)}}

    many = [f"m{i}" for i in range(METRIC_NAMES - 1)]
    batch = [named(one, 1 + i // 400, *many[i : i + 400]) for i in range(0, len(many), 400)]
    assert send(bench, study, *batch).json()["accepted"] == len(batch)
    answer = send(bench, study, named(two, 1, "m0", "one-more"), named(two, 2, "m1")).json()
    assert (answer["accepted"], answer["refused"]) == (1, 1)
    assert answer["refusals"][0]["reason"].endswith("at most 2,000 names of metrics in all, got 'one-more' besides")
    refused = send(bench, study, named(two, 3, "another"))
    assert (refused.status_code, refused.json()["error"]["details"][0]["path"]) == (422, "events[0].metrics")


def test_names_that_nobody_has_looked_at_count_too(bench: Bench, study: str) -> None:
    """A view is folded when somebody reads it; whoever only sends must not get past the limit."""
    one, _ = bench.trials(study)
    for epoch in range(1, 8):
        metrics = {"epoch": epoch, **{f"{epoch}:{i}": 1.0 for i in range(400)}}
        answer = send(bench, study, {**report(one, epoch), "metrics": metrics})
    assert answer.status_code == 422
    with bench.parts.views.read(study) as view:
        assert len(view.names) <= METRIC_NAMES
