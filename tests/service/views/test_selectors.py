"""What readers select from a view, by value: every count of its own arm, what was lost, what it cost, what is left."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from service.views.clock import Clock
from service.views.fold import StudyView
from service.views.selectors import (
    Counts,
    counts,
    lost_seeds,
    progress,
    time_left,
    training_seconds,
    varied_by_arm,
    varied_keys,
)
from tests.service.studies import MIB, bottleneck_of, event, play, tell

START = datetime(2026, 1, 1, tzinfo=UTC)


def trials_of(view: StudyView, arm: str) -> list[str]:
    return [trial for trial, t in view.trials.items() if t.planned.arm == arm]


def under_way() -> StudyView:
    """A grid of six trials: finished, collapsed, failed, running, two planned; of MIB one has ended and one waits."""
    view = bottleneck_of(training={"epochs": 4})
    tell(view, event("study_started", job="j"))
    finished, empty, failed, running, *_ = trials_of(view, "manual β")
    play(view, finished, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0, "seconds": 1.0}])
    play(view, empty, [{"i_xz_bits": 0.01, "i_zy_bits": 0.0, "seconds": 2.0}])
    play(view, failed, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0, "seconds": 4.0}], end="trial_failed")
    play(view, running, [{"i_xz_bits": 0.01, "seconds": 8.0}], end="")
    play(view, trials_of(view, "MIB")[0], [{"i_xz_bits": 3.0, "i_zy_bits": 1.0, "seconds": 16.0}])
    return view


def test_trials_are_counted_in_all_and_per_arm() -> None:
    view = under_way()
    assert counts(view) == Counts(planned=8, running=1, finished=3, failed=1, stopped=0, collapsed=1)
    assert counts(view, "manual β") == Counts(planned=6, running=1, finished=2, failed=1, stopped=0, collapsed=1)
    assert counts(view, "MIB") == Counts(planned=2, running=0, finished=1, failed=0, stopped=0, collapsed=0)
    tell(view, event("study_cancelled"))
    assert counts(view) == Counts(planned=8, running=0, finished=3, failed=1, stopped=1, collapsed=1)


def test_progress_is_the_share_of_epochs_done_where_an_ended_trial_is_done() -> None:
    view = under_way()
    assert progress(view) == pytest.approx((3 + 1 + 1 / 4) / 8)
    assert progress(view, "manual β") == pytest.approx((2 + 1 + 1 / 4) / 6)
    assert progress(view, "MIB") == 0.5


def test_a_trial_that_reports_more_epochs_than_planned_is_done_once() -> None:
    view = bottleneck_of(MIB, seeds=(0,), training={"epochs": 2})
    play(view, next(iter(view.trials)), [{"epoch": 3.0}], end="")
    assert progress(view) == 1.0


def test_training_time_is_of_all_trials_whatever_came_of_them() -> None:
    assert training_seconds(under_way()) == {"manual β": 15.0, "MIB": 16.0}


def test_a_seed_is_lost_when_all_its_trials_failed_or_collapsed() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2, 3, 4))
    failed, collapsed, good, running, stopped = view.trials
    play(view, failed, [{"i_xz_bits": 3.0}], end="trial_failed")
    play(view, collapsed, [{"i_xz_bits": 0.0}])
    play(view, good, [{"i_xz_bits": 3.0}])
    tell(view, event("trial_started", trial=running))
    assert lost_seeds(view) == {("MIB", 0), ("MIB", 1)}
    tell(view, event("study_cancelled"))
    assert view.trials[running].state.value == "stopped"
    assert lost_seeds(view) == {("MIB", 0), ("MIB", 1)}, "stopped or never begun: it might have brought something"
    assert view.trials[stopped].state.value == "planned"


def test_a_seed_with_one_good_trial_is_not_lost() -> None:
    view = bottleneck_of(seeds=(0,))
    good, *others = trials_of(view, "manual β")
    play(view, good, [{"i_xz_bits": 3.0}])
    for trial in others:
        play(view, trial, [{"i_xz_bits": 0.0}])
    assert lost_seeds(view) == set()


def test_what_varies_is_told_arm_by_arm() -> None:
    assert varied_by_arm(bottleneck_of()) == {"manual β": {"weighting.beta"}, "MIB": set()}


@pytest.mark.parametrize(("done", "left"), [(0.5, 60.0), (0.25, 180.0), (1.0, 0.0)])
def test_the_time_left_is_that_of_what_is_left_at_the_pace_so_far(done: float, left: float) -> None:
    now = START + timedelta(seconds=60)
    assert time_left(Clock(START.isoformat()), done, now) == pytest.approx(left)


def test_only_a_running_study_with_a_report_has_time_left() -> None:
    now = START + timedelta(seconds=60)
    assert time_left(Clock(None, 60.0), 0.5, now) is None
    assert time_left(Clock(START.isoformat(), 60.0), 0.0, now) is None


def test_a_value_that_only_one_trial_of_a_search_has_yet_does_not_vary() -> None:
    search = {"name": "search", "weighting": {"name": "fixed", "beta": {"range": {"from": 0.01, "to": 1.0}}}}
    view = bottleneck_of({**search, "search": {"name": "optuna", "trials": 4}}, seeds=(0,))
    _, first, second, third = view.trials
    for trial in (first, second):
        tell(view, event("trial_started", trial=trial, config={"weighting.beta": 0.5}))
        assert varied_by_arm(view) == {"search": set()}
    tell(view, event("trial_started", trial=third, config={"weighting.beta": 0.25}))
    assert varied_by_arm(view) == {"search": {"weighting.beta"}}


def test_looking_for_what_varies_changes_no_trial() -> None:
    """The slots of a search share the part of their configuration that is the same for all."""
    search = {"name": "search", "weighting": {"name": "fixed", "beta": {"range": {"from": 0.01, "to": 1.0}}}}
    view = bottleneck_of({**search, "search": {"name": "optuna", "trials": 4}}, MIB, seeds=(0,))
    waiting, first, second, _, mib = view.trials
    for trial, beta in ((first, 0.5), (second, 0.25)):
        tell(view, event("trial_started", trial=trial, config={"weighting.beta": beta}))
    before = {trial: dict(t.planned.config) for trial, t in view.trials.items()}
    assert varied_by_arm(view) == {"search": {"weighting.beta"}, "MIB": set()}
    assert {trial: t.planned.config for trial, t in view.trials.items()} == before
    assert "weighting.beta" not in view.trials[waiting].planned.config
    assert varied_keys(view, "search") == {"weighting.beta"} and varied_keys(view, "MIB") == set()
    assert view.trials[mib].planned.arm == "MIB"
