"""What Ray Tune tells about cohorts becomes events about trials, each once."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ray.tune.result import HOSTNAME, NODE_IP

from service.contract.study.study import Resources
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.events import Curve, Metrics
from workers.on_ray import driver
from workers.on_ray.driver import NotEnough, slots_of
from workers.on_ray.recorder import Recorder
from workers.on_ray.searcher import CohortSearcher
from workers.on_ray.trainable import GONE, MEMBERS, REPORT
from workers.planning.budget import Budget
from workers.planning.supply import Supply


class Events:
    """Keeps what a recorder tells about trials."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def trial_started(self, trial: str, host: str | None, config: Any, epoch: int | None) -> None:
        self.told.append(("started", trial, host, config, *(() if epoch is None else (epoch,))))

    def report(
        self, trial: str, epoch: int, metrics: Metrics, lines: Sequence[str], points: Curve | None = None
    ) -> None:
        self.told.append(("report", trial, epoch, metrics, list(lines)))
        if points:
            self.told.append(("points", trial, points))

    def trial_finished(self, trial: str, lines: Sequence[str], missing: str | None) -> None:
        self.told.append(("finished", trial, list(lines), *([missing] if missing else [])))

    def trial_failed(self, trial: str, reason: str, lines: Sequence[str]) -> None:
        self.told.append(("failed", trial, reason, list(lines)))


class Told:
    """A recorder of trials a, b and c, and all that it tells."""

    def __init__(self) -> None:
        self.events = Events()
        reporter: Any = self.events
        self.ended: list[tuple[str, Metrics | None]] = []
        self.said_all: list[str] = []
        self.recorder = Recorder(
            ["a", "b", "c"],
            reporter,
            lambda trial, metrics: self.ended.append((trial, metrics)),
            {"c": 7},
        )
        self.recorder.said_all = self.said_all.append


@pytest.fixture
def told() -> Told:
    return Told()


def report(epoch: int, final: bool = False, log: Sequence[str] = (), **metrics: Metrics) -> EpochReport:
    return EpochReport(epoch=epoch, metrics=metrics, failures={}, final=final, log=list(log))


def test_a_curve_travels_with_the_report_of_its_trial(told: Told) -> None:
    curve: Curve = [{"where": {"beta": 0.1}, "metrics": {"accuracy": 0.4}}]
    reported = report(1, a={"accuracy": 0.5}, b={"accuracy": 0.6}).model_copy(update={"points": {"b": curve}})
    told.recorder.record(["a", "b"], reported)
    assert [each for each in told.events.told if each[0] == "points"] == [("points", "b", curve)]


def cohort(**more: Any) -> Any:
    """As much of a Tune trial as the recorder looks at."""
    members = '{"a": {"weighting.beta": 0.1}, "b": {}}'
    known = {"error_file": None, "last_result": {}, "run_metadata": SimpleNamespace(num_failures=0), **more}
    return SimpleNamespace(config={MEMBERS: members}, trial_id="tune-1", **known)


def test_each_trial_gets_a_line_with_one_event_only(told: Told) -> None:
    failures = {"b": "because"}
    told.recorder.record(
        ["a", "b", "c"], EpochReport(epoch=1, metrics={"a": {}}, failures=failures, final=True, log=["line"])
    )
    assert told.events.told == [
        ("report", "a", 1, {}, ["line"]),
        ("failed", "b", "because", ["line"]),
        ("finished", "a", []),
        ("finished", "c", ["line"]),
    ]


def test_a_finished_trial_is_told_with_the_last_value_of_every_metric_it_ever_reported(told: Told) -> None:
    """Evaluated every second epoch, say: the last report alone lacks what the one before has."""
    told.recorder.record(["a"], report(1, a={"epoch": 1, "loss_pred": 3.0}))
    told.recorder.record(["a"], report(2, a={"epoch": 2, "loss_pred": 2.0, "accuracy": 0.5}))
    told.recorder.record(["a"], report(3, final=True, a={"epoch": 3, "loss_pred": None}))
    assert told.ended == [("a", {"epoch": 3, "loss_pred": None, "accuracy": 0.5})]
    sent = [event[3] for event in told.events.told if event[0] == "report"]
    assert sent[2] == {"epoch": 3, "loss_pred": None}, "what is sent is what was measured"


