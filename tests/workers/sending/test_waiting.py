"""A driver whose trials are trained elsewhere: it suggests, waits, and needs no Ray."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from tests.service.elsewhere import GRID, SEARCH, far_study
from tests.workers.sending.service_stand_in import Answer, Request, StandIn
from workers import run_study
from workers.planning.ending import Ended
from workers.planning.work import Outcome, Work, out_of_time, together
from workers.run_study import DONE, FAILED, drive
from workers.sending import waiting
from workers.sending.reporter import Reporter

HERE: dict[str, Any] = {"name": "here", "problem": {"name": "forest", "depth": {"grid": [3, 4]}}}
TUNED = {**SEARCH, "search": {"name": "optuna", "trials": 6, "batch": 2}}
FILLED = {**SEARCH, "search": {"name": "fill", "trials": 8, "tolerance": 0.6}}


class Far:
    """A service whose trials are trained, one each time somebody looks, as soon as their values are known."""

    def __init__(self, *arms: dict[str, Any], ends: str = "finished", trains: int = 100, then: str = "running") -> None:
        self.spec = far_study(*arms)
        self.study = check_study(self.spec)
        self.trials: dict[str, dict[str, Any]] = {
            trial.id: {
                "id": trial.id,
                "arm": trial.arm,
                "state": "planned",
                "config": dict(trial.config),
                "metrics": {},
            }
            for trial in expand(self.study)
        }
        self.events: list[dict[str, Any]] = []
        self.state, self.ends, self.left, self.then = "running", ends, trains, then
        self.looks = 0

    def answer(self, request: Request) -> Answer:
        path, query = urlsplit(request.path).path, parse_qs(urlsplit(request.path).query)
        if path.endswith("/reports"):
            for event in json.loads(request.body)["events"]:
                self.events.append(event)
                if event["kind"] == "trial_suggested":
                    self.trials[event["trial"]]["config"] |= event["config"]
            return Answer(200, '{"accepted": 1, "duplicates": 0}')
        if path.endswith("/cohorts"):
            return Answer(200, '{"cohorts": []}')
        if path.endswith("/state"):
            self._train()
            said = {"state": self.state, "leave": self.state == "paused", "last_seq": self.looks}
            return Answer(200, json.dumps(said))
        if path.endswith("/trials"):
            arm = query.get("arm", [None])[0]
            trials = [trial for trial in self.trials.values() if arm in (None, trial["arm"])]
            return Answer(200, json.dumps({"trials": trials, "next": None}))
        return Answer(200, json.dumps({"id": "s1", "spec": self.spec, "started_at": None}))

    def _train(self) -> None:
        self.looks += 1
        free = (
            trial
            for trial in self.trials.values()
            if trial["state"] == "planned" and "problem.depth" in trial["config"] and trial["arm"] != "here"
        )
        if self.left and (trial := next(free, None)):
            self.left -= 1
            self.state = self.state if self.left else self.then
            depth = trial["config"]["problem.depth"]
            trial |= {"state": self.ends, "metrics": {"acc": 1 - 1 / depth, "leaves": depth}, "reason": "why"}

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["kind"] == kind]


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARETOSCOPE_JOB", "job7")
    monkeypatch.setattr(run_study, "_on_sigterm", lambda *_: None)
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.01)


def without_ray(*_: object) -> Outcome:
    raise AssertionError("Ray is not needed")


def driven(far: Far, monkeypatch: pytest.MonkeyPatch, train: Any = without_ray) -> int:
    monkeypatch.setattr(run_study, "_train", train)
    with StandIn(far.answer).serving() as service:
        return drive("s1", service.url, None)


def test_a_study_of_which_nothing_is_trained_here_ends_when_its_trials_do_and_needs_no_ray(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    far = Far(GRID)
    assert driven(far, monkeypatch) == DONE
    assert [event["kind"] for event in far.events] == ["study_finished"]
    assert {trial["state"] for trial in far.trials.values()} == {"finished"}


def test_a_search_suggests_batch_after_batch_as_results_come(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far(TUNED)
    assert driven(far, monkeypatch) == DONE
    suggested = far.of_kind("trial_suggested")
    assert [event["trial"] for event in suggested] == list(far.trials)
    assert all(1 <= event["config"]["problem.depth"] <= 9 for event in suggested)


def test_a_driver_that_is_started_again_suggests_the_same_and_waits_for_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first leaves with the third result, and takes nothing with it but what the log has."""
    whole, halves = Far(TUNED), Far(TUNED, trains=3, then="paused")
    assert driven(whole, monkeypatch) == driven(halves, monkeypatch) == DONE
    assert len(halves.of_kind("trial_suggested")) == 4 and halves.of_kind("study_finished") == []
    halves.state, halves.left, halves.then = "running", 100, "running"
    assert driven(halves, monkeypatch) == DONE
    one, two = ([each["config"]["problem.depth"] for each in far.trials.values()] for far in (whole, halves))
    assert one == two
    assert len({event["uid"] for event in halves.of_kind("trial_suggested")}) == 6


