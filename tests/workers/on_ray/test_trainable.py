"""One cohort in its process: what it is told, where it runs, and what it sends, with a training that is played."""

from __future__ import annotations

import functools
import itertools
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import SecretStr

from service.contract.methods.data import Digits
from service.contract.methods.models import OwnModel
from service.contract.methods.own_description import Code, Described, OwnMetric
from service.contract.methods.own_problems import of_trial
from service.contract.methods.weightings import Fixed, Uniform
from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.parsing import check_study
from service.contract.study.study import Evaluation, Training
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.errors import InvalidInput
from tests.workers.own_code.parts import written
from tests.workers.sending.service_stand_in import Answer, Request, StandIn
from workers.on_ray import trainable
from workers.on_ray.trainable import MEMBERS, REPORT, report_of, train_cohort
from workers.own_code.errors import CodeError
from workers.planning.cohorts import TooLarge
from workers.planning.plan import Plan
from workers.sending.files import keep

log = logging.getLogger("some.library")
KEEPS_NOTHING = Evaluation(checkpoints=False)
SEND = trainable._send


class Played:
    """Stands for the training: keeps what it was called with, and does what a test wants."""

    def __init__(self) -> None:
        self.sent: list[EpochReport] = []
        self.members: list[PlannedTrial] = []
        self.device = torch.device("meta")
        self.at_end: Any = None
        self.does: Callable[[], Iterator[EpochReport]] = lambda: iter(())

    def train(
        self, members: Sequence[PlannedTrial], data: Any, evaluation: Any, device: torch.device, **hooks: Any
    ) -> Iterator[EpochReport]:
        self.members, self.device, self.at_end = list(members), device, hooks["at_end"]
        self.begun, self.between = hooks["begun"], hooks["between"]
        return self.does()


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    played = Played()
    for name in ("PARETOSCOPE_URL", "PARETOSCOPE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("ray.get_gpu_ids", list)
    monkeypatch.setattr("workers.training.loop.train", played.train)
    monkeypatch.setattr(trainable, "_send", played.sent.append)
    return played


def plan_of(*trials: PlannedTrial, cpus: float = 1, evaluation: Evaluation = KEEPS_NOTHING) -> Plan:
    return Plan({trial.id: trial for trial in trials}, Digits(), evaluation, cpus, "s1")


def run(plan: Plan, **suggested: dict[str, Any]) -> None:
    train_cohort({MEMBERS: json.dumps({trial: suggested.get(trial, {}) for trial in plan.trials})}, plan)


def nothing_saved(request: Request) -> Answer:
    """A service that takes what is sent."""
    if request.path.endswith("/s1/state"):
        return Answer(200, '{"state": "running", "leave": false}')
    return Answer(404 if request.method == "GET" else 204)


def epoch(number: int, final: bool = False) -> EpochReport:
    return EpochReport(epoch=number, metrics={}, failures={}, final=final)


def test_a_cohort_that_tune_stops_leaves_at_once(played: Played, cohorts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second report would wait for ever, and Tune gives up a cohort for which this process does not get free."""
    told: list[dict[str, str]] = []

    def stops(result: dict[str, str]) -> None:
        told.append(result)
        sys.exit(0)  # as Tune does in whatever thread reports

    monkeypatch.setattr(trainable, "_send", SEND)
    monkeypatch.setattr("ray.tune.report", stops)
    played.does = lambda: iter([epoch(1), epoch(2, final=True)])
    with pytest.raises(SystemExit) as end:
        run(plan_of(cohorts.trial("a", Fixed(beta=0.1))))
    assert end.value.code == 0 and len(told) == 1


@pytest.mark.parametrize(("cpus", "threads"), [(0.5, 1), (1, 1), (2.7, 2), (3, 3)])
def test_a_cohort_uses_as_many_threads_as_it_has_whole_cpus(
    played: Played, cohorts: Any, cpus: float, threads: int
) -> None:
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1)), cpus=cpus))
    assert torch.get_num_threads() == threads and played.sent == [], "nothing failed"


@pytest.mark.parametrize(
    ("gpus", "usable", "device"), [([], True, "cpu"), ([0], True, "cuda"), ([0], False, "cpu"), ([], False, "cpu")]
)
def test_a_cohort_trains_on_the_gpu_that_ray_gave_it_and_says_so_where_there_is_none(
    played: Played, cohorts: Any, monkeypatch: pytest.MonkeyPatch, gpus: list[int], usable: bool, device: str
) -> None:
    monkeypatch.setattr("ray.get_gpu_ids", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: usable)
    played.does = lambda: iter([epoch(1, final=True)])
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1))))
    assert played.device.type == device
    log = "\n".join(played.sent[-1].log)
    assert ("GPU of Ray: 0" in log) == bool(gpus) and ("torch can use none here" in log) == (
        device != "cuda" and gpus != []
    )


@pytest.mark.parametrize(("count", "end"), [(8, "t6, t7"), (9, "t6, t7 and 1 more"), (11, "t6, t7 and 3 more")])
def test_the_first_line_of_a_large_cohort_names_eight_members_and_counts_the_rest(
    played: Played, cohorts: Any, count: int, end: str
) -> None:
    played.does = lambda: iter([epoch(1, final=True)])
    run(plan_of(*(cohorts.trial(f"t{i}", Fixed(beta=0.1)) for i in range(count))))
    (report,) = played.sent
    assert f"cohort of {count} on " in report.log[0] and report.log[0].endswith(end)


def test_a_member_of_a_search_is_trained_with_its_own_suggestion(played: Played) -> None:
    arm = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 0.1, "to": 1.0}}},
        "search": {"name": "optuna", "trials": 2},
    }
    first, second = expand(check_study({"name": "s", "arms": [arm]}))
    plan = Plan({second.id: second, first.id: first}, Digits(), KEEPS_NOTHING, 1)
    run(plan, **{first.id: {"weighting.beta": 0.25}, second.id: {"weighting.beta": 0.75}})
    assert [(trial.id, trial.weighting) for trial in played.members] == [
        (second.id, Fixed(beta=0.75)),
        (first.id, Fixed(beta=0.25)),
    ]


def flood() -> Iterator[EpochReport]:
    """More lines than go out as they come, in two epochs."""
    for number in (1, 2):
        for step in range(300):
            log.info("step %d.%d", number, step)
        yield epoch(number, final=number == 2)


def test_the_last_report_carries_the_lines_that_were_held_back(played: Played, cohorts: Any) -> None:
    played.does = flood
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1))))
    first, last = played.sent
    assert (first.epoch, last.epoch, last.final) == (1, 2, True)
    assert len(first.log) == len(last.log) == 200
    assert first.log[-1].endswith(" step 1.299") and last.log[-1].endswith(" step 2.299")


def test_a_cohort_that_raises_after_many_lines_still_says_why(played: Played, cohorts: Any) -> None:
    def raising() -> Iterator[EpochReport]:
        yield from itertools.islice(flood(), 1)
        log.info("once more")
        raise RuntimeError("no room\nfor the rest")

    played.does = raising
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1)), cohorts.trial("b", Fixed(beta=0.1))))
    _, last = played.sent
    why = "RuntimeError: no room\nfor the rest"
    assert (last.epoch, last.metrics, last.final) == (0, {}, True)
    assert last.failures == {"a": why, "b": why}
    assert last.log[0].endswith("once more") and last.log[1].endswith("the cohort failed")
    assert last.log[2] == "Traceback (most recent call last):" and last.log[-2:] == why.split("\n")


def test_of_a_fault_in_user_code_the_log_has_their_frames_only(played: Played, cohorts: Any) -> None:
    def faulty() -> Iterator[EpochReport]:
        raise CodeError("ValueError: no", "mine.py", 3, ["  mine.py:9 in losses: f(x)", "  mine.py:3 in f: raise"])

    played.does = faulty
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1))))
    assert played.sent[-1].failures == {"a": "mine.py:3: ValueError: no"}
    said = played.sent[-1].log
    assert said[-3].endswith("the cohort failed: mine.py:3: ValueError: no")
    assert said[-2:] == ["  mine.py:9 in losses: f(x)", "  mine.py:3 in f: raise"]
    assert not any("Traceback" in line or "trainable.py" in line for line in said)


def test_code_that_ends_the_process_fails_its_trials_and_no_more(played: Played, cohorts: Any) -> None:
    def leaving() -> Iterator[EpochReport]:
        raise SystemExit(3)

    played.does = leaving
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1))))
    assert played.sent[-1].failures == {"a": "SystemExit: 3"} and played.sent[-1].final


def test_a_cohort_that_is_too_large_says_how_many_fit(played: Played, cohorts: Any) -> None:
    def large() -> Iterator[EpochReport]:
        raise TooLarge("3 members are too many", 2)

    played.does = large
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1)), cohorts.trial("b", Fixed(beta=0.1))))
    (said,) = played.sent
    assert (said.most, said.final, said.failures) == (2, False, {}) and said.log[-1].endswith("3 members are too many")


SCRIPT = Described(name="grow", kind="script", metrics=[OwnMetric(name="size", goal="maximize")])
GROW = """
import time

from paretoscope import trainable


@trainable(metrics={"size": "maximize"})
def grow(trial):
    BODY
    trial.report(size=3)
"""


@pytest.mark.timeout(90)
@pytest.mark.parametrize(
    "body",
    [
        "for _ in range(1 if done() else 10**7): time.sleep(0.001)",
        "trial.saved or (trial.save(b'x'), [time.sleep(0.001) for _ in range(10**7)])",
    ],
    ids=["it saves nothing", "it saves"],
)
def test_a_paused_script_goes_on_from_what_it_saved_or_begins_anew(
    real: tuple[Kept, list[EpochReport]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """It never looks whether it is to stop, and reports once, at its end."""
    service, sent = real
    done = tmp_path / "done"
    text = GROW.replace("BODY", body).replace("done()", f"__import__('os').path.exists({str(done)!r})")
    code = written(tmp_path, text)
    monkeypatch.setattr(trainable, "_own_code", lambda *how, **more: code)
    monkeypatch.setattr(trainable, "NOTICE_SECONDS", 0.2)
    monkeypatch.setattr("workers.own_code.watching.LEAST_SECONDS", 0.2)
    monkeypatch.setattr("workers.sending.saving.ASK_SECONDS", 0.05)
    trial = PlannedTrial("t", "a", 0, {}, of_trial(SCRIPT)(name="grow"), Uniform(), OwnModel(), Training())
    plan = plan_of(trial)._replace(code=Code(hash="0" * 64, entry="mine.py", problems=[SCRIPT]))
    service.state = "paused"
    run(plan)
    assert [(report.begins, report.leaves) for report in sent] == [(True, False), (False, True)]
    assert not any(report.failures or report.final for report in sent)
    assert bool(service.saved) is ("save" in body)
    service.state = "running"
    done.touch()
    sent.clear()
    run(plan)
    assert [(report.epoch, report.final) for report in sent] == [(0, False), (1, False), (1, True)]
    assert sent[1].metrics["t"]["size"] == 3 and not sent[-1].failures


def test_an_error_of_ours_is_told_in_its_own_words(played: Played, cohorts: Any) -> None:
    def refusing() -> Iterator[EpochReport]:
        raise InvalidInput("data.path: there is no such file")

    played.does = refusing
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1))))
    assert played.sent[-1].failures == {"a": "data.path: there is no such file"}


def test_a_report_travels_as_one_text_that_says_all(monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[dict[str, Any]] = []
    monkeypatch.setattr("ray.tune.report", results.append)
    report = EpochReport(epoch=2, metrics={"a": {"accuracy": 0.5}}, failures={"b": "why"}, final=True, log=["ä"])
    trainable._send(report)
    (result,) = results
    assert result.keys() == {REPORT} and isinstance(result[REPORT], str)
    assert report_of(result) == report and report_of({"done": True}) is None


@pytest.mark.parametrize(
    ("url", "evaluation", "kept"),
    [
        (True, {}, True),
        (True, {"checkpoints": False, "latent_map": {}}, True),
        (True, {"checkpoints": False}, False),
        (False, {}, False),
    ],
)
def test_files_are_kept_where_a_service_is_known_and_the_study_wants_some(
    played: Played, cohorts: Any, monkeypatch: pytest.MonkeyPatch, url: bool, evaluation: Any, kept: bool
) -> None:
    with StandIn(nothing_saved).serving() as service:
        monkeypatch.setenv("PARETOSCOPE_URL", service.url if url else "")
        run(plan_of(cohorts.trial("a", Fixed(beta=0.1)), evaluation=Evaluation.model_validate(evaluation)))
    assert (played.at_end is not None) == kept


def test_files_go_to_the_study_with_the_token_of_the_service(
    played: Played, cohorts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sending() -> Iterator[EpochReport]:
        assert isinstance(played.at_end, functools.partial) and played.at_end.func is keep
        assert played.at_end.keywords["plan"].trials is plan.trials
        assert played.at_end.keywords["uploads"].put("a", "checkpoint.safetensors", b"weights") is None
        yield epoch(1, final=True)

    played.does = sending
    plan = plan_of(cohorts.trial("a", Fixed(beta=0.1)), evaluation=Evaluation())
    with StandIn(nothing_saved).serving() as service:
        monkeypatch.setenv("PARETOSCOPE_URL", service.url)
        run(plan._replace(token=SecretStr("secret")))
    assert [report.failures for report in played.sent] == [{}, {}]
    assert [(request.path, request.token) for request in service.requests if request.method == "PUT"] == [
        ("/api/studies/s1/trials/a/artifacts/checkpoint.safetensors", "Bearer secret")
    ]


class Kept:
    """A service that keeps the state of cohorts, and is in a state itself."""

    def __init__(self) -> None:
        self.state = "running"
        self.asked = threading.Event()
        self.saved: dict[str, bytes] = {}

    def answer(self, request: Request) -> Answer:
        if request.path.endswith("/s1/state"):
            self.asked.set()
            return Answer(200, json.dumps({"state": self.state, "leave": self.state == "paused"}))
        if request.method == "PUT":
            self.saved[request.path] = request.body
            return Answer(204)
        return Answer(200, self.saved[request.path]) if request.path in self.saved else Answer(404)


def test_a_paused_cohort_saves_its_state_and_goes_on_from_it(
    cohorts: Any, monkeypatch: pytest.MonkeyPatch, played: Played
) -> None:
    """The real training, in two processes' worth of calls."""
    monkeypatch.undo()
    monkeypatch.setattr("ray.get_gpu_ids", list)
    sent: list[EpochReport] = []
    service = Kept()
    plan = plan_of(cohorts.trial("a", Fixed(beta=0.1), epochs=3), cohorts.trial("b", Fixed(beta=0.1), seed=1, epochs=3))

    def send(report: EpochReport) -> None:
        sent.append(report)
        if report.epoch == 1 and not report.begins:  # paused: the next epoch is the last for now
            service.state = "paused"
            service.asked.clear()
            assert service.asked.wait(30)
            service.asked.clear()
            assert service.asked.wait(30), "asked again, so the answer was heard"

    with StandIn(service.answer).serving() as stand_in:
        monkeypatch.setenv("PARETOSCOPE_URL", stand_in.url)
        monkeypatch.setattr("workers.sending.saving.ASK_SECONDS", 0.01)
        monkeypatch.setattr(trainable, "_send", send)
        run(plan)
        assert [(report.epoch, report.begins, report.leaves) for report in sent] == [
            (0, True, False),
            (1, False, False),
            (0, False, True),
        ]
        service.state = "running"
        monkeypatch.setattr(trainable, "_send", sent.append)
        run(plan)
    again = [(report.epoch, report.begins, report.final) for report in sent[3:]]
    assert again == [(1, True, False), (1, False, False), (2, False, False), (3, False, True)]
    assert sent[4].metrics == sent[1].metrics, "said again: the log may lack it"
    straight = cohorts.reports(list(plan.trials.values()))
    for ours, theirs in zip(sent[4:], straight, strict=True):
        for name in "ab":
            assert {**ours.metrics[name], "seconds": 0} == {**theirs.metrics[name], "seconds": 0}


@pytest.mark.parametrize("content", ["no safetensors", ""])
def test_a_state_that_cannot_be_read_is_a_start_from_the_beginning(
    played: Played, cohorts: Any, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    played.does = lambda: iter([epoch(1, final=True)])
    with StandIn(
        lambda request: Answer(200, content) if "cohorts" in request.path else Answer(404)
    ).serving() as stand_in:
        monkeypatch.setenv("PARETOSCOPE_URL", stand_in.url)
        run(plan_of(cohorts.trial("a", Fixed(beta=0.1))))
    assert [(report.epoch, report.begins) for report in played.sent] == [(0, True), (1, False)]
    assert played.begun is None


def told(reports: Sequence[EpochReport]) -> list[tuple[int, bool, bool]]:
    return [(report.epoch, report.begins, report.final) for report in reports]


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Kept, list[EpochReport]]]:
    """The real training beside a service that keeps states; what it sends."""
    sent: list[EpochReport] = []
    service = Kept()
    monkeypatch.setattr("ray.get_gpu_ids", list)
    monkeypatch.setattr(trainable, "_send", sent.append)
    with StandIn(service.answer).serving() as stand_in:
        monkeypatch.setenv("PARETOSCOPE_URL", stand_in.url)
        yield service, sent


def longer(plan: Plan, epochs: int) -> Plan:
    """The same trials, extended."""
    more = {
        name: trial._replace(training=trial.training.model_copy(update={"epochs": epochs}))
        for name, trial in plan.trials.items()
        if isinstance(trial, PlannedTrial)
    }
    return plan._replace(trials={**more})


def test_a_cohort_that_has_finished_leaves_its_state_and_more_epochs_go_on_from_it(
    real: tuple[Kept, list[EpochReport]], cohorts: Any
) -> None:
    _, sent = real
    plan = plan_of(
        cohorts.trial("a", Fixed(beta=0.1), epochs=2),
        cohorts.trial("b", Fixed(beta=0.1), seed=1, epochs=2),
        evaluation=Evaluation(),
    )
    run(plan)
    assert told(sent) == [(0, True, False), (1, False, False), (2, False, True)]
    sent.clear()
    run(longer(plan, 4))
    assert told(sent)[0] == (2, True, False) and told(sent)[-2:] == [(3, False, False), (4, False, True)]
    assert not any(report.final or report.missing for report in sent[:-1]), "what was the end is none any more"
    straight = cohorts.reports(list(longer(plan, 4).trials.values()))
    for ours, theirs in zip(sent[-2:], straight[-2:], strict=True):
        for name in "ab":
            assert {**ours.metrics[name], "seconds": 0} == {**theirs.metrics[name], "seconds": 0}


def test_a_cohort_whose_last_words_were_lost_says_them_again_and_trains_nothing(
    real: tuple[Kept, list[EpochReport]], cohorts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process died after the state was kept and before the log had heard of the end."""
    _, sent = real
    plan = plan_of(cohorts.trial("a", Fixed(beta=0.1), epochs=2), evaluation=Evaluation())
    run(plan)
    last = sent[-1]
    sent.clear()
    monkeypatch.setattr("workers.training.loop.train", lambda *_, **__: pytest.fail("trained again"))
    run(plan)
    assert told(sent) == [(2, True, False), (1, False, False), (2, False, True)]
    assert sent[-1].metrics == last.metrics


@pytest.mark.parametrize(
    ("setting", "checkpoints", "kept"),
    [
        (None, True, True),
        (None, False, False),
        ("checkpoints", False, False),
        ("always", False, True),
        ("never", True, False),
    ],
)
def test_the_last_state_is_kept_with_checkpoints_or_as_the_setting_says(
    real: tuple[Kept, list[EpochReport]],
    cohorts: Any,
    monkeypatch: pytest.MonkeyPatch,
    setting: str | None,
    checkpoints: bool,
    kept: bool,
) -> None:
    service, _ = real
    if setting:
        monkeypatch.setenv("PARETOSCOPE_FINAL_STATES", setting)
    run(plan_of(cohorts.trial("a", Fixed(beta=0.1), epochs=1), evaluation=Evaluation(checkpoints=checkpoints)))
    assert any(path.endswith("/state") for path in service.saved) == kept


def test_a_state_that_is_refused_is_told_in_a_sentence_and_the_training_ends_well(
    real: tuple[Kept, list[EpochReport]], cohorts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, sent = real

    def full(request: Request) -> Answer:
        if request.method == "PUT" and request.path.endswith("/state"):
            return Answer(413, json.dumps({"error": {"code": "too_large", "message": "there is no room for it"}}))
        return service.answer(request)

    with StandIn(full).serving() as stand_in:
        monkeypatch.setenv("PARETOSCOPE_URL", stand_in.url)
        run(plan_of(cohorts.trial("a", Fixed(beta=0.1), epochs=2), evaluation=Evaluation()))
    assert told(sent)[-1] == (2, False, True) and sent[-1].failures == {}
    said = [line for line in sent[-1].log if "state" in line]
    assert len(said) == 1 and said[0].endswith("the state could not be saved: there is no room for it")
