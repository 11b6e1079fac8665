"""The driver of a study: what it fetches, and how it says that it ended."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput
from tests.workers.sending.service_stand_in import Answer, Request, StandIn
from tests.workers.stand_ins import put_domains
from workers import run_study
from workers.on_ray.searcher import CohortSearcher
from workers.on_ray.trainable import living_of, members_of
from workers.planning.past import Past
from workers.planning.rounds import Round
from workers.planning.supply import Supply
from workers.planning.work import Outcome, Work
from workers.run_study import DONE, FAILED, LOST, drive, fetch, job_id, main
from workers.sending import asking
from workers.sending.reporter import Reporter
from workers.sending.study_client import StudyClient

LISTEN = run_study._on_sigterm  # the others do without it

SPEC: dict[str, Any] = {
    "name": "s",
    "seeds": [0, 1],
    "arms": [{"name": "a", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2]}}}],
}


class Known:
    """A service with one study; `events` are those that were reported."""

    def __init__(
        self,
        spec: dict[str, Any],
        states: list[str],
        started_at: str | None = None,
        limited_from: str | None = None,
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self.spec, self.states = spec, states
        self.times = {"started_at": started_at, "limited_from": limited_from}
        self.cohorts: list[dict[str, Any]] = []
        self.extensions = 0
        self.metrics: dict[str, Any] = {}  # of its first trial
        self.suggested: dict[str, dict[str, Any]] = {}  # by trial

    def answer(self, request: Request) -> Answer:
        if request.path.endswith("/reports"):
            self.events += json.loads(request.body)["events"]
            return Answer(200, '{"accepted": 1, "duplicates": 0}')
        if request.path.endswith("/cohorts"):
            return Answer(200, json.dumps({"cohorts": self.cohorts}))
        if "/trials" in request.path:
            trials = [
                {
                    "id": trial.id,
                    "arm": trial.arm,
                    "state": state,
                    "config": {**trial.config, **self.suggested.get(trial.id, {})},
                    "metrics": {},
                    "extensions": self.extensions,
                }
                for trial, state in zip(expand(check_study(self.spec)), self.states, strict=True)
            ]
            trials[0]["metrics"] = self.metrics
            return Answer(200, json.dumps({"trials": trials, "next": None}))
        return Answer(200, json.dumps({"id": "s1", "spec": self.spec, **self.times}))


@pytest.fixture(autouse=True)
def as_job_seven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARETOSCOPE_JOB", "job7")
    monkeypatch.setattr(run_study, "_on_sigterm", lambda *_: None)


def fetched(known: Known) -> Work:
    with StandIn(known.answer).serving() as service, StudyClient(service.url, None, "s1") as client:
        return fetch(client)


def test_only_trials_that_are_not_over_are_left() -> None:
    work = fetched(Known(SPEC, ["finished", "failed", "running", "stopped"]))
    assert [trial.id for trial in work.trials] == [trial.id for trial in expand(check_study(SPEC))[2:]]


def test_time_runs_from_the_start_of_the_study_not_of_its_driver() -> None:
    limited = {**SPEC, "limits": {"seconds": 100}}
    started = "2026-01-02T03:04:05.5+00:00"
    assert fetched(Known(limited, ["planned"] * 4, started)).deadline == pytest.approx(1767323045.5 + 100)
    assert fetched(Known(SPEC, ["planned"] * 4, started)).deadline is None


def test_time_that_a_study_did_not_run_does_not_count() -> None:
    """It was paused over night, or went on after its end."""
    known = Known({**SPEC, "limits": {"seconds": 100}}, ["planned"] * 4, "2026-01-01T00:00:00Z", "2026-01-02T03:04:05Z")
    assert fetched(known).deadline == 1767323045 + 100


def test_time_runs_from_now_where_nobody_says_when_the_study_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 5000.0)
    assert fetched(Known({**SPEC, "limits": {"seconds": 100}}, ["planned"] * 4)).deadline == 5100.0


def test_a_driver_knows_what_its_searches_had_before() -> None:
    beta = {"range": {"from": 0.1, "to": 1.0}}
    arm = {"weighting": {"name": "fixed", "beta": beta}, "search": {"name": "optuna", "trials": 2}}
    searching = {"name": "s", "arms": [{"name": "tuned", **arm}]}
    first, second = expand(check_study(searching))
    work = fetched(Known(searching, ["failed", "planned"]))
    assert [trial.id for trial in work.trials] == [second.id]
    assert work.past == {first.id: Past({}, over=True, objectives=None)}


def test_a_cohort_that_was_saved_is_formed_again_with_its_failed_members() -> None:
    known = Known(SPEC, ["failed", "running", "planned", "planned"])
    first, second, third, _ = (trial.id for trial in expand(check_study(SPEC)))
    known.cohorts = [
        {"members": {first: {}, second: {}}, "epoch": 7, "seconds": 3.0, "failed": [first]},
        {"members": {second: {}, third: {}}, "epoch": 2, "seconds": 1.0},
        {"members": {"of another study": {}}, "epoch": 9, "seconds": 1.0},
    ]
    (begun,) = fetched(known).begun
    assert ([trial.id for trial in begun.cohort], begun.epoch) == ([first, second], 7)


def test_a_failed_member_that_is_retried_is_trained_beside_the_cohort_that_it_left() -> None:
    known = Known(SPEC, ["planned"] * 4)
    first, second, third, fourth = (trial.id for trial in expand(check_study(SPEC)))
    known.cohorts = [
        {"members": {first: {}, second: {}, third: {}}, "epoch": 7, "seconds": 3.0, "failed": [second]},
        {"members": {second: {}}, "epoch": 3, "seconds": 1.0},
    ]
    work = fetched(known)
    planned = [trial for trial in work.trials if isinstance(trial, PlannedTrial)]
    searcher = CohortSearcher(Supply(planned, [], 3, None, work.begun), 3, {})
    configs = [searcher.suggest(f"tune-{i}") for i in range(3)]
    assert [(list(members_of(config)), list(living_of(config))) for config in configs] == [
        ([first, second, third], [first, third]),
        ([second], [second]),
        ([fourth], [fourth]),
    ]


def test_a_state_of_fewer_epochs_is_gone_on_from_unless_the_training_depends_on_their_number() -> None:
    tasks = {"problem": {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}}
    forms = {"name": "arml", "form": {"grid": ["simplified", "two-stage"]}}
    spec = {**SPEC, "seeds": [0], "training": {"epochs": 9}, "arms": [{"name": "a", "weighting": forms, **tasks}]}
    known = Known(spec, ["planned"] * 2)
    simple, staged = (trial.id for trial in expand(check_study(spec)))
    for epochs, gone_on in ((5, [simple]), (9, [simple, staged])):
        known.cohorts = [
            {"members": {trial: {}}, "epoch": 5, "seconds": 1.0, "epochs": epochs} for trial in (simple, staged)
        ]
        assert [begun.cohort[0].id for begun in fetched(known).begun] == gone_on


def test_what_is_trained_anew_is_told_under_another_name() -> None:
    tasks = {"problem": {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}}
    forms = {"name": "arml", "form": {"grid": ["simplified", "two-stage"]}}
    spec = {**SPEC, "seeds": [0], "arms": [{"name": "a", "weighting": forms, **tasks}]}
    known = Known(spec, ["planned"] * 2)
    known.extensions = 2
    simple, staged = (trial.id for trial in expand(check_study(spec)))
    with StandIn(known.answer).serving() as service:
        client = StudyClient(service.url, None, "s1")
        reporter = Reporter(client, "job7")
        reporter.rounds = fetch(client).rounds
        for trial in (simple, staged):
            reporter.report(trial, 1, {"epoch": 1})
            reporter.trial_finished(trial)
        assert reporter.close(30)
    assert [event["uid"] for event in known.events] == [
        f"{simple}:1",
        f"{simple}:finished:2",
        f"{staged}:anew2:1",
        f"{staged}:anew2:finished:2",
    ]


def test_a_form_that_was_suggested_decides_whether_more_epochs_began_a_trial_anew() -> None:
    tasks = {"problem": {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}}
    forms = {"name": "arml", "form": {"choice": ["simplified", "two-stage"]}}
    search = {"search": {"name": "optuna", "trials": 2}}
    spec = {**SPEC, "seeds": [0], "arms": [{"name": "a", "weighting": forms, **tasks, **search}]}
    known = Known(spec, ["planned"] * 2)
    simple, staged = (trial.id for trial in expand(check_study(spec)))
    known.suggested = {simple: {"weighting.form": "simplified"}, staged: {"weighting.form": "two-stage"}}
    assert fetched(known).rounds == {}, "they got no more of them"
    known.extensions = 2
    assert fetched(known).rounds == {simple: Round(0, 2, anew=False), staged: Round(0, 2, anew=True)}


def test_a_paused_study_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known(SPEC, ["planned"] * 4)
    assert driven(known, monkeypatch, lambda *_: Outcome(paused=True)) == (DONE, [])


def driven(known: Known, monkeypatch: pytest.MonkeyPatch, train: Any) -> tuple[int, list[tuple[str, str | None]]]:
    monkeypatch.setattr(run_study, "_train", train)
    with StandIn(known.answer).serving() as service:
        code = drive("s1", service.url, None)
    return code, [(event["uid"], event.get("reason")) for event in known.events]


@pytest.mark.parametrize("reason", [None, "time limit of 1 s reached"])
def test_a_trained_study_is_finished_with_the_reason_it_has(
    reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(study: str, work: Work, reporter: Reporter) -> Outcome:
        reporter.report(work.trials[0].id, 1, {"epoch": 1})
        return Outcome(reason)

    code, events = driven(Known(SPEC, ["planned"] * 4), monkeypatch, train)
    assert (code, events[-1]) == (DONE, ("study:finished:job7", reason))
    code, events = driven(Known(SPEC, ["finished", *["planned"] * 3]), monkeypatch, lambda *_: Outcome(reason))
    assert (code, events) == (DONE, [("study:finished:job7", reason)])


@pytest.mark.parametrize("states", [["planned"] * 4, ["failed", "running", "planned", "planned"]])
def test_a_study_that_trained_nothing_is_not_finished(states: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that is over before the first epoch is, or a run in which nothing happened."""
    reason = "time limit of 1 s reached, 4 of 4 trials not trained"
    for outcome, words in ((Outcome(reason), f"nothing was trained: {reason}"), (Outcome(), "nothing was trained")):
        code, events = driven(Known(SPEC, states), monkeypatch, lambda *_, how=outcome: how)
        assert (code, events) == (FAILED, [("study:failed:job7", words)])


