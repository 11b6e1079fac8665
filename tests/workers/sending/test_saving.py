"""A cohort's state on its way to the service: when it is saved, what is in it, and what it survives."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
from safetensors.torch import save as as_safetensors

from service.contract.wire.cohort_state import CohortState
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.errors import Conflict
from tests.processes import until
from tests.workers.sending.service_stand_in import Answer, Request, StandIn
from workers.sending import asking
from workers.sending import saving as savings
from workers.sending.cohort_state import packed, unpacked
from workers.sending.saving import Saving
from workers.sending.study_client import StudyClient
from workers.training.loop import Progress

MEMBERS: dict[str, dict[str, float]] = {"t1": {}, "t2": {"weighting.beta": 0.5}}
EVERY = 10.0


class Service:
    """Keeps what is saved, in its order, and says in which state the study is."""

    def __init__(self) -> None:
        self.state, self.refuses, self.refuses_to_tell = "running", 0, 0
        self.away = 0  # so many questions for a state, or saves, are not answered
        self.kept: list[bytes] = []
        self.anew: list[bool] = []  # of what was kept
        self.stand_in = StandIn(self.answer)

    def answer(self, request: Request) -> Answer:
        if "/cohorts/" in request.path and self.away:
            self.away -= 1
            return Answer(503)
        if request.method == "PUT":
            if self.refuses:
                return Answer(self.refuses, "no")
            self.kept.append(request.body)
            self.anew.append("anew=true" in request.path)
            return Answer(204)
        if "/cohorts/" in request.path and self.refuses_to_tell:
            return Answer(self.refuses_to_tell)
        if "/cohorts/" in request.path:
            return Answer(200, self.kept[-1]) if self.kept else Answer(404)
        return Answer(200, json.dumps({"state": self.state, "leave": self.state == "paused"}))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def saved_with(service: Service, clock: Callable[[], float]) -> Iterator[Saving]:
    with service.stand_in.serving() as running, StudyClient(running.url, None, "s1") as client:
        saving = Saving(client, MEMBERS, EVERY, clock)
        try:
            yield saving
        finally:
            saving.close()


@pytest.fixture(autouse=True)
def asked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(savings, "ASK_SECONDS", 0.02)


def progress(epoch: int) -> Progress:
    return Progress(epoch, 1.5 * epoch, ("t2",), lambda: {"model.w": torch.full((2,), float(epoch))})


def report(epoch: int) -> EpochReport:
    return EpochReport(epoch=epoch, metrics={"t1": {"epoch": epoch}}, failures={}, final=False)


def save_now(saving: Saving, service: Service, epoch: int) -> None:
    """The state after this epoch, which is the next that the service has."""
    count = len(service.kept) + 1
    until(lambda: not saving(progress(epoch)) and len(service.kept) == count, f"the save of epoch {epoch}")


def test_a_state_has_the_reports_since_the_save_before_the_last() -> None:
    """Those of the last save may still be on their way when the process dies."""
    service, clock = Service(), Clock()
    with saved_with(service, clock) as saving:
        for epoch in range(1, 5):
            saving.said(report(epoch))
            clock.now += EVERY
            save_now(saving, service, epoch)
    states = [unpacked(content) for content in service.kept]
    assert [[said.epoch for said in state.reports] for state in states] == [[1], [1, 2], [2, 3], [3, 4]]
    assert [state.progress.epoch for state in states] == [1, 2, 3, 4] and not saving.left


def test_nothing_is_saved_before_its_time() -> None:
    service, clock = Service(), Clock()
    with saved_with(service, clock) as saving:
        clock.now = EVERY - 0.1
        assert saving(progress(1)) is False
        clock.now = EVERY
        until(lambda: not saving(progress(2)) and service.kept, "the first save")
        clock.now = 2 * EVERY - 0.1
        assert saving(progress(3)) is False
    assert [unpacked(content).progress.epoch for content in service.kept] == [2]


def test_a_cohort_of_a_paused_study_leaves_with_its_last_epoch_saved() -> None:
    service = Service()
    service.state = "paused"
    with saved_with(service, Clock()) as saving:
        saving.said(report(1))
        until(lambda: saving(progress(1)), "the pause")
        assert saving.left and len(service.kept) == 1, "it is there when the cohort leaves, not some time after"
    saved = unpacked(service.kept[-1])
    assert (saved.progress.epoch, [said.epoch for said in saved.reports]) == (1, [1])


def test_a_script_that_saved_before_its_first_report_leaves_with_that() -> None:
    service, clock = Service(), Clock()
    with saved_with(service, clock) as saving:
        clock.now = 2 * EVERY
        assert not saving(progress(0)._replace(is_empty=True))
        assert not saving(progress(0)), "it is time to save"
        until(lambda: service.kept, "the state to be kept")
        saving.leave(progress(0)._replace(is_empty=True))
        assert saving.left and len(service.kept) == 1, "of nothing there is nothing to keep"
    assert unpacked(service.kept[0]).progress.epoch == 0


def test_who_leaves_is_saved_even_if_the_study_goes_on_again() -> None:
    service = Service()
    with saved_with(service, Clock()) as saving:
        saving.leave(progress(4))
        assert saving.left and unpacked(service.kept[-1]).progress.epoch == 4


def test_it_is_known_for_how_long_it_has_to_leave() -> None:
    service, clock = Service(), Clock()
    with saved_with(service, clock) as saving:
        clock.now = 7.0
        assert saving.asked_for == 0
        service.state = "paused"
        until(lambda: saving.is_to_leave, "it has to leave")
        clock.now = 10.0
        assert saving.asked_for == 3.0


def test_a_study_that_goes_on_before_its_cohort_has_left_keeps_it() -> None:
    service = Service()
    service.state = "paused"
    with saved_with(service, Clock()) as saving:
        asked = len(service.stand_in.requests)
        until(lambda: len(service.stand_in.requests) > asked + 1, "the pause is heard")
        service.state = "running"
        asked = len(service.stand_in.requests)
        until(lambda: len(service.stand_in.requests) > asked + 1, "its end is heard")
        assert saving(progress(1)) is False
    assert (saving.left, service.kept) == (False, [])


def test_what_could_not_be_saved_is_saved_the_next_time(caplog: pytest.LogCaptureFixture) -> None:
    service, clock = Service(), Clock()
    service.refuses = 413
    with caplog.at_level(logging.WARNING), saved_with(service, clock) as saving:
        clock.now = EVERY
        saving(progress(1))
        until(lambda: "the state could not be saved" in caplog.text, "the refusal")
        service.refuses = 0
        clock.now = 2 * EVERY
        until(lambda: not saving(progress(2)) and service.kept, "the next save")
    assert [unpacked(content).progress.epoch for content in service.kept] == [2]


def test_a_cohort_goes_on_where_it_was_saved() -> None:
    service = Service()
    service.kept.append(packed(MEMBERS, progress(7), [report(6), report(7)]))
    with saved_with(service, Clock()) as saving:
        saved = saving.saved()
    assert saved is not None and [said.epoch for said in saved.reports] == [6, 7]
    assert (saved.progress.epoch, saved.progress.seconds, saved.progress.failed) == (7, 10.5, ("t2",))
    assert saved.progress.state()["model.w"].tolist() == [7.0, 7.0]


WHOLE = packed(MEMBERS, progress(1), [])
WITHOUT_REPORTS = as_safetensors(
    {"state.x": torch.zeros(1)}, {"cohort": CohortState(members=MEMBERS, epoch=1, seconds=1).model_dump_json()}
)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"no safetensors at all", WHOLE[:100], WHOLE[:-3], WITHOUT_REPORTS],
    ids=["none", "empty", "no safetensors", "a cut header", "a cut end", "no reports"],
)
def test_without_a_state_that_can_be_read_a_cohort_starts_from_the_beginning(content: bytes | None) -> None:
    service = Service()
    service.kept += [] if content is None else [content]
    with saved_with(service, Clock()) as saving:
        assert saving.saved() is None


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.001)


@pytest.mark.usefixtures("impatient")
def test_a_service_that_is_away_when_a_cohort_starts_costs_no_training() -> None:
    """No answer is no word that nothing was saved, however long it takes."""
    service = Service()
    service.kept.append(packed(MEMBERS, progress(7), []))
    with saved_with(service, Clock()) as saving:
        service.away = 6
        saved = saving.saved()
    assert saved is not None and saved.progress.epoch == 7


def test_a_question_for_a_state_that_is_refused_is_no_beginning() -> None:
    service = Service()
    service.refuses_to_tell = 409
    with saved_with(service, Clock()) as saving, pytest.raises(Conflict):
        saving.saved()


@pytest.mark.usefixtures("impatient")
def test_the_last_state_waits_for_a_service_that_is_away() -> None:
    """There is no next time: at a rung, and at the end, others go on from it."""
    service = Service()
    with saved_with(service, Clock()) as saving:
        service.away = 6
        saving.keep(progress(3), report(3))
    assert [unpacked(content).progress.epoch for content in service.kept] == [3]


def test_only_what_could_not_be_read_is_replaced_whatever_its_epoch() -> None:
    for kept, anew in ((b"no safetensors at all", [True, False]), (packed(MEMBERS, progress(7), []), [False, False])):
        service, clock = Service(), Clock()
        service.kept.append(kept)
        with saved_with(service, clock) as saving:
            saving.saved()
            for epoch in (1, 2):
                clock.now += EVERY
                save_now(saving, service, epoch)
        assert service.anew == anew