def test_metrics_of_members_are_not_mixed_up(told: Told) -> None:
    told.recorder.record(["a", "b"], report(1, a={"accuracy": 0.1}, b={"accuracy": 0.2}))
    told.recorder.record(["a", "b"], report(2, final=True, a={"epoch": 2}, b={"epoch": 2}))
    assert told.ended == [("a", {"accuracy": 0.1, "epoch": 2}), ("b", {"accuracy": 0.2, "epoch": 2})]


def test_a_trial_ends_once_and_the_others_stay_open(told: Told) -> None:
    told.recorder.fail(["a"], "because")
    told.recorder.fail(["a"], "again")
    told.recorder.record(["a", "b"], report(1, final=True, b={}))
    assert [event[:2] for event in told.events.told] == [("failed", "a"), ("report", "b"), ("finished", "b")]
    assert told.ended == [("a", None), ("b", {})]
    assert told.recorder.open == {"c"}


def test_a_trial_that_fails_after_good_reports_is_told_to_its_search_as_failed(told: Told) -> None:
    told.recorder.record(["a", "b"], report(1, a={"accuracy": 0.9}, b={"accuracy": 0.8}))
    told.recorder.fail(["a"], "because")
    failures = EpochReport(epoch=2, metrics={"b": {"accuracy": 0.7}}, failures={"b": "too"}, final=True)
    told.recorder.record(["a", "b"], failures)
    assert told.ended == [("a", None), ("b", None)]


def test_a_finished_trial_says_what_is_missing_of_it(told: Told) -> None:
    final = EpochReport(epoch=1, metrics={"a": {}, "b": {}}, failures={}, missing={"a": "refused"}, final=True)
    told.recorder.record(["a", "b"], final)
    assert told.events.told[2:] == [("finished", "a", [], "refused"), ("finished", "b", [])]


def test_a_cohort_goes_on_until_its_report_is_final(told: Told) -> None:
    told.recorder.record(["a", "b"], report(1, a={}, b={}))
    assert told.recorder.open == {"a", "b", "c"} and told.ended == []


def test_a_result_of_tune_is_read_once_and_its_last_one_frees_the_slot(told: Told) -> None:
    for epoch in (1, 2):
        text = report(epoch, final=epoch == 2, a={"epoch": epoch}, b={"epoch": epoch}).model_dump_json()
        assert told.said_all == []
        told.recorder.on_trial_result(1, [], cohort(), {REPORT: text})
    assert told.said_all == ["tune-1"]
    told.recorder.on_trial_result(1, [], cohort(), {"done": True})
    assert [event[:2] for event in told.events.told] == [
        ("report", "a"),
        ("report", "b"),
        ("report", "a"),
        ("report", "b"),
        ("finished", "a"),
        ("finished", "b"),
    ]


def test_a_started_cohort_names_its_machine_and_what_was_suggested(told: Told) -> None:
    trial = cohort()
    trial.last_result = {HOSTNAME: "node", NODE_IP: "10.0.0.1"}
    told.recorder.on_trial_start(1, [], trial)
    assert told.events.told == [
        ("started", "a", "node/10.0.0.1", {"weighting.beta": 0.1}),
        ("started", "b", "node/10.0.0.1", {}),
    ]


def test_a_cohort_whose_process_said_nothing_about_itself_starts_without_a_machine(told: Told) -> None:
    told.recorder.on_trial_start(1, [], cohort())
    assert [event[:3] for event in told.events.told] == [("started", "a", None), ("started", "b", None)]


def begins(told: Told, members: str, epoch: int) -> list[Any]:
    """What is told of a process of this cohort that starts, and says after which epoch."""
    before = len(told.events.told)
    trial: Any = SimpleNamespace(config={MEMBERS: members}, trial_id="tune-1", last_result={})
    told.recorder.on_trial_start(1, [], trial)
    said = EpochReport(epoch=epoch, metrics={}, failures={}, final=False, begins=True)
    told.recorder.on_trial_result(1, [], trial, {REPORT: said.model_dump_json()})
    return [(event[0], event[1], *event[4:]) for event in told.events.told[before:]]


