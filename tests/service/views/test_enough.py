"""Trials that their arm did not need: neither lost nor left, until the study goes on."""

from __future__ import annotations

from service.analysis.candidates import candidates
from service.analysis.compared import compared
from service.contract.study.earlier import SPEC_VERSION
from service.contract.wire.events import TrialState
from service.exports.methods import methods
from service.views.fold import StudyView
from service.views.selectors import counts, progress, whole_arms
from tests.service.studies import MANUAL, MIB, bottleneck_of, event, play, tell

WHY = "stopped after 6 of 9 trials: another batch would gain at most 0.3 % of hypervolume"
SEEDS = (0, 1, 2)


def ended(**limits: float) -> StudyView:
    """The grid has trained two of its three βs and is training the last with seed 0; MIB has trained everything."""
    view = bottleneck_of(MANUAL, MIB, seeds=SEEDS, limits=limits)
    for i, (trial, own) in enumerate(view.trials.items()):
        last = {"i_xz_bits": 4.0, "i_zy_bits": 1.0 + (0.37 * i) % 1, "seconds": 2.0}
        if own.planned.config["weighting.name"] == "mib" or own.planned.config["weighting.beta"] < 1:
            play(view, trial, [last])
        elif own.planned.seed == 0:
            play(view, trial, [last], "")
    left = [own for own, trial in view.trials.items() if trial.state is not TrialState.FINISHED]
    tell(view, event("study_finished", reason=WHY, spared=left))
    return view


def test_what_an_arm_did_not_need_is_no_trial_and_what_was_under_way_says_why_it_stopped() -> None:
    view = ended()
    own = counts(view, "manual β")
    assert (own.planned, own.finished, own.stopped) == (7, 6, 1) and whole_arms(view) == ["manual β", "MIB"]
    assert progress(view) == 1.0 and view.reason == WHY
    (stopped,) = (trial for trial in view.trials.values() if trial.state is TrialState.STOPPED)
    assert (stopped.reason, stopped.is_over, stopped.counts_for_front) == (WHY, True, True)


def test_what_the_clock_stopped_is_judged_by_what_it_reached_as_what_finished_is() -> None:
    constraints = [{"metric": "i_xz_bits", "at_most": 5.0}]
    view = bottleneck_of(MANUAL, seeds=[0], limits={"training_seconds": 6}, constraints=constraints)
    nothing, broken, kept = view.trials
    for trial, bits in ((nothing, 0.01), (broken, 6.0), (kept, 4.0)):
        play(view, trial, [{"i_xz_bits": bits, "i_zy_bits": 1.0, "seconds": 2.0}], "")
    assert not view.trials[nothing].collapsed and counts(view).infeasible == 0, "they still train"
    tell(view, event("study_finished", reason=WHY, spared=list(view.trials)))
    assert view.trials[nothing].collapsed and view.trials[broken].infeasible
    assert [point.id for point in candidates(view)] == [kept]
    own = counts(view)
    assert (own.finished, own.stopped, own.collapsed, own.infeasible) == (0, 3, 1, 1)
    said = methods(view).paragraph
    assert "Of 3 trials, 0 finished (0 of them collapsed" in said and "0 of the finished ones infeasible" in said
    assert "3 did not end (of them 1 collapsed and 1 infeasible, left out too)." in said, said


def test_an_arm_that_had_enough_is_compared_as_a_whole() -> None:
    (pair,) = compared(ended()).pairs
    assert pair.whole


def test_a_study_that_goes_on_needs_its_trials_again() -> None:
    view = ended()
    tell(view, event("study_extended", spec=view.spec, version=SPEC_VERSION, trials=[]))
    assert counts(view, "manual β").planned == 9 and counts(view).stopped == 0 and progress(view) < 1
    assert {trial.reason for trial in view.trials.values()} == {None}


def test_a_trial_that_the_time_limit_left_is_not_one_that_nobody_needs() -> None:
    view = bottleneck_of(MANUAL)
    tell(view, event("study_finished", reason="time limit of 1 s reached, 6 of 6 trials not trained"))
    assert counts(view).planned == 6 and whole_arms(view) == []


def test_arms_at_equal_cost_say_what_each_has_spent() -> None:
    said = compared(ended(training_seconds=13)).verdict
    assert "Each arm had 13 s of training: manual β spent 14 s and MIB spent 6.0 s." in said, said
    assert "Each arm had" not in compared(ended()).verdict


def test_what_was_cut_is_over_also_when_a_driver_was_started_since() -> None:
    view = bottleneck_of(MANUAL, seeds=SEEDS)
    trials = list(view.trials)
    for trial in trials[1:]:
        play(view, trial, [{"i_xz_bits": 4.0, "i_zy_bits": 1.0, "seconds": 2.0}])
    play(view, trials[0], [{"i_xz_bits": 4.0, "i_zy_bits": 1.0, "seconds": 2.0}], "")
    tell(view, event("study_started", job="another"))
    tell(view, event("study_finished", reason=WHY, spared=[trials[0]]))
    assert (view.trials[trials[0]].state, view.trials[trials[0]].reason) == (TrialState.STOPPED, WHY)
    assert whole_arms(view) == ["manual β"] and progress(view) == 1.0


def test_a_trial_that_was_not_needed_comes_back_with_all_that_was_known_of_it() -> None:
    view = bottleneck_of(MANUAL, seeds=SEEDS)
    trial = next(iter(view.trials))
    play(view, trial, [{"i_xz_bits": 4.0}], "trial_failed")
    tell(view, event("study_finished"))
    tell(view, event("study_retried", trials=[trial]))
    tell(view, event("study_started", job="s1-2"))
    tell(view, event("study_finished", reason=WHY, spared=[trial]))
    assert trial not in view.trials
    tell(view, event("trial_noted", trial=trial, notes="odd"))
    tell(view, event("study_extended", spec=view.spec, version=SPEC_VERSION, trials=[]))
    known = view.trials[trial]
    assert (known.retries, known.notes.text) == (1, "odd"), "the events of its next life have names of their own"


def test_an_arm_without_a_trial_has_nothing_left_to_do() -> None:
    view = bottleneck_of(MANUAL)
    tell(view, event("study_started", job="s1"))
    tell(view, event("study_finished", spared=list(view.trials)))
    assert progress(view) == progress(view, "manual β") == 1.0
