"""Trials that were stopped at a rung: over for good, paid for, and on no front."""

from __future__ import annotations

from typing import Any

from service.analysis.candidates import front_ids, objectives, spent_by_arm
from service.answers.estimates import all_epochs_of, past_of
from service.answers.studies import study_summary
from service.contract.wire.events import (
    Event,
    Report,
    StudyPaused,
    StudyResumed,
    StudyStarted,
    TrialStarted,
    TrialState,
    TrialStopped,
)
from service.contract.wire.transitions import Ledger
from service.exports.methods import methods
from service.views.fold import StudyView
from service.views.selectors import counts, lost_seeds, progress, training_seconds
from tests.service.studies import MIB, bottleneck_of, event, play, tell

HALVING = {"name": "halving", "keep": 0.5, "first": 2}
GRID = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3, 0.4]}}}


def view(**more: Any) -> StudyView:
    """It has started; four trials of a grid and one of MIB."""
    own = bottleneck_of(GRID, MIB, seeds=[0], training={"epochs": 10}, stopping=HALVING, **more)
    tell(own, event("study_started"))
    return own


def reports(epochs: int, gain: float = 2.0) -> list[dict[str, float | None]]:
    return [{"i_xz_bits": 3.0, "i_zy_bits": gain, "seconds": float(i)} for i in range(1, epochs + 1)]


def stop(own: StudyView, trial: str, gain: float = 2.0) -> None:
    play(own, trial, reports(2, gain), end="")
    tell(own, event("trial_stopped", trial=trial, epoch=2, reason="stopped after epoch 2 of 10: place 3 of 4"))


def test_it_is_stopped_with_its_epoch_and_reason_and_counts_as_such() -> None:
    own = view()
    first = next(iter(own.trials))
    stop(own, first)
    trial = own.trials[first]
    assert (trial.state, trial.stopped_after, trial.done, trial.is_over) == (TrialState.STOPPED, 2, 1.0, True)
    assert trial.reason == "stopped after epoch 2 of 10: place 3 of 4" and trial.ended_at
    assert counts(own).stopped == 1 and study_summary(own).counts.stopped == 1


def test_neither_a_pause_nor_another_driver_plans_it_again() -> None:
    own = view()
    first, second, *_ = own.trials
    stop(own, first)
    play(own, second, reports(3), end="")
    for kind in ("study_paused", "study_resumed", "study_started"):
        tell(own, event(kind))
        assert own.trials[first].state is TrialState.STOPPED and own.trials[second].state is TrialState.PLANNED
    tell(own, event("study_cancelled"))
    assert own.trials[first].reason == "stopped after epoch 2 of 10: place 3 of 4"


def test_nothing_follows_it_in_the_log() -> None:
    ledger = Ledger()
    cut = TrialStopped(uid="x", trial="t", epoch=2, reason="r")
    before: list[Event] = [StudyStarted(uid="go"), Report(uid="1", trial="t", metrics={"epoch": 2}), cut]
    assert ledger.judge(before)[1] == []
    ledger.judge([StudyPaused(uid="p"), StudyResumed(uid="r"), StudyStarted(uid="go2")])
    late = (Report(uid="2", trial="t", metrics={"epoch": 3}), TrialStarted(uid="s", trial="t"), cut)
    assert ["which is stopped" in refusal.reason for _, refusal in ledger.judge(late)[1]] == [True] * 3


def test_it_is_on_no_front_though_it_was_ahead_and_its_seconds_are_paid() -> None:
    own = view()
    first, second, *_ = own.trials
    stop(own, first, gain=3.0)
    play(own, second, reports(10, gain=1.0))
    assert front_ids(own) == {second}
    assert training_seconds(own)["grid"] == 2.0 + 10.0
    spent = spent_by_arm(own, objectives(own))["grid"]
    assert [(each.seconds, len(each.points)) for each in spent] == [(2.0, 0), (10.0, 1)]


def test_a_seed_is_lost_where_all_were_stopped_or_failed() -> None:
    own = view()
    for trial in list(own.trials)[:3]:
        stop(own, trial)
    assert lost_seeds(own) == set()
    play(own, list(own.trials)[3], reports(3), end="trial_failed")
    assert lost_seeds(own) == {("grid", 0)}


def test_progress_counts_the_epochs_that_will_be_trained() -> None:
    """Four trials to epoch 2, two to epoch 4, one to 8 and on to 10; the other arm trains all of its ten."""
    own = view()
    trials = list(own.trials)
    assert progress(own) == 0.0
    for trial in trials[:4]:
        play(own, trial, reports(2), end="")
    total = 4 * 2 + 2 * 2 + 1 * 6
    assert own.study.stopping is not None and own.study.stopping.epochs_from(4, 0, 10) == total
    for trial in trials[2:4]:
        tell(own, event("trial_stopped", trial=trial, epoch=2, reason="r"))
    assert progress(own, "grid") == 8 / total
    assert progress(own) == 8 / (total + 10)
    for trial in trials[:1]:
        tell(own, event("report", trial=trial, metrics={"epoch": 4}))
    tell(own, event("report", trial=trials[1], metrics={"epoch": 4}))
    tell(own, event("trial_stopped", trial=trials[1], epoch=4, reason="r"))
    tell(own, event("report", trial=trials[0], metrics={"epoch": 10}))
    tell(own, event("trial_finished", trial=trials[0]))
    assert progress(own, "grid") == 1.0


def test_an_estimate_counts_fewer_epochs_and_learns_from_what_was_stopped() -> None:
    own = view(data={"name": "digits", "train_fraction": 0.5})
    grid, mib = own.study.arms
    assert all_epochs_of(own.study, grid, 4) == 18 * 0.5 and all_epochs_of(own.study, mib, 1) == 5.0
    stop(own, next(iter(own.trials)))
    took = past_of(own).arms[0]
    assert (took.trials, took.epochs, took.seconds) == (1, 1.0, 2.0)


def test_a_search_beside_it_is_work_to_its_last_epoch() -> None:
    beta = {"range": {"from": 0.1, "to": 1.0}}
    searched = {
        "name": "searched",
        "weighting": {"name": "fixed", "beta": beta},
        "search": {"name": "optuna", "trials": 4},
    }
    own = bottleneck_of(GRID, searched, seeds=[0], training={"epochs": 10}, stopping=HALVING)
    tell(own, event("study_started"))
    trials = [trial for trial in own.trials if own.trials[trial].planned.arm == "searched"]
    play(own, trials[0], reports(10))
    play(own, trials[1], reports(2), end="")
    assert progress(own, "searched") == 12 / 40
    assert all_epochs_of(own.study, own.study.arms[1], 4) == 40 and all_epochs_of(own.study, own.study.arms[0], 4) == 18
    assert "of the configurations of grid trained on" in methods(own).paragraph


def test_the_methods_paragraph_says_so_with_its_papers() -> None:
    own = view()
    stop(own, next(iter(own.trials)))
    said = methods(own)
    assert "successive halving [@schmucker2021moasha; @salinas2021multi]: after epochs 2, 4 and 8 the best 0.5" in (
        said.paragraph
    )
    assert "1 stopped early" in said.paragraph and "schmucker2021moasha" in said.bibtex