def test_a_first_start_is_told_once_and_without_an_epoch(told: Told) -> None:
    assert begins(told, '{"a": {}, "b": {}}', 0) == [("started", "a"), ("started", "b")]


def test_a_trial_of_an_earlier_driver_is_told_to_go_on_where_it_was_saved(told: Told) -> None:
    assert begins(told, '{"c": {}}', 7) == [("started", "c", 7)]


def test_a_trial_whose_state_was_not_what_was_expected_says_where_it_starts(told: Told) -> None:
    assert begins(told, '{"c": {}}', 0) == [("started", "c", 7), ("started", "c", 0)]


def test_a_process_that_died_and_starts_again_says_where_it_goes_on(told: Told) -> None:
    begins(told, '{"a": {}}', 0)
    assert begins(told, '{"a": {}}', 5) == [("started", "a", 5)]
    assert begins(told, '{"a": {}}', 5) == [("started", "a", 5)], "once more, and nothing was saved in between"


def test_a_process_that_starts_again_on_another_node_names_that_node(told: Told) -> None:
    """Tune keeps the last result of the process that died, until the new one's has been handled."""
    trial = cohort()
    for node in ("10.0.0.1", "10.0.0.2"):
        said = EpochReport(epoch=5, metrics={}, failures={}, final=False, begins=True).model_dump_json()
        told.recorder.on_trial_result(1, [], trial, {REPORT: said, HOSTNAME: "node", NODE_IP: node})
        trial.last_result = {HOSTNAME: "node", NODE_IP: node}
    assert [event[2] for event in told.events.told] == ["node/10.0.0.1"] * 2 + ["node/10.0.0.2"] * 2


def test_a_member_that_had_failed_and_is_trained_elsewhere_is_not_told_of_here(told: Told) -> None:
    """It was retried: its cohort still has its row, and reports from before its failure."""
    trial = cohort()
    trial.config = {MEMBERS: '{"a": {}, "b": {}}', GONE: '["b"]'}
    told.recorder.on_trial_start(1, [], trial)
    old = EpochReport(epoch=1, metrics={"a": {}, "b": {}}, failures={"b": "long ago"}, final=False)
    for said in (old, report(2, final=True, a={})):
        told.recorder.on_trial_result(1, [], trial, {REPORT: said.model_dump_json()})
    assert {event[1] for event in told.events.told} == {"a"} and told.recorder.open == {"b", "c"}


def test_a_cohort_that_leaves_ends_no_trial_and_closes_the_study_for_others(told: Told) -> None:
    leaving = EpochReport(epoch=0, metrics={}, failures={}, final=False, leaves=True).model_dump_json()
    told.recorder.on_trial_result(1, [], cohort(), {REPORT: leaving})
    assert told.recorder.paused and told.events.told == [] and told.recorder.open == {"a", "b", "c"}


def test_deaths_of_processes_count_only_while_nothing_new_is_trained(told: Told) -> None:
    trial = cohort()

    def says(epoch: int, begins: bool = False) -> int:
        said = report(epoch, a={"accuracy": 0.5}).model_copy(update={"begins": begins})
        told.recorder.on_trial_result(1, [], trial, {REPORT: said.model_dump_json()})
        return int(trial.run_metadata.num_failures)

    says(5)
    trial.run_metadata.num_failures = 2
    assert says(3, begins=True) == 2 and [says(4), says(5)] == [2, 2], "what was trained before is nothing new"
    assert says(6) == 0


def test_a_process_that_died_without_a_traceback_fails_its_members_all_the_same(told: Told) -> None:
    told.recorder.on_trial_error(1, [], cohort())
    assert [event[2] for event in told.events.told] == ["tried 3 times: the worker process died"] * 2


def test_a_process_that_died_fails_its_members_with_the_last_line_of_the_traceback(told: Told, tmp_path: Path) -> None:
    trial = cohort()
    trial.error_file = str(tmp_path / "error.txt")
    Path(trial.error_file).write_bytes(b"Traceback\n  File x\nActorDied: killed \xff. Some common causes: many\n\n")
    told.recorder.on_trial_error(1, [], trial)
    assert told.events.told == [("failed", name, "tried 3 times: ActorDied: killed \ufffd.", []) for name in ("a", "b")]
    assert told.recorder.open == {"c"}


