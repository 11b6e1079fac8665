"""Trials that are trained elsewhere, as the log tells them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.contract.wire.events import (
    Event,
    StudyFinished,
    StudyInterrupted,
    StudyPaused,
    StudyReconnected,
    StudyResumed,
    StudyStarted,
    TrialAlive,
    TrialFailed,
    TrialReturned,
    TrialState,
)
from service.launching.going_on import where_it_goes_on
from service.store.sql import SqlStore
from service.views.trial import TrialView
from tests.service.elsewhere import Office


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    store = SqlStore(tmp_path)
    yield Office(store)
    store.close()


def trial_of(office: Office, trial: str) -> TrialView:
    with office.views.read("s1") as view:
        return view.all_trials[trial]


@pytest.mark.parametrize(
    "happens",
    [
        [StudyStarted(uid="again", job="s1-2")],
        [StudyPaused(uid="p")],
        [StudyPaused(uid="p"), StudyResumed(uid="r"), StudyStarted(uid="again", job="s1-2")],
        [StudyInterrupted(uid="i", reason="Ray is away")],
    ],
)
def test_what_happens_to_the_driver_happens_to_no_holder(office: Office, happens: list[Event]) -> None:
    handed = office.ask()
    office.store.append("s1", happens)
    trial = trial_of(office, handed.trial)
    assert trial.state is TrialState.RUNNING and trial.lease is not None and trial.lease.id == handed.lease


def test_who_trains_elsewhere_does_not_make_ray_come_back(office: Office) -> None:
    handed = office.ask()
    office.store.append("s1", [StudyInterrupted(uid="i", reason="Ray is away")])
    office.report(handed)
    with office.views.read("s1") as view:
        assert (view.interrupted, view.out_of_sight) == ("Ray is away", True)


def test_what_was_given_back_while_ray_was_away_is_handed_out_again(office: Office) -> None:
    handed = office.ask()
    away: list[Event] = [
        StudyInterrupted(uid="i", reason="Ray is away"),
        TrialReturned(uid="r", trial=handed.trial, lease=handed.lease),
        StudyReconnected(uid="b"),
    ]
    office.store.append("s1", away)
    assert trial_of(office, handed.trial).state is TrialState.PLANNED
    assert office.ask().trial == handed.trial


def test_the_end_of_a_study_stops_what_is_held(office: Office) -> None:
    handed = office.ask()
    office.store.append("s1", [StudyFinished(uid="f", reason="time limit")])
    trial = trial_of(office, handed.trial)
    assert (trial.state, trial.lease) == (TrialState.STOPPED, None)


def test_what_was_told_stays_until_somebody_begins_anew(office: Office) -> None:
    handed = office.ask()
    office.report(handed, acc=0.5)
    office.store.append("s1", [TrialReturned(uid="r", trial=handed.trial, lease=handed.lease)])
    before = trial_of(office, handed.trial)
    assert (before.state, before.host, before.metrics["acc"]) == (TrialState.PLANNED, None, 0.5)
    assert office.ask().trial == handed.trial
    after = trial_of(office, handed.trial)
    assert (after.reports, after.metrics) == ([], {})


def test_every_word_of_a_holder_is_counted_as_the_store_counts_it(office: Office) -> None:
    handed = office.ask()
    for epoch in (1, 2):
        office.report(handed, epoch=epoch)
        office.store.append("s1", [TrialAlive(uid=f"a{epoch}", trial=handed.trial, lease=handed.lease)])
    lease = trial_of(office, handed.trial).lease
    assert lease is not None and lease.heard == 4
    silent = TrialReturned(uid="r", trial=handed.trial, lease=handed.lease, heard=lease.heard)
    assert office.store.append("s1", [silent]).accepted == 1


def test_a_driver_that_starts_again_says_how_many_are_trained_elsewhere(office: Office) -> None:
    one, two = office.ask(), office.ask()
    with office.views.read("s1") as view:
        assert where_it_goes_on(view, []) == "1 trial had not begun, 2 trials are trained elsewhere"
    failed = TrialFailed(uid="f", trial=one.trial, lease=one.lease, reason="why")
    office.store.append("s1", [failed, TrialReturned(uid="r", trial=two.trial, lease=two.lease)])
    with office.views.read("s1") as view:
        assert where_it_goes_on(view, []) == "1 trial starts over, 1 trial had not begun"
