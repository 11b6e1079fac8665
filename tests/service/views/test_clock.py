"""How long a study ran, and from when `limits.seconds` counts: told by its log alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from service.answers.studies import study_answer
from service.contract.wire.answers.read_by_drivers import KnownStudy
from service.views.clock import Clock
from service.views.fold import StudyView
from service.views.selectors import time_left
from tests.service.studies import MIB, bottleneck_of, event, tell


def at(hour: int) -> str:
    return f"2026-01-01T{hour:02}:00:00.000Z"


def told(*kinds: str) -> StudyView:
    """A study to which these happened, one an hour."""
    view = bottleneck_of(MIB)
    more: dict[str, dict[str, Any]] = {
        "study_failed": {"reason": "no"},
        "study_interrupted": {"reason": "Ray is away"},
        "study_retried": {"trials": []},
    }
    for hour, kind in enumerate(kinds, 1):
        if kind:
            tell(view, event(kind, **more.get(kind, {})), at(hour))
    return view


def hours(view: StudyView) -> tuple[str | None, float, str | None]:
    """Since when it runs, how long it did before, and from when its limit counts."""
    return view.clock.since, view.clock.ran / 3600, view.clock.limited_from


def test_a_driver_after_another_changes_nothing_and_neither_does_rays_absence() -> None:
    assert hours(told("", "study_started")) == (at(2), 0, at(2))
    again = told("", "study_started", "study_started", "study_interrupted", "study_reconnected", "study_started")
    assert hours(again) == (at(2), 0, at(2))


def test_a_pause_does_not_count_nor_does_waiting_for_a_driver_after_it() -> None:
    assert hours(told("study_queued", "study_paused", "study_resumed")) == (None, 0, None)
    paused = ("study_started", "", "study_paused")
    assert hours(told(*paused)) == (None, 2, None)
    assert hours(told(*paused, "", "study_resumed")) == (None, 2, None)
    assert hours(told(*paused, "", "study_resumed", "study_started")) == (at(6), 2, at(4))
    ended = told(*paused, "", "study_resumed", "study_started", "study_finished")
    assert hours(ended) == (None, 3, None)


def test_what_goes_on_after_its_end_has_the_limit_anew_and_has_run_as_long_as_before() -> None:
    for end, wish in (("study_failed", "study_resumed"), ("study_finished", "study_retried")):
        view = told("study_started", "", end, "", wish, "study_started")
        assert hours(view) == (at(6), 2, at(6))
        tell(view, event("study_paused"), at(7))
        tell(view, event("study_resumed"), at(8))
        tell(view, event("study_started"), at(9))
        assert hours(view) == (at(9), 3, at(8))


def test_a_retry_of_a_paused_study_is_no_new_limit() -> None:
    assert hours(told("study_started", "study_paused", "study_retried", "study_started")) == (at(4), 1, at(3))


def test_the_time_left_is_reckoned_from_all_that_it_ran() -> None:
    now = datetime(2026, 1, 1, 7, tzinfo=UTC)
    assert time_left(Clock(at(6), 2 * 3600.0), 0.75, now) == 3600.0


def test_page_and_driver_are_told() -> None:
    view = told("study_started", "", "study_paused", "", "study_resumed", "study_started")
    answer = study_answer(view)
    assert (answer.started_at, answer.running_since, answer.ran_seconds) == (at(1), at(6), 7200.0)
    known = KnownStudy.model_validate(answer.fields())
    assert known.limited_from == datetime(2026, 1, 1, 4, tzinfo=UTC)