def test_what_an_earlier_driver_reported_counts_as_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known(SPEC, ["running", *["planned"] * 3])
    known.metrics = {"epoch": 3}
    code, events = driven(known, monkeypatch, lambda *_: Outcome("time limit of 1 s reached"))
    assert (code, events) == (DONE, [("study:finished:job7", "time limit of 1 s reached")])


def test_a_finished_study_says_which_files_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(study: str, work: Work, reporter: Reporter) -> Outcome:
        reporter.trial_finished("t1", missing="checkpoint.safetensors was refused: too large")
        reporter.trial_finished("t2")
        return Outcome("time limit of 1 s reached")

    _, events = driven(Known(SPEC, ["planned"] * 4), monkeypatch, train)
    said = "files of 1 trial are missing; the first: checkpoint.safetensors was refused: too large"
    assert events[0] == ("t1:finished", "checkpoint.safetensors was refused: too large")
    assert events[-1] == ("study:finished:job7", f"time limit of 1 s reached; {said}")


def test_what_drivers_left_that_were_killed_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ["paretoscope-tune-99999999-a", f"paretoscope-tune-{os.getpid()}-b", "paretoscope-tune-old", "another"]
    for name in names:
        (tmp_path / name / "study").mkdir(parents=True)
    run_study.sweep_scratch()
    assert sorted(folder.name for folder in tmp_path.iterdir()) == sorted(names[1:])


