"""Points of a curve in the log: sent again they change nothing, and a new reader finds them whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.contract.study.parsing import check_study
from service.contract.wire.events import Curve, Event, Report, StudyCancelled, StudyStarted, TrialFinished, TrialStarted
from service.store.sql import SqlStore
from service.views.cache import Views
from tests.service.studies import ALL_BETAS, bottleneck_of, curve, event, play_curves, tell

STUDY = "s1"
FIRST, LAST = (curve((1e-4, 9.0 - i, 3.0), (1e-2, 4.0, 2.0 + i), (1.0, None, 1.0)) for i in range(2))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    store = SqlStore(tmp_path)
    spec = check_study({"name": "s", "seeds": [0], "arms": [ALL_BETAS]}).model_dump(by_alias=True, mode="json")
    store.create(STUDY, spec, None)
    yield store
    store.close()


def trial_of(store: SqlStore) -> str:
    with Views(store).read(STUDY) as view:
        return next(iter(view.trials))


def trained(trial: str) -> list[Event]:
    """What a driver sends: four epochs, a curve after every second."""
    points: list[Curve | None] = [None, FIRST, None, LAST]
    reports = [
        Report(uid=f"{trial}:{epoch}", trial=trial, metrics={"epoch": epoch, "seconds": float(epoch)}, points=own)
        for epoch, own in enumerate(points, 1)
    ]
    return [TrialStarted(uid=f"{trial}:started", trial=trial), *reports]


def kept(store: SqlStore) -> tuple[Curve, list[int], int]:
    """As a new reader has it: the last curve, which reports brought one, and how many reports there are."""
    with Views(store).read(STUDY) as view:
        (trial,) = view.trials.values()
        return trial.points, list(trial.curves), len(trial.reports)


def test_a_driver_that_was_killed_and_trains_again_leaves_the_points_as_they_were(store: SqlStore) -> None:
    trial = trial_of(store)
    events = trained(trial)
    store.append(STUDY, [StudyStarted(uid="one", attempt=1), *events[:3]])
    assert kept(store) == (FIRST, [1], 2)
    store.append(STUDY, [StudyStarted(uid="two", attempt=2), *events])
    store.append(STUDY, [*events, TrialFinished(uid=f"{trial}:finished", trial=trial)])
    assert kept(store) == (LAST, [1, 3], 4)


def test_a_cancelled_study_keeps_the_curve_that_was_measured(store: SqlStore) -> None:
    store.append(STUDY, [StudyStarted(uid="one"), *trained(trial_of(store))[:4], StudyCancelled(uid="end")])
    assert kept(store) == (FIRST, [1], 3)


def test_a_trial_that_trains_on_after_its_end_keeps_its_points_and_ends_once() -> None:
    """More epochs, as the fold sees them: it starts again, and its last curve is that of the longer training."""
    view = bottleneck_of(ALL_BETAS, seeds=(0,))
    (own, trial), *_ = view.trials.items()
    play_curves(view, own, FIRST, LAST)
    tell(view, event("study_started"))
    tell(view, event("trial_started", trial=own))
    assert trial.points == LAST, "until it brings another"
    longer = curve((1e-4, 7.0, 3.1), (1e-2, 3.0, 3.0), (1.0, 0.5, 1.0))
    tell(view, event("report", trial=own, metrics={"epoch": 3, "seconds": 5.0}, points=longer))
    tell(view, event("report", trial=own, metrics={"epoch": 4, "seconds": 6.0}))
    tell(view, event("trial_finished", trial=own))
    assert trial.points == longer and trial.curves == {0: FIRST, 1: LAST, 2: longer} and len(trial.reports) == 4
    assert view.ended == [own], "its cost is counted once"
