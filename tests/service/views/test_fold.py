"""A view is a fold of the log, however the log came about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.contract.study.parsing import check_study
from service.contract.wire.events import (
    Event,
    Report,
    StudyCancelled,
    StudyFinished,
    StudyStarted,
    StudyState,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TrialState,
)
from service.store.sql import SqlStore
from service.views.cache import Views
from service.views.fold import StudyView
from service.views.selectors import Counts, counts, progress
from tests.service.studies import ALL_BETAS, MIB, bottleneck_of, curve, event, play, play_curves, tell


@pytest.fixture
def store(tmp_path: Path, spec: dict[str, Any]) -> Iterator[SqlStore]:
    """Holds one study, s1, which runs."""
    store = SqlStore(tmp_path)
    store.create("s1", check_study(spec).model_dump(by_alias=True, mode="json"), None)
    store.append("s1", [StudyStarted(uid="first")])
    yield store
    store.close()


def report(trial: str, epoch: int, **metrics: float | None) -> Report:
    return Report(uid=f"{trial}:{epoch}", trial=trial, metrics={"epoch": epoch, **metrics})


def summary(view: StudyView) -> Any:
    trials = [(t.state, t.reason, t.metrics, t.reports) for t in view.trials.values()]
    return view.state, view.seq, counts(view), progress(view), trials


def test_a_view_advanced_event_by_event_equals_the_fold_of_the_whole_log(store: SqlStore) -> None:
    live = Views(store)
    with live.read("s1") as view:
        trials = list(view.trials)
    steps: list[Event] = [StudyStarted(uid="go", job="s1")]
    for trial in trials[:4]:
        begun = TrialStarted(uid=f"{trial}:s", trial=trial)
        steps += [begun, report(trial, 1, i_xz_bits=3.0), report(trial, 2)]
    steps.append(TrialFailed(uid="f", trial=trials[0], reason="loss_info became non-finite"))
    steps.append(TrialFinished(uid="d", trial=trials[1]))
    for step in steps:
        store.append("s1", [step])
        with live.read("s1") as view, Views(store).read("s1") as fresh:
            assert summary(view) == summary(fresh)
    with live.read("s1") as view:
        assert counts(view) == Counts(planned=6, running=2, finished=1, failed=1, stopped=0, collapsed=0)
        assert progress(view) == pytest.approx((1 + 1 + 2 / 3 + 2 / 3) / 6)
    store.append("s1", [StudyCancelled(uid="c")])
    with live.read("s1") as view:
        assert [t.state for t in view.trials.values()].count(TrialState.STOPPED) == 2


def test_a_driver_started_again_finds_its_unfinished_trials_planned(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        first, second, *_ = view.trials
    store.append("s1", [StudyStarted(uid="1", job="s1"), TrialStarted(uid="a", trial=first)])
    store.append("s1", [TrialStarted(uid="b", trial=second), TrialFinished(uid="c", trial=second)])
    store.append("s1", [StudyStarted(uid="2", job="s1-2")])
    with views.read("s1") as view:
        assert view.trials[first].state is TrialState.PLANNED
        assert view.trials[second].state is TrialState.FINISHED
        assert (view.job, view.attempt, view.fruitless) == ("s1-2", 3, 1)


def test_a_code_that_carries_nothing_is_called_collapsed(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        trial = next(iter(view.trials))
    store.append("s1", [report(trial, 3, i_xz_bits=0.04, i_zy_bits=0.0), TrialFinished(uid="d", trial=trial)])
    with views.read("s1") as view:
        assert view.trials[trial].collapsed and not view.trials[trial].counts_for_front


def test_a_loose_bound_does_not_hide_a_collapse_and_no_rate_is_none(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        nib, none, fine, *_ = view.trials
    ends = [(nib, 0.4, 0.01), (none, None, 0.0), (fine, 0.4, 0.3)]
    for trial, bits, nats in ends:
        done = TrialFinished(uid=f"{trial}:f", trial=trial)
        store.append("s1", [report(trial, 3, i_xz_bits=bits, loss_info=nats), done])
    with views.read("s1") as view:
        assert [view.trials[trial].collapsed for trial, _, _ in ends] == [True, False, False]


def test_the_last_report_keeps_what_only_earlier_ones_had(store: SqlStore) -> None:
    """Attacks and estimators run less often than every epoch: what they measured stays until they measure again."""
    views = Views(store)
    with views.read("s1") as view:
        trial = next(iter(view.trials))
    store.append("s1", [report(trial, 1, robust_pgd=0.5, accuracy=0.7), report(trial, 2, accuracy=0.8)])
    with views.read("s1") as view:
        assert view.trials[trial].metrics == {"epoch": 2, "robust_pgd": 0.5, "accuracy": 0.8}
        assert [set(r) for r in view.trials[trial].reports] == [
            {"epoch", "robust_pgd", "accuracy"},
            {"epoch", "accuracy"},
        ]
    store.append("s1", [report(trial, 3, robust_pgd=None)])
    with views.read("s1") as view:
        assert view.trials[trial].metrics["robust_pgd"] is None, "measured again, and not finite"


def test_trials_are_kept_in_the_order_in_which_they_ended(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        first, second, third, *_ = view.trials
    ends: list[Event] = [TrialFinished(uid="1", trial=third), TrialFailed(uid="2", trial=first, reason="no")]
    store.append("s1", [*ends, TrialStarted(uid="3", trial=second)])
    with views.read("s1") as view:
        assert view.ended == [third, first]
        assert (view.trials[first].reason, view.trials[third].reason) == ("no", None)


def test_a_study_is_as_old_as_its_first_start_and_ends_with_its_last_event(store: SqlStore) -> None:
    views = Views(store)
    store.append("s1", [StudyStarted(uid="1", job="s1", reason=None)])
    store.append("s1", [StudyStarted(uid="2", job="s1-2", reason="started again: its driver ended")])
    with views.read("s1") as view:
        first, second = list(store.read("s1", after=1))[0::2]
        assert (view.started_at, view.ended_at, view.reason) == (first.at, None, "started again: its driver ended")
        assert (view.attempt, view.fruitless) == (3, 3)
    store.append("s1", [StudyFinished(uid="3", reason="the time was up")])
    with views.read("s1") as view:
        assert (view.started_at, view.reason) == (first.at, "the time was up") and view.ended_at is not None
        assert second.seq == 4


def test_a_study_started_again_later_is_as_old_as_its_first_start() -> None:
    """Its limit of time and the time left are reckoned from there."""
    view = bottleneck_of(MIB)
    tell(view, event("study_started", job="s1"), at="2026-01-01T00:00:01Z")
    tell(view, event("study_started", job="s1-2"), at="2026-01-01T05:00:00Z")
    assert (view.started_at, view.job, view.attempt) == ("2026-01-01T00:00:01Z", "s1-2", 2)
    tell(view, event("study_failed", reason="gave up"), at="2026-01-01T06:00:00Z")
    assert (view.started_at, view.ended_at, view.reason) == ("2026-01-01T00:00:01Z", "2026-01-01T06:00:00Z", "gave up")


def test_a_paused_study_has_nothing_running_and_goes_on_where_it_was() -> None:
    view = bottleneck_of(MIB)
    trial = next(iter(view.trials))
    tell(view, event("study_started", job="s1"))
    tell(view, event("trial_started", trial=trial), at="2026-01-01T00:00:01Z")
    tell(view, event("study_paused"))
    assert (view.state, view.ended_at, view.trials[trial].state) == (StudyState.PAUSED, None, TrialState.PLANNED)
    tell(view, event("report", trial=trial, metrics={"epoch": 3}))
    assert view.trials[trial].state is TrialState.PLANNED, "the last word of a cohort that leaves"
    tell(view, event("study_resumed"))
    assert (view.state, view.job, view.attempt, view.fruitless) == (StudyState.RUNNING, "s1", 1, 0)
    assert view.waiting and view.trials[trial].state is TrialState.PLANNED
    tell(view, event("study_started", job="s1-2", excused=True))
    tell(view, event("trial_started", trial=trial, epoch=3), at="2026-01-01T09:00:00Z")
    assert (view.waiting, view.fruitless, view.trials[trial].state) == (False, 0, TrialState.RUNNING)
    assert view.trials[trial].started_at == "2026-01-01T00:00:01Z", "it goes on, it does not begin"


@pytest.mark.parametrize("epoch", [None, 0])
def test_a_trial_that_starts_over_is_as_old_as_its_last_start(epoch: int | None) -> None:
    view = bottleneck_of(MIB)
    trial = next(iter(view.trials))
    for number, at in enumerate(("2026-01-01T00:00:01Z", "2026-01-01T09:00:00Z")):
        tell(view, event("study_started", job=f"s1-{number}"))
        tell(view, event("trial_started", trial=trial, host=f"host {number}", epoch=epoch), at=at)
    assert (view.trials[trial].started_at, view.trials[trial].host) == ("2026-01-01T09:00:00Z", "host 1")


def test_a_retried_trial_has_nothing_of_the_training_that_failed_but_its_log() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=[0])
    (trial,) = view.trials
    play_curves(view, trial, curve((0.1, 3.0, 1.0), (1.0, 2.0, 1.0)), end="trial_failed", accuracy=0.5)
    assert len(view.trials[trial].points) == 2
    view.trials[trial].keep_log(["a trace"])
    tell(view, event("study_failed", reason="every trial failed"))
    tell(view, event("study_retried", trials=[trial], wait_seconds=0.0))
    again = view.trials[trial]
    assert (again.metrics, again.reports, again.points, again.measured()) == ({}, [], [], [(None, {})])
    assert (again.state, again.reason, again.started_at, again.ended_at) == (TrialState.PLANNED, None, None, None)
    assert (again.log, again.retries, view.ended) == (["a trace"], 1, [])


def test_a_failed_study_that_is_resumed_has_not_ended_and_its_stopped_trials_are_planned() -> None:
    view = bottleneck_of(MIB)
    trial = next(iter(view.trials))
    tell(view, event("study_started", job="s1"))
    tell(view, event("trial_started", trial=trial))
    tell(view, event("study_failed", reason="gave up"))
    assert view.trials[trial].state is TrialState.STOPPED
    tell(view, event("study_resumed"))
    assert (view.state, view.ended_at, view.reason, view.waiting) == (StudyState.RUNNING, None, None, True)
    assert (view.trials[trial].state, view.trials[trial].reason) == (TrialState.PLANNED, None)


def test_a_start_after_a_restart_of_ours_is_no_attempt_of_the_study() -> None:
    view = bottleneck_of(MIB)
    tell(view, event("study_started", job="s1"))
    for i in range(5):
        tell(view, event("study_started", job=f"s1-{i}", excused=True))
    assert (view.fruitless, view.attempt) == (1, 6)


def test_a_new_report_is_the_fruit_of_a_start() -> None:
    view = bottleneck_of(MIB)
    trial = next(iter(view.trials))
    for job in ("s1", "s1-2"):
        tell(view, event("study_started", job=job))
    assert view.fruitless == 2
    tell(view, event("report", trial=trial, metrics={"epoch": 1}))
    assert view.fruitless == 0


def test_only_a_report_or_a_finished_trial_is_the_fruit_of_a_start() -> None:
    view = bottleneck_of(MIB)
    failed, done = view.trials
    tell(view, event("study_started", job="s1"))
    play(view, failed, [], end="trial_failed")
    assert view.fruitless == 1
    play(view, done, [])
    assert view.fruitless == 0
    tell(view, event("study_started", job="s1-2"))
    assert (view.fruitless, view.attempt) == (1, 2)


def test_a_trial_that_reports_to_a_second_driver_runs_and_is_stopped_with_the_study() -> None:
    view = bottleneck_of(MIB)
    trial, waiting = view.trials
    play(view, trial, [{"accuracy": 0.5}], end="")
    tell(view, event("study_started", job="s1-2"))
    assert view.trials[trial].state is TrialState.PLANNED and view.trials[trial].metrics["accuracy"] == 0.5
    tell(view, event("report", trial=trial, metrics={"epoch": 2}))
    assert view.trials[trial].state is TrialState.RUNNING
    tell(view, event("study_failed", reason="r"), at="2026-01-02T00:00:00Z")
    stopped = view.trials[trial]
    assert (stopped.state, stopped.ended_at) == (TrialState.STOPPED, "2026-01-02T00:00:00Z")
    assert stopped.reason == "the study was failed before it ended"
    assert (view.trials[waiting].state, view.trials[waiting].reason) == (TrialState.PLANNED, None)


def test_a_trial_is_done_by_its_own_arms_epochs() -> None:
    view = bottleneck_of(MIB, {**MIB, "name": "long", "training": {"epochs": 8}}, seeds=(0,), training={"epochs": 2})
    short, long = view.trials
    for trial in (short, long):
        play(view, trial, [{}], end="")
    assert [view.trials[trial].done for trial in (short, long)] == [1 / 2, 1 / 8]
    assert view.trials[short].training_seconds is None


@pytest.mark.parametrize(("end", "counts"), [("", True), ("trial_finished", True), ("trial_failed", False)])
def test_what_counts_for_the_front_has_reported_and_did_not_fail(end: str, counts: bool) -> None:
    view = bottleneck_of(MIB)
    trial, silent = view.trials
    play(view, trial, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0}], end=end)
    assert view.trials[trial].counts_for_front is counts
    tell(view, event("trial_started", trial=silent))
    assert view.trials[silent].counts_for_front is False
    tell(view, event("study_cancelled"))
    assert view.trials[trial].counts_for_front is counts, "what a stopped one has reported stays"


def test_a_low_rate_is_a_collapse_only_when_training_is_over() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2))
    running, failed, finished = view.trials
    for trial, end in ((running, ""), (failed, "trial_failed"), (finished, "trial_finished")):
        play(view, trial, [{"i_xz_bits": 0.0, "i_zy_bits": 0.0}], end=end)
    assert [view.trials[trial].collapsed for trial in view.trials] == [False, False, True]
    tell(view, event("study_cancelled"))
    assert [view.trials[trial].collapsed for trial in view.trials] == [False, False, True]


def test_every_event_makes_what_was_computed_old() -> None:
    view = bottleneck_of(MIB)
    trial = next(iter(view.trials))
    happened = [event("study_started", job="j"), event("trial_started", trial=trial), event("study_cancelled")]
    for number, each in enumerate(happened, 1):
        tell(view, each)
        assert (view.memo("seq", lambda: view.seq), view.seq) == (number, number)


def test_the_log_of_a_trial_keeps_its_last_lines(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        trial = next(iter(view.trials))
    lines = [str(i) for i in range(250)]
    store.append("s1", [Report(uid="1", trial=trial, metrics={"epoch": 1}, log=lines[:150])])
    store.append("s1", [TrialFinished(uid="2", trial=trial, log=lines[150:])])
    with views.read("s1") as view:
        assert view.trials[trial].log == lines[50:]


def test_a_trial_cut_short_ends_with_its_study_and_says_why(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        cut, done, *_ = view.trials
    store.append("s1", [StudyStarted(uid="1", job="s1"), TrialStarted(uid="a", trial=cut)])
    store.append("s1", [TrialStarted(uid="b", trial=done), TrialFinished(uid="c", trial=done)])
    store.append("s1", [StudyCancelled(uid="end")])
    with views.read("s1") as view:
        stopped = view.trials[cut]
        assert (stopped.state, stopped.ended_at) == (TrialState.STOPPED, view.ended_at)
        assert stopped.ended_at is not None and stopped.reason == "the study was cancelled before it ended"
        assert view.trials[done].reason is None and view.ended == [done], "what was cut short has no result"
        assert (stopped.done, view.trials[done].done) == (0.0, 1.0), "and is not done"


def test_a_report_that_comes_before_the_start_of_its_trial_shows_that_it_runs(store: SqlStore) -> None:
    with Views(store).read("s1") as view:
        trial, other, *_ = view.trials
    store.append("s1", [StudyStarted(uid="1", job="s1"), report(trial, 1), report(other, 1)])
    store.append("s1", [TrialFinished(uid="f", trial=other), report(other, 2)])
    with Views(store).read("s1") as view:
        assert view.trials[trial].state is TrialState.RUNNING
        assert view.trials[other].state is TrialState.FINISHED, "a late report does not start it again"


def test_the_reason_is_that_of_the_last_event_of_the_study(store: SqlStore) -> None:
    views = Views(store)

    def reason_after(event: Event) -> str | None:
        store.append("s1", [event])
        with views.read("s1") as view:
            return view.reason

    assert reason_after(StudyStarted(uid="1", job="s1")) is None
    assert reason_after(StudyStarted(uid="2", job="s1-2", reason="the driver was lost")) == "the driver was lost"
    assert reason_after(StudyCancelled(uid="3")) is None


def test_a_trial_says_where_it_ran_and_when_and_how_it_ended(store: SqlStore) -> None:
    with Views(store).read("s1") as view:
        done, failed, *_ = view.trials
    begun = [TrialStarted(uid=f"{trial}:s", trial=trial, host=f"host of {trial}/0") for trial in (done, failed)]
    store.append("s1", [StudyStarted(uid="go", job="s1"), *begun])
    store.append("s1", [TrialFinished(uid="d", trial=done), TrialFailed(uid="f", trial=failed, reason="diverged")])
    at = {logged.event.uid: logged.at for logged in store.read("s1", after=0)}
    with Views(store).read("s1") as view:
        for trial, end, state, reason in (
            (view.trials[done], "d", TrialState.FINISHED, None),
            (view.trials[failed], "f", TrialState.FAILED, "diverged"),
        ):
            assert (trial.state, trial.reason, trial.host) == (state, reason, f"host of {trial.planned.id}/0")
            assert (trial.started_at, trial.ended_at) == (at[f"{trial.planned.id}:s"], at[end])


def test_the_names_of_metrics_are_those_of_all_reports_also_of_a_life_that_is_over() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=[0, 1])
    first, second = view.trials
    tell(view, event("study_started", job="s1"))
    tell(view, event("report", trial=first, metrics={"epoch": 1, "loss_pred": 2.0}))
    tell(view, event("report", trial=first, metrics={"epoch": 2, "accuracy": 0.5}))
    assert view.names == {"epoch", "loss_pred", "accuracy"}
    tell(view, event("trial_failed", trial=first, reason="no number"))
    tell(view, event("study_failed", reason="all failed"))
    tell(view, event("study_retried", trials=[first], wait_seconds=0.0))
    tell(view, event("report", trial=first, metrics={"epoch": 1}))
    tell(view, event("report", trial=second, metrics={"epoch": 1, "i_xz_bits": None}))
    assert view.names == {"epoch", "loss_pred", "accuracy", "i_xz_bits"}


def test_a_report_says_that_somebody_trains_an_interrupted_study_again() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=[0])
    (trial,) = view.trials
    tell(view, event("study_started", job="s1"))
    tell(view, event("study_interrupted", reason="Ray is away"))
    tell(view, event("report", trial=trial, metrics={"epoch": 1}))
    assert (view.interrupted, view.out_of_sight) == (None, False)