def test_a_process_whose_traceback_is_gone_fails_its_members_all_the_same(told: Told, tmp_path: Path) -> None:
    trial = cohort()
    trial.error_file = str(tmp_path / "gone.txt")
    told.recorder.on_trial_error(1, [], trial)
    assert [event[:2] for event in told.events.told] == [("failed", "a"), ("failed", "b")]
    assert all("cannot be read" in event[2] and "gone.txt" in event[2] for event in told.events.told)


def test_a_callback_never_raises_into_tune(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    told.recorder.on_trial_result(1, [], cohort(), {REPORT: "no report"})
    unreadable: Any = SimpleNamespace(config={}, last_result={}, error_file=None)
    told.recorder.on_trial_start(1, [], unreadable)
    told.recorder.on_trial_error(1, [], unreadable)
    for callback in ("on_trial_result", "on_trial_start", "on_trial_error"):
        assert f"{callback} failed" in caplog.text
    assert told.events.told == []


def test_an_epochs_report_is_parsed_once_also_where_a_budget_looks_at_it_first(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    whole = EpochReport.model_validate_json

    def parse(text: str) -> EpochReport:
        parsed.append(text)
        return whole(text)

    monkeypatch.setattr(EpochReport, "model_validate_json", parse)
    reporter: Any = told.events
    until = driver._Until(None, reporter, Budget(100.0, [], {}))
    results = [{REPORT: report(epoch, a={"epoch": epoch}).model_dump_json()} for epoch in (11, 12)]
    for result in results:
        until("tune-1", result)
        told.recorder.on_trial_result(1, [], cohort(), dict(result))
    assert [event[:3] for event in told.events.told] == [("report", "a", 11), ("report", "a", 12)]
    assert parsed == [result[REPORT] for result in results]


def test_tune_may_save_the_run_whose_reporter_cannot_be_saved() -> None:
    lock: Any = threading.Lock()
    searcher = CohortSearcher(Supply([], [], 1, None), 1, {"a": lock})
    for own in (Recorder(["a"], lock, lock), driver._Until(None, lock), searcher):
        pickle.dumps(own)


@pytest.mark.parametrize(
    ("resources", "cluster", "slots"),
    [
        ({}, {"CPU": 4.0}, 4),
        ({"cpus": 3}, {"CPU": 8.0}, 2),
        ({"cpus": 0.5}, {"CPU": 2.0}, 4),
        ({"concurrency": 3}, {"CPU": 8.0}, 3),
        ({"concurrency": 30}, {"CPU": 8.0}, 8),
        ({"gpus": 0.5}, {"CPU": 8.0, "GPU": 1.0}, 2),
        ({"cpus": 4, "gpus": 0.25}, {"CPU": 8.0, "GPU": 4.0}, 2),
    ],
)
def test_as_many_cohorts_run_as_the_scarcest_resource_allows(
    resources: dict[str, Any], cluster: dict[str, float], slots: int
) -> None:
    assert slots_of(Resources.model_validate(resources), cluster) == slots


@pytest.mark.parametrize(
    ("resources", "words"),
    [({"cpus": 3}, "resources.cpus = 3, but the cluster has 2"), ({"gpus": 1}, "gpus = 1, but the cluster has 0")],
)
def test_a_cluster_too_small_for_one_cohort_is_refused(resources: dict[str, Any], words: str) -> None:
    with pytest.raises(NotEnough, match=words):
        slots_of(Resources.model_validate(resources), {"CPU": 2.0})


def test_a_study_stops_at_its_time_limit_or_when_the_service_wants_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    reporter: Any = SimpleNamespace(ended=threading.Event())
    now = 99.0
    monkeypatch.setattr(time, "time", lambda: now)
    limited, unlimited = (driver._Until(deadline, reporter) for deadline in (100.0, None))
    assert not limited.stop_all() and not unlimited.stop_all()
    now = 100.0
    assert limited.stop_all() and limited.out_of_time
    assert not unlimited.stop_all()
    reporter.ended.set()
    assert unlimited.stop_all() and not unlimited.out_of_time
    now = 99.0
    assert limited.stop_all() and limited.out_of_time, "a clock that is set back does not give the time again"
    assert limited("a cohort", {"done": True}) is False, "a cohort is not stopped for itself"