def failing(count: int) -> Any:
    """A training in which this many trials fail and the others do not."""

    def train(study: str, work: Work, reporter: Reporter) -> Outcome:
        for i, trial in enumerate(work.trials):
            if i < count:
                reporter.trial_failed(trial.id, f"reason {i}")
            else:
                reporter.trial_finished(trial.id)
        return Outcome()

    return train


@pytest.mark.parametrize(
    ("states", "reason"),
    [
        (["planned"] * 4, "every trial failed (4 trials); the first: reason 0"),
        (["failed", "failed", "planned", "planned"], "every trial failed (4 trials); the first: reason 0"),
        (["failed"] * 4, "every trial failed (4 trials)"),
    ],
)
def test_a_study_in_which_every_trial_failed_is_failed(
    states: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, events = driven(Known(SPEC, states), monkeypatch, failing(4))
    assert (code, events[-1]) == (FAILED, ("study:failed:job7", reason))


@pytest.mark.parametrize(("states", "fails"), [(["planned"] * 4, 3), (["finished", *["planned"] * 3], 3)])
def test_a_study_with_one_trained_trial_is_finished(
    states: list[str], fails: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, events = driven(Known(SPEC, states), monkeypatch, failing(fails))
    assert (code, events[-1]) == (DONE, ("study:finished:job7", None))


def test_a_misspelt_domain_fails_the_study_before_anything_is_trained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the service does not see the folder, the driver does."""
    put_domains(tmp_path / "pictures", each=1)
    monkeypatch.setenv("PARETOSCOPE_DATA", str(tmp_path))
    problem = {"name": "multitask", "main": "domain-lft", "auxiliaries": ["domain-photo"]}
    spec = {**SPEC, "data": {"name": "image-folder", "path": "pictures"}, "problem": problem}
    spec["arms"] = [{"name": "a", "weighting": {"name": "uniform"}}]
    trained: list[object] = []
    code, ((_, reason),) = driven(Known(spec, ["planned"] * 2), monkeypatch, lambda *own: trained.append(own))
    assert code == FAILED and not trained
    assert reason is not None and "arms[0].problem.main: the folder has no domain for task 'domain-lft'" in reason
    assert reason.endswith("known: domain-art-painting, domain-photo, domain-sketch")


def test_a_driver_that_raises_fails_the_study_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: Any) -> None:
        raise ValueError("resources.cpus = 9, but the cluster has 2")

    code, events = driven(Known(SPEC, ["planned"] * 4), monkeypatch, train)
    why = "the study could not be trained: resources.cpus = 9, but the cluster has 2"
    assert (code, events) == (FAILED, [("study:failed:job7", why)])


@pytest.mark.parametrize(
    ("error", "words"),
    [(AssertionError(), "AssertionError"), (InvalidInput("data.path is not there"), "data.path is not there")],
)
def test_an_error_is_told_in_its_own_words_or_by_its_name(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(*_: Any) -> None:
        raise error

    _, events = driven(Known(SPEC, ["planned"] * 4), monkeypatch, train)
    assert events == [("study:failed:job7", f"the study could not be trained: {words}")]


def test_a_study_that_its_own_version_refuses_fails_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known({**SPEC, "seeds": []}, [])
    code, ((uid, reason),) = driven(known, monkeypatch, lambda *_: None)
    assert (code, uid) == (FAILED, "study:failed:job7") and reason is not None and "seeds" in reason


@pytest.mark.parametrize("raises", [False, True])
def test_a_driver_whose_last_word_does_not_arrive_is_lost(raises: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*_: Any) -> Outcome:
        if raises:
            raise ValueError("why")
        return Outcome()

    monkeypatch.setattr(run_study, "LAST_EVENTS_SECONDS", 0.2)
    monkeypatch.setattr(run_study, "_train", train)
    known = Known(SPEC, ["planned"] * 4)

    def answer(request: Request) -> Answer:
        return Answer(503) if request.method == "POST" else known.answer(request)

    with StandIn(answer).serving() as service:
        assert drive("s1", service.url, None) == LOST


def test_a_driver_is_started_with_one_study_and_the_address_and_token_of_the_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driven: list[tuple[str, str, str | None]] = []

    def drive(study: str, url: str, token: str | None) -> int:
        driven.append((study, url, token))
        return 7

    monkeypatch.setattr(run_study, "drive", drive)
    for name in ("PARETOSCOPE_URL", "PARETOSCOPE_TOKEN", "PARETOSCOPE_TOKEN_PATH", "PARETOSCOPE_CLAIM"):
        monkeypatch.delenv(name, raising=False)
    assert main(["s1"]) == 2
    monkeypatch.setenv("PARETOSCOPE_URL", "http://service")
    assert main([]) == main(["s1", "s2"]) == 2 and driven == []
    assert main(["s1"]) == 7
    monkeypatch.setenv("PARETOSCOPE_TOKEN", "secret")
    assert main(["s1"]) == 7
    assert driven == [("s1", "http://service", None), ("s1", "http://service", "secret")]


def test_a_driver_that_loses_ray_ends_without_a_word_so_that_it_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def train(*_: Any) -> None:
        raise ConnectionError("Ray: gone")

    assert driven(Known(SPEC, ["planned"] * 4), monkeypatch, train) == (LOST, [])


def test_a_study_that_was_ended_meanwhile_is_not_finished_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(study: str, work: Work, reporter: Reporter) -> Outcome:
        reporter.ended.set()
        return Outcome()

    assert driven(Known(SPEC, ["planned"] * 4), monkeypatch, train) == (DONE, [])


@pytest.mark.parametrize("status", [404, 503])
def test_a_study_that_cannot_be_fetched_is_lost_not_failed(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.3)
    with StandIn(lambda request: Answer(status)).serving() as service:
        assert drive("s1", service.url, None) == LOST
    assert {request.method for request in service.requests} == {"GET"}


class Left(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def sigterm(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Send the signal to what listens for it now: what the driver leaves with."""
    handlers: list[Any] = []

    def leave(code: int) -> None:
        raise Left(str(code))

    monkeypatch.setattr(run_study, "_on_sigterm", LISTEN)
    monkeypatch.setattr(signal, "signal", lambda number, handler: handlers.append((number, handler)))
    monkeypatch.setattr(os, "_exit", leave)

    def send() -> str:
        number, handler = handlers[-1]
        assert number == signal.SIGTERM
        with pytest.raises(Left) as left:
            handler(number, None)
        return str(left.value)

    return send


def test_a_cancelled_driver_sends_what_it_has_and_leaves_nothing_behind(
    sigterm: Callable[[], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from workers.on_ray import cluster, driver

    known = Known(SPEC, ["planned"] * 4)
    folders: list[Path] = []
    codes: list[str] = []
    left: list[bool] = []

    def run(study_id: str, work: Work, reporter: Reporter, scratch: Path) -> Outcome:
        (scratch / "study").mkdir()
        folders.append(scratch)
        reporter.trial_failed(work.trials[0].id, "before the signal")
        codes.append(sigterm())
        left.append(scratch.exists())  # asked here: what ends in order cleans up as well
        return Outcome()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cluster, "connected", nullcontext)
    monkeypatch.setattr(driver, "run", run)
    with StandIn(known.answer).serving() as service:
        drive("s1", service.url, None)
    assert left == [False], "what Tune wrote is gone before the process is"
    assert codes == ["143"] and [folder.parent for folder in folders] == [tmp_path]
    assert [event["reason"] for event in known.events][:1] == ["before the signal"]


@pytest.mark.parametrize("error", [None, ValueError("broken")])
def test_the_scratch_folder_is_gone_however_the_training_ends(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from workers.on_ray import cluster, driver

    seen: list[Path] = []
    (tmp_path / "paretoscope-tune-99999999-a").mkdir()  # of a driver that was killed

    def run(*given: Any) -> Outcome:
        seen.extend(tmp_path.iterdir())
        if error:
            raise error
        return Outcome()

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cluster, "connected", nullcontext)
    monkeypatch.setattr(driver, "run", run)
    with StandIn(Known(SPEC, ["finished", *["planned"] * 3]).answer).serving() as service:
        assert drive("s1", service.url, None) == (FAILED if error else DONE)
    assert len(seen) == 1 and list(tmp_path.iterdir()) == []


def test_a_driver_that_is_cancelled_before_it_trains_leaves_as_well(
    sigterm: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[str] = []

    def train(*_: Any) -> Outcome:
        codes.append(sigterm())
        return Outcome()

    driven(Known(SPEC, ["planned"] * 4), monkeypatch, train)
    assert codes == ["143"]


def test_the_job_is_rays_own_unless_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert job_id("s1") == "job7"
    monkeypatch.delenv("PARETOSCOPE_JOB")
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", '{"metadata": {"job_submission_id": "s1-2"}}')
    assert job_id("s1") == "s1-2"
    monkeypatch.delenv("RAY_JOB_CONFIG_JSON_ENV_VAR")
    assert job_id("s1") == "s1"


def test_a_study_none_of_whose_trials_was_needed_has_not_failed() -> None:
    work = Work(check_study(SPEC), [], {}, None, Counter(), [], {}, {}, frozenset())
    assert run_study._all_failed(work, {}, Outcome("spent", spared=("t1",))) is None
    assert run_study._all_failed(work, {"t1": "why"}, Outcome()) == "every trial failed (1 trial); the first: why"
