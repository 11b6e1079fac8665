"""Trials that a search did not need: the study counts them no more, and may need them when it goes on."""

from __future__ import annotations

from service.contract.study.earlier import SPEC_VERSION
from service.contract.wire.events import StudyState
from service.views.fold import StudyView
from service.views.selectors import counts, progress
from tests.service.studies import FILLED, bottleneck_of, event, play, tell


def finished(spared: list[str] | None = None) -> StudyView:
    """After four of twelve trials, one of which failed; by default the driver spares the other eight."""
    view = bottleneck_of(FILLED, seeds=[0])
    trials = list(view.all_trials)
    tell(view, event("study_started"))
    for trial in trials[:3]:
        play(view, trial, [{"i_xz_bits": 1.0, "i_zy_bits": 1.0}])
    play(view, trials[3], [], end="trial_failed")
    reason = "filled: no gap above 0.3 left after 4 of 12 trials"
    tell(view, event("study_finished", reason=reason, spared=trials[4:] if spared is None else spared))
    return view


def test_a_study_is_finished_whole_without_what_was_spared() -> None:
    view = finished()
    assert view.state is StudyState.FINISHED and view.reason and "4 of 12" in view.reason
    count = counts(view)
    assert (count.planned, count.finished, count.failed, count.running) == (4, 3, 1, 0)
    assert progress(view) == progress(view, "filled") == 1.0
    assert len(view.trials) == len(view.all_trials) == 4


def test_what_goes_on_has_all_its_slots_again() -> None:
    view = finished()
    failed = list(view.all_trials)[3]
    tell(view, event("study_retried", trials=[failed]))
    assert counts(view).planned == 12 and counts(view).finished == 3
    tell(view, event("study_finished", spared=list(view.all_trials)[5:]))
    assert counts(view).planned == 5


def test_an_extended_study_has_all_its_slots_again() -> None:
    view = finished()
    longer = {**view.spec, "training": {**view.spec["training"], "epochs": 30}}
    tell(view, event("study_extended", spec=longer, version=SPEC_VERSION, trials=list(view.all_trials)[:3]))
    assert counts(view).planned == 12 and view.study.training.epochs == 30


def test_what_has_told_something_is_never_spared() -> None:
    view = finished(spared=["no such trial", next(iter(bottleneck_of(FILLED, seeds=[0]).all_trials))])
    assert counts(view).planned == 12