def test_a_front_that_is_filled_elsewhere_ends_the_study_and_spares_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far(FILLED, GRID)
    assert driven(far, monkeypatch) == DONE
    trained = [trial for trial in far.trials.values() if trial["state"] == "finished"]
    (end,) = far.of_kind("study_finished")
    suggested = [event["trial"] for event in far.of_kind("trial_suggested")]
    assert len(trained) == len(suggested) + 3 and 3 <= len(suggested) < 8
    assert end["reason"] == f"{FILLED['name']}: no gap above 0.6 left after {len(suggested)} of 8 trials"
    assert sorted([*end["spared"], *(trial["id"] for trial in trained)]) == sorted(far.trials)


def test_a_driver_that_is_started_again_fills_the_same_front(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, halves = Far(FILLED), Far(FILLED, trains=2, then="paused")
    assert driven(whole, monkeypatch) == driven(halves, monkeypatch) == DONE
    halves.state, halves.left, halves.then = "running", 100, "running"
    assert driven(halves, monkeypatch) == DONE
    one, two = ([each["config"].get("problem.depth") for each in far.trials.values()] for far in (whole, halves))
    (first,), (second,) = (far.of_kind("study_finished") for far in (whole, halves))
    assert one == two and first["spared"] == second["spared"] != []


def test_a_search_that_ends_early_with_failures_alone_fails_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far(FILLED, ends="failed")
    assert driven(far, monkeypatch) == FAILED
    assert "every trial failed" in far.of_kind("study_failed")[0]["reason"]


def test_what_was_spared_here_and_elsewhere_is_told_together() -> None:
    study = check_study(far_study(GRID))
    both = together(study, Outcome("a", spared=("t1",)), Outcome("b", spared=("t2",)))
    assert both == Outcome("a; b", spared=("t1", "t2"))
    late = together(study, out_of_time(study, 1, Ended(("t1",))), Outcome("b", spared=()))
    assert late.spared == ("t1",) and late.reason and "1 of 2 trials not trained" in late.reason


def test_a_pause_is_heard_and_the_study_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far(GRID)
    far.state = "paused"
    assert driven(far, monkeypatch) == DONE and far.events == []


def test_a_study_whose_last_trial_ends_while_a_pause_is_asked_for_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far(GRID)
    far.left, far.then = len(far.trials), "paused"
    assert driven(far, monkeypatch) == DONE
    assert [event["kind"] for event in far.events] == ["study_finished"]


def test_a_cancelled_study_is_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far(GRID, trains=0)
    far.state = "cancelled"
    driven(far, monkeypatch)
    assert far.events == []


def test_the_time_limit_ends_the_waiting_and_counts_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far(GRID, trains=1)
    far.spec |= {"limits": {"seconds": 0.5}}
    assert driven(far, monkeypatch) == DONE
    assert far.of_kind("study_finished")[0]["reason"] == "time limit of 0.5 s reached, 2 of 3 trials not trained"


def test_a_study_all_of_whose_trials_failed_elsewhere_is_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far(GRID, ends="failed")
    assert driven(far, monkeypatch) == FAILED
    assert far.of_kind("study_failed")[0]["reason"] == "every trial failed (3 trials); the first: why"


def test_what_is_trained_here_goes_to_ray_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def train(study: str, work: Work, reporter: Reporter) -> Outcome:
        for trial in work.trials:
            given.append(trial.arm)
            reporter.trial_finished(trial.id)
        return Outcome()

    far = Far(HERE, GRID)
    assert driven(far, monkeypatch, train) == DONE
    assert given == ["here", "here"]
    assert [event["kind"] for event in far.events] == ["trial_finished", "trial_finished", "study_finished"]


def test_when_ray_fails_nobody_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: object) -> Outcome:
        raise ValueError("resources.cpus = 9, but the cluster has 2")

    far = Far(HERE, GRID, trains=0)
    assert driven(far, monkeypatch, train) == FAILED
    assert "the cluster has 2" in far.of_kind("study_failed")[0]["reason"]


def test_two_places_are_paused_together_and_late_together() -> None:
    study = check_study({**far_study(HERE, GRID), "limits": {"seconds": 9}})
    assert together(study, Outcome(), Outcome(paused=True)) == Outcome(paused=True)
    assert together(study, Outcome(), Outcome()) == Outcome()
    both = together(study, out_of_time(study, 2), out_of_time(study, 3))
    assert both.reason == "time limit of 9 s reached, 5 of 5 trials not trained"


def test_a_search_elsewhere_that_has_enough_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    far = Far({**TUNED, "search": {"name": "optuna", "trials": 40, "batch": 2}})
    far.spec |= {"limits": {"gain": 0.3, "patience": 1}}
    assert driven(far, monkeypatch) == DONE
    ended = far.of_kind("study_finished")[0]
    assert ended["reason"].startswith(f"{TUNED['name']}: stopped after ")
    assert len(ended["spared"]) + len(far.of_kind("trial_suggested")) == 40
    assert len(far.of_kind("trial_suggested")) < 40
