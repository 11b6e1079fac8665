"""Trials on leases: nobody gets one twice, silence gives it back, and askers hear why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.contract.wire.elsewhere import HandedTrial
from service.contract.wire.errors import Conflict, InvalidInput
from service.contract.wire.events import (
    StudyCancelled,
    StudyPaused,
    StudyResumed,
    StudyStarted,
    TrialFinished,
    TrialLeased,
    TrialReturned,
    TrialState,
    TrialSuggested,
)
from service.store.protocol import Appended
from service.store.sql import SqlStore
from tests.service.elsewhere import GRID, SEARCH, Office


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    store = SqlStore(tmp_path)
    yield store
    store.close()


@pytest.fixture
def office(store: SqlStore) -> Office:
    return Office(store)


def later_or_never(error: Conflict) -> str:
    return next(detail.message for detail in error.details if detail.path == "free")


def just_before(office: Office, happens: Callable[[], object]) -> None:
    """Something comes between the look at the view and the next word to the store."""
    replaced = pytest.MonkeyPatch()

    def late(*arguments: Any, **more: Any) -> Appended:
        replaced.undo()
        happens()
        return office.store.append(*arguments, **more)

    replaced.setattr(office.store, "append", late)


def test_a_trial_comes_with_all_that_its_training_needs(office: Office) -> None:
    handed = office.ask(seconds=5)
    assert (handed.arm, handed.seed, handed.lease_seconds) == ("far", 0, 5.0)
    assert handed.parameters == {"depth": 1} and handed.config["problem.depth"] == 1
    assert handed.metrics == ["acc", "leaves"]
    with office.views.read("s1") as view:
        trial = view.trials[handed.trial]
        assert (trial.state, trial.host) == (TrialState.RUNNING, "somebody")


def test_who_asks_second_for_the_last_trial_hears_that_it_is_taken(store: SqlStore, tmp_path: Path) -> None:
    """The other process takes it between the look and the wish."""
    office = Office(store, {**GRID, "problem": {"name": "forest", "depth": 7}})
    other = Office(SqlStore(tmp_path), create=False)
    taken: list[HandedTrial] = []
    just_before(office, lambda: taken.append(other.ask()))
    with pytest.raises(Conflict) as refused:
        office.ask()
    assert len(taken) == 1 and later_or_never(refused.value) == "later"
    other.store.close()


def test_silence_gives_a_trial_to_others_and_its_holder_is_told(office: Office) -> None:
    first = office.ask(seconds=60)
    office.report(first, acc=0.5)
    office.clock.ahead = 61
    again = office.ask()
    assert again.trial == first.trial and again.lease != first.lease
    with pytest.raises(Conflict, match=f"lease {first.lease} of trial {first.trial} is over: another has it now"):
        office.report(first, epoch=2, acc=0.6)
    office.report(again, epoch=1, acc=0.7)
    with office.views.read("s1") as view:
        assert [report["acc"] for report in view.trials[again.trial].reports] == [0.7]
        events = [logged.event for logged in office.store.read("s1", 0)]
    (returned,) = (event for event in events if isinstance(event, TrialReturned))
    assert returned.reason == "somebody was silent for more than its lease of 60 s"


def test_a_report_renews_a_lease(office: Office) -> None:
    held = office.ask(seconds=60)
    office.clock.ahead = 59
    assert office.ask().trial != held.trial
    office.report(held)
    office.leases.take_back("s1")
    with office.views.read("s1") as view:
        lease = view.trials[held.trial].lease
        assert lease is not None and (lease.id, lease.heard) == (held.lease, 1)


def test_a_holder_that_is_heard_of_while_it_is_called_silent_keeps_its_trial(office: Office) -> None:
    held = office.ask()
    office.clock.ahead = 100
    just_before(office, lambda: office.report(held))
    office.leases.take_back("s1")
    office.report(held, epoch=2)


def test_nobody_is_called_silent_for_the_time_in_which_no_service_listened(office: Office) -> None:
    held = office.ask(seconds=60)
    office.clock.ahead = 1000
    restarted = Office(office.store, create=False)
    restarted.clock.ahead = 1000
    restarted.leases = type(restarted.leases)(office.store, restarted.views, restarted.clock)
    restarted.clock.ahead = 1050
    assert restarted.ask().trial != held.trial
    restarted.clock.ahead = 1070
    assert restarted.ask().trial == held.trial


def test_a_search_hands_out_what_was_suggested_and_says_that_it_waits(store: SqlStore) -> None:
    office = Office(store, SEARCH)
    with pytest.raises(Conflict, match="2 trials whose search waits for results") as refused:
        office.ask()
    assert later_or_never(refused.value) == "later"
    with office.views.read("s1") as view:
        first, second = view.trials
    store.append("s1", [TrialSuggested(uid="a", trial=second, config={"problem.depth": 5})])
    handed = office.ask()
    assert (handed.trial, handed.parameters, handed.config["problem.depth"]) == (second, {"depth": 5}, 5)
    with office.views.read("s1") as view:
        assert "problem.depth" not in view.trials[first].planned.config


def test_what_is_suggested_goes_first_because_its_results_are_waited_for(store: SqlStore) -> None:
    office = Office(store, GRID, SEARCH)
    with office.views.read("s1") as view:
        slot = next(trial for trial, arm in view.arms.items() if arm == "tuned")
    store.append("s1", [TrialSuggested(uid="a", trial=slot, config={"problem.depth": 5})])
    assert [office.ask().arm for _ in range(2)] == ["tuned", "far"]
    assert office.ask(arm="far").arm == "far"


def test_when_all_are_trained_there_is_none_ever_again(office: Office) -> None:
    for _ in range(3):
        handed = office.ask()
        office.store.append("s1", [TrialFinished(uid=handed.lease, trial=handed.trial, lease=handed.lease)])
    with pytest.raises(Conflict, match="every trial has been trained") as refused:
        office.ask()
    assert later_or_never(refused.value) == "never"


def test_a_paused_study_hands_out_nothing_and_its_holders_go_on(office: Office) -> None:
    held = office.ask()
    office.store.append("s1", [StudyPaused(uid="p")])
    with pytest.raises(Conflict, match="study s1 is paused and hands out no trials") as refused:
        office.ask()
    assert later_or_never(refused.value) == "later"
    office.report(held)
    office.store.append("s1", [StudyResumed(uid="r"), StudyStarted(uid="again", job="s1-2")])
    office.report(held, epoch=2)
    assert office.ask().trial != held.trial


def test_a_pause_that_comes_between_is_said_and_nothing_is_handed_out(office: Office) -> None:
    just_before(office, lambda: office.store.append("s1", [StudyPaused(uid="p")]))
    with pytest.raises(Conflict, match="study s1 is paused") as refused:
        office.ask()
    assert later_or_never(refused.value) == "later"
    assert not any(isinstance(logged.event, TrialLeased) for logged in office.store.read("s1", 0))


def test_a_cancelled_study_hands_out_nothing_ever_again_and_its_holders_hear_of_it(office: Office) -> None:
    held = office.ask()
    office.store.append("s1", [StudyCancelled(uid="c")])
    with pytest.raises(Conflict, match="is cancelled") as refused:
        office.ask()
    assert later_or_never(refused.value) == "never"
    with pytest.raises(Conflict, match="study s1 is cancelled and does not take report"):
        office.report(held)


@pytest.mark.parametrize("arm", ["nowhere", "here"])
def test_an_arm_that_hands_out_nothing_is_refused_and_the_others_are_named(store: SqlStore, arm: str) -> None:
    office = Office(store, GRID, {"name": "here", "problem": {"name": "forest", "depth": 3}})
    with pytest.raises(InvalidInput, match=f"this study has 'far', got '{arm}'"):
        office.ask(arm=arm)
