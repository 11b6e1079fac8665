"""Who goes on from a rung: within an arm, seeds together, and the same however often a driver is started."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from service.contract.wire.events import Metrics, TrialState
from tests.planned import planned
from workers.planning.begun import Begun
from workers.planning.rungs import Known, Rungs, Stopped, known_of
from workers.planning.supply import Supply

BETAS = [0.01 * (i + 1) for i in range(9)]
GRID = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": BETAS}}}
MIB = {"name": "MIB", "weighting": {"name": "mib"}}
HALVING = {"name": "halving", "keep": 0.33, "first": 2}
RUNNING, FAILED, STOPPED = TrialState.RUNNING, TrialState.FAILED, TrialState.STOPPED


def study(*arms: dict[str, Any], **more: Any) -> Study:
    base = {"name": "s", "training": {"epochs": 20}, "seeds": [0, 1], "stopping": HALVING}
    return check_study({**base, "arms": list(arms or (GRID, MIB)), **more})


def measured(rate: float, gain: float) -> Metrics:
    return {"validation_i_xz_bits": rate, "validation_i_zy_bits": gain}


def rungs(one: Study, known: dict[str, Known] | None = None) -> Rungs:
    return Rungs(one, planned(one), known or {})


def at_rung(one: Study, gains: dict[float, float], epoch: int = 2) -> Rungs:
    """All trials of the grid rest there with one rate each; βs that are not named gain nothing much."""
    own = rungs(one)
    for trial in planned(one, "grid"):
        gain = gains.get(trial.config["weighting.beta"], 0.5)
        own.reached(trial.id, epoch, measured(3.0, gain))
    return own


def betas(one: Study, stopped: list[Stopped]) -> set[float]:
    config = {trial.id: trial.config["weighting.beta"] for trial in planned(one, "grid")}
    return {config[each.trial] for each in stopped}


def test_the_best_share_goes_on_and_all_seeds_of_the_others_stop() -> None:
    one = study()
    stopped = at_rung(one, {0.02: 2.0, 0.05: 1.5, 0.07: 1.0}).decide()
    assert betas(one, stopped) == set(BETAS) - {0.02, 0.05, 0.07}
    assert len(stopped) == 2 * 6 and {each.epoch for each in stopped} == {2}


def test_the_reason_says_when_and_which_place() -> None:
    one = study(seeds=[0])
    reasons = [each.reason for each in at_rung(one, {0.02: 2.0, 0.05: 1.5, 0.07: 1.0}).decide()]
    assert reasons[0] == ("stopped after epoch 2 of 20: place 4 of 9 configurations (on front 4 of 4), and 3 went on")


def test_nothing_is_decided_before_all_of_the_arm_are_there() -> None:
    one = study()
    own, trials = rungs(one), planned(one, "grid")
    for trial in trials[:-1]:
        own.reached(trial.id, 2, measured(3.0, 1.0))
        assert own.decide() == [] and own.rests(trial.id)
    own.ended(trials[-1].id, failed=True)
    assert len(own.decide()) == 11, "one that failed is waited for no more"
    assert not any(own.rests(trial.id) for trial in trials)


def test_searches_and_curves_are_never_cut_however_many_they_are() -> None:
    beta = {"range": {"from": 0.01, "to": 1.0, "scale": "log"}}
    tuned = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": beta},
        "search": {"name": "optuna", "trials": 18},
    }
    rates = {"name": "bottleneck", "rate": {"grid": ["vib", "nib"]}}
    curves = {"name": "curves", "weighting": {"name": "conditional", "verify": 5}, "problem": rates}
    one = study(GRID, tuned, curves)
    own = Rungs(one, expand(one), {})
    assert {trial.arm: own.next(trial.id) for trial in expand(one)} == {"grid": 2, "tuned": None, "curves": None}


def test_an_arm_of_few_configurations_is_never_cut() -> None:
    one = study(GRID, MIB)
    own = rungs(one)
    assert [own.next(trial.id) for trial in planned(one, "MIB")] == [None, None]
    assert own.until(planned(one, "MIB")) is None and own.until(planned(one)) == 2
    few = study(GRID, {"name": "few", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3]}}})
    assert rungs(few).until(planned(few, "few")) is None, "3 · 0.33 is below 1"


def test_what_has_collapsed_or_lacks_an_objective_stops_first() -> None:
    one = study(seeds=[0])
    own = rungs(one)
    for i, trial in enumerate(planned(one, "grid")):
        reached = measured(0.001, 9.0) if i < 3 else {} if i < 6 else measured(30.0, 0.1)
        own.reached(trial.id, 2, reached)
    assert betas(one, own.decide()) == set(BETAS[:6])


def test_rungs_follow_each_other_with_those_who_are_left() -> None:
    one = study(seeds=[0])
    own = at_rung(one, {beta: 2 - beta for beta in BETAS})
    gone = {each.trial for each in own.decide()}
    assert own.stopped() == gone
    left = [trial.id for trial in planned(one, "grid") if trial.id not in gone]
    assert {own.next(trial) for trial in left} == {6}
    for trial in left:
        own.reached(trial, 6, measured(3.0, 1.0))
    assert own.decide() == [], "3 · 0.33 is below 1: the last three stay"
    assert {own.next(trial) for trial in left} == {18}


def test_a_trial_that_comes_later_trains_on_without_being_compared() -> None:
    """One that had failed and is tried again."""
    one = study(seeds=[0])
    trials = planned(one, "grid")
    known = {trial.id: Known(20, measured(3.0, 1.0), TrialState.FINISHED) for trial in trials[1:]}
    assert rungs(one, known).next(trials[0].id) is None


def halved_after_a_failure(one: Study, furthest: int) -> tuple[str, dict[str, Known]]:
    """Of nine configurations the first three go on as far as that, the others stopped at 2: but for one seed of the
    last, which had failed and is tried again."""
    *others, again = planned(one, "grid")
    kept = {trial.id for trial in others if trial.config["weighting.beta"] in BETAS[:3]}
    ahead = Known(furthest, measured(3.0, 2.0), TrialState.FINISHED if furthest == 20 else RUNNING)
    return again.id, {each.id: ahead if each.id in kept else Known(2, measured(3, 1), STOPPED) for each in others}


@pytest.mark.parametrize("furthest", [6, 20])
def test_a_retried_trial_stops_where_its_configuration_stopped(furthest: int) -> None:
    one = study()
    again, known = halved_after_a_failure(one, furthest)
    own = rungs(one, known)
    assert own.next(again) == 2 and own.decide() == []
    own.reached(again, 2, measured(3.0, 9.0))
    assert own.rests(again)
    reason = "stopped after epoch 2 of 20: its configuration was stopped there"
    assert own.decide()[:1] == [Stopped(again, 2, reason)]
    assert again in own.stopped() and not own.rests(again)


def test_a_retried_trial_whose_configuration_went_on_trains_on() -> None:
    one = study()
    _, known = halved_after_a_failure(one, 20)
    first = planned(one, "grid")[0].id
    own = rungs(one, {**known, first: Known()})
    assert own.next(first) is None


def test_who_had_failed_in_a_saved_cohort_does_not_hold_it_at_an_earlier_rung() -> None:
    """It is tried again in a cohort of its own, and the others go on from their state."""
    one = study(GRID)
    again, known = halved_after_a_failure(one, 4)
    ahead = [trial for trial in planned(one) if trial.id == again or known[trial.id].state is RUNNING]
    supply = Supply(ahead, [], 1, None, [Begun(ahead, 4, frozenset({again}))], rungs(one, known))
    cohorts = [cohort for _ in range(2) if (cohort := supply.next())]
    assert [(len(cohort), supply.until(cohort)) for cohort in cohorts] == [(7, 6), (1, 2)]
    stopped = supply.rested(2, {again: measured(3.0, 9.0)})
    assert [each.trial for each in stopped] == [again]


VALUES = st.lists(st.tuples(st.floats(1, 9), st.floats(0.5, 3)), min_size=9, max_size=9)


@settings(max_examples=60, deadline=None)
@given(VALUES, st.data())
def test_a_driver_that_died_amid_its_decision_is_followed_by_one_that_decides_the_same(
    values: list[tuple[float, float]], data: st.DataObject
) -> None:
    one = study(seeds=[0])
    trials = [trial.id for trial in planned(one, "grid")]
    first = rungs(one)
    for trial, value in zip(trials, values, strict=True):
        first.reached(trial, 2, measured(*value))
    decided = first.decide()
    told = data.draw(st.sets(st.sampled_from([each.trial for each in decided])))
    known = {
        trial: Known(2, measured(*value), STOPPED if trial in told else RUNNING)
        for trial, value in zip(trials, values, strict=True)
    }
    again = rungs(one, known).decide()
    assert [each for each in decided if each.trial not in told] == again


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"state": "planned", "metrics": {}}, Known(0, {}, TrialState.PLANNED)),
        ({"state": "planned", "metrics": {"epoch": 2}}, Known(2, {"epoch": 2}, RUNNING)),
        ({"state": "failed", "metrics": {"epoch": 2}}, Known(2, {"epoch": 2}, FAILED)),
        ({"state": "stopped", "metrics": {"epoch": 2}, "stopped_after": 2}, Known(2, {"epoch": 2}, STOPPED)),
        ({"state": "stopped", "metrics": {"epoch": 2}}, Known(2, {"epoch": 2}, RUNNING)),
    ],
)
def test_what_the_service_tells_of_a_trial(told: dict[str, Any], expected: Known) -> None:
    """One that was under way when its study ended goes on; one that was stopped at a rung does not."""
    trial = KnownTrial.model_validate({"id": "t", "arm": "a", "config": {}, **told})
    assert known_of([trial]) == {"t": expected}


def test_what_breaks_a_constraint_stops_before_what_keeps_them_all() -> None:
    one = study(GRID, seeds=[0], constraints=[{"metric": "i_zy_bits", "at_most": 1.0}])
    stopped = at_rung(one, {0.02: 2.0, 0.05: 1.9, 0.07: 1.8}).decide()
    assert {0.02, 0.05, 0.07} <= betas(one, stopped), "the best by their values, and none of them may count"


def test_a_member_that_the_log_has_as_failed_is_not_waited_for() -> None:
    one = study(GRID, seeds=[0])
    first, *others = planned(one)
    own = rungs(one, {first.id: Known(1, {}, FAILED)})
    supply = Supply(planned(one)[1:], [], 1, None, [Begun(planned(one), 1)], own)
    cohort = supply.next()
    assert cohort is not None and first in cohort, "it is formed again as it was saved"
    for trial in others:
        supply.ended(trial.id, failed=True)
    assert supply.is_over and supply.next() is None
