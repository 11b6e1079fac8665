"""Which cohorts go on from which saved states: the furthest, once for each trial, and only as they were."""

from __future__ import annotations

from typing import Any

from service.contract.study.expansion import Slot, expand
from service.contract.study.parsing import check_study
from service.contract.wire.cohort_state import CohortState
from tests.planned import planned
from workers.planning.begun import Begun, begun_of

BETAS = {"grid": [0.1, 0.2, 0.3]}
ARM: dict[str, Any] = {"name": "a", "weighting": {"name": "fixed", "beta": BETAS}}
A, B, C = planned(check_study({"name": "s", "arms": [ARM]}))
TRIALS = {trial.id: trial for trial in (A, B, C)}


def state(*members: str, epoch: int, **said: Any) -> CohortState:
    said = {"members": {trial: {} for trial in members}, "seconds": 1.0, **said}
    return CohortState.model_validate({"epoch": epoch, **said})


def test_of_two_states_that_share_a_living_trial_the_furthest_goes_on() -> None:
    near, far = state(A.id, B.id, epoch=3), state(B.id, C.id, epoch=9)
    for states in ([near, far], [far, near]):
        assert begun_of(states, TRIALS) == [Begun([B, C], 9)]


def test_states_that_share_none_go_on_both_the_furthest_first() -> None:
    assert begun_of([state(A.id, epoch=3), state(B.id, C.id, epoch=9)], TRIALS) == [Begun([B, C], 9), Begun([A], 3)]


def test_who_had_failed_in_one_state_goes_on_in_another() -> None:
    far, near = state(A.id, B.id, epoch=9, failed=[B.id]), state(B.id, C.id, epoch=3)
    assert begun_of([far, near], TRIALS) == [Begun([A, B], 9, frozenset({B.id})), Begun([B, C], 3)]


def test_a_state_of_trials_that_the_study_does_not_have_keeps_none_of_its_trials_from_another() -> None:
    assert begun_of([state(A.id, "t-gone", epoch=9), state(A.id, B.id, epoch=3)], TRIALS) == [Begun([A, B], 3)]


def test_suggested_trials_are_formed_with_what_was_suggested_and_left_alone_where_that_has_no_place() -> None:
    searched = {**ARM, "weighting": {"name": "fixed", "beta": {"range": {"from": 0.1, "to": 1.0}}}}
    study = check_study({"name": "s", "arms": [{**searched, "search": {"name": "optuna", "trials": 2}}]})
    slots = {slot.id: slot for slot in expand(study) if isinstance(slot, Slot)}
    first, second = slots
    told, other = {"weighting.beta": 0.4}, {"weighting.mu": 0.4}
    states = [state(first, epoch=2, members={first: told}), state(second, epoch=5, members={second: other})]
    (begun,) = begun_of(states, slots)
    assert [(trial.id, trial.config["weighting.beta"]) for trial in begun.cohort] == [(first, 0.4)]


def test_what_depends_on_the_number_of_epochs_goes_on_with_that_number_alone() -> None:
    falling = check_study({"name": "s", "training": {"epochs": 20, "schedule": "cosine"}, "arms": [ARM]})
    trials = {trial.id: trial for trial in planned(falling)}
    for epochs, goes_on in ((20, True), (10, False), (None, True)):
        assert bool(begun_of([state(*trials, epoch=9, epochs=epochs)], trials)) is goes_on
    assert begun_of([state(A.id, epoch=9, epochs=10)], TRIALS) == [Begun([A], 9)]
