"""What a study will cost, by hand: trials × epochs × what an epoch took."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.answers.estimates import Estimates, Kind, Past, Took, epochs_of, estimate, kind_of, past_of
from service.contract.study.draft import as_written
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.checks import CostEstimate
from service.store.sql import SqlStore
from service.views.cache import Views
from service.views.fold import StudyView
from tests.service.studies import MIB, bottleneck_of, event, play, tell

START = datetime(2026, 1, 1, tzinfo=UTC)


def spec(**changed: Any) -> dict[str, Any]:
    """Three βs and MIB, two seeds, ten epochs: eight trials."""
    manual = {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1, 1.0]}}}
    return {"name": "next", "training": {"epochs": 10}, "seeds": [0, 1], "arms": [manual, MIB], **changed}


def kinds(study: Study) -> list[Kind]:
    return [kind_of(study, arm) for arm in study.arms]


def past(study: Study, seconds: tuple[float, ...], wall: float = 0.0, name: str = "first") -> Past:
    """A study in which one trial of ten epochs of each arm took so long."""
    arms = [Took(kind, 1, 10.0, s) for kind, s in zip(kinds(study), seconds, strict=True)]
    return Past(name, tuple(arms), wall)


def seconds_by_arm(cost: CostEstimate) -> list[tuple[str, float | None]]:
    return [(arm.name, arm.training_seconds) for arm in cost.arms]


def test_an_arm_costs_its_trials_times_its_epochs_times_what_an_epoch_took() -> None:
    study = check_study(spec())
    cost = estimate(study, [past(study, (5.0, 20.0), wall=50.0)])
    # 6 trials × 10 epochs × 0.5 s and 2 trials × 10 epochs × 2 s; the study took 50 s for its 25 s of training.
    assert seconds_by_arm(cost) == [("manual β", 30.0), ("MIB", 40.0)]
    assert (cost.training_seconds, cost.wall_seconds) == (70.0, 140.0)
    assert cost.basis == (
        "2 finished trials of 'first' (same data, model and weighting); wall time was 2.00 × training time there"
    )


def test_a_weighting_that_never_ran_costs_what_the_same_model_did() -> None:
    before = check_study(spec(arms=[spec()["arms"][0]]))
    cost = estimate(check_study(spec()), [past(before, (5.0,))])
    assert seconds_by_arm(cost) == [("manual β", 30.0), ("MIB", 10.0)]
    assert cost.wall_seconds is None, "nobody measured how long that study took"
    assert cost.basis == (
        "1 finished trial of 'first' (same data, model and weighting for 1 of 2 arms, else same data and model)"
    )


def test_another_model_is_the_last_resort_and_other_data_none() -> None:
    study = check_study(spec())
    wide = check_study(spec(model={"name": "mlp", "widths": [512]}))
    both = [past(wide, (50.0, 50.0)), past(wide, (70.0, 70.0), name="second")]
    cost = estimate(study, both)
    assert seconds_by_arm(cost) == [("manual β", 360.0), ("MIB", 120.0)]
    assert cost.basis == "4 finished trials of 2 studies (same data)"
    silent = estimate(check_study(spec(data={"name": "mnist"})), both)
    assert (silent.training_seconds, silent.wall_seconds) == (None, None)
    assert seconds_by_arm(silent) == [("manual β", None), ("MIB", None)]
    assert silent.basis == "no finished study with data mnist yet"


def test_an_epoch_on_half_the_data_is_half_an_epoch() -> None:
    study = check_study(spec(data={"name": "digits", "train_fraction": 0.5}))
    assert [epochs_of(study, arm) for arm in study.arms] == [5.0, 5.0]
    longer = check_study(spec(arms=[{**MIB, "training": {"epochs": 40}}]))
    assert epochs_of(longer, longer.arms[0]) == 40.0


def test_a_cost_is_of_the_studys_own_epochs_and_share_of_the_data() -> None:
    """Half a second for an epoch on all the data: past and future are reckoned in the same epochs."""
    before = [past(check_study(spec()), (5.0, 5.0))]
    manual, mib = spec()["arms"]
    longer = check_study(spec(arms=[manual, {**mib, "training": {"epochs": 40}}]))
    assert seconds_by_arm(estimate(longer, before)) == [("manual β", 30.0), ("MIB", 2 * 40 * 0.5)]
    tenth = check_study(spec(data={"name": "digits", "train_fraction": 0.1}))
    assert [arm.training_seconds for arm in estimate(tenth, before).arms] == pytest.approx([3.0, 1.0])


def test_past_trials_on_part_of_the_data_count_by_their_part() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1), training={"epochs": 8}, data={"name": "digits", "train_fraction": 0.25})
    for trial, seconds in zip(view.trials, (3.0, 5.0), strict=True):
        play(view, trial, [{"seconds": seconds}])
    (took,) = past_of(ended(view, 20.0)).arms
    assert (took.trials, took.epochs, took.seconds) == (2, 4.0, 8.0)
    whole = check_study(spec(arms=[MIB]))
    assert estimate(whole, [past_of(view)]).training_seconds == pytest.approx(2 * 10 * 8.0 / 4.0)


def test_many_epochs_say_more_about_an_epoch_than_few() -> None:
    study = check_study(spec(arms=[MIB], seeds=[0]))
    (kind,) = kinds(study)
    short, long = Past("short", (Took(kind, 1, 1.0, 9.0),), 0.0), Past("long", (Took(kind, 3, 99.0, 91.0),), 0.0)
    cost = estimate(study, [short, long])
    assert cost.training_seconds == pytest.approx(10 * (9.0 + 91.0) / (1.0 + 99.0))
    assert cost.basis == "4 finished trials of 2 studies (same data, model and weighting)"


def test_the_wall_time_is_that_of_the_studies_used_and_timed() -> None:
    study = check_study(spec(arms=[MIB], seeds=[0]))
    other = check_study(spec(model={"name": "mlp", "widths": [512]}, arms=[MIB]))
    alike, untimed = past(study, (10.0,), wall=30.0), past(study, (10.0,), name="untimed")
    unlike = past(other, (10.0,), wall=1000.0, name="unlike")
    cost = estimate(study, [alike, untimed, unlike])
    assert (cost.training_seconds, cost.wall_seconds) == (10.0, 30.0)
    assert cost.basis.startswith("2 finished trials of 2 studies")


def test_a_study_with_one_arm_that_never_ran_anywhere_has_no_cost() -> None:
    assert estimate(check_study(spec()), []).basis == "no finished study with data digits yet"


def test_rates_cost_differently_and_the_size_of_a_weight_does_not() -> None:
    def kind(**arm: Any) -> Kind:
        study = check_study(spec(arms=[{**MIB, **arm}]))
        return kind_of(study, study.arms[0])

    assert kind(problem={"name": "bottleneck", "rate": "nib"}) != kind()
    assert kind(weighting={"name": "mib", "mu": 0.5}) == kind()
    assert kind(model={"latent": 4}) != kind()


def ended(view: StudyView, seconds: float) -> StudyView:
    """The study started, and finished so many seconds later."""
    started = START + timedelta(minutes=5)  # it had to wait
    tell(view, event("study_started"), started.isoformat())
    tell(view, event("study_finished"), (started + timedelta(seconds=seconds)).isoformat())
    return view


def test_only_finished_trials_that_were_timed_count() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2, 3), training={"epochs": 2})
    first, second, third, _ = view.trials
    play(view, first, [{"seconds": 1.0}, {"seconds": 3.0}])
    play(view, second, [{"seconds": 100.0}], end="trial_failed")
    play(view, third, [{"accuracy": 0.5}])
    found = past_of(ended(view, 7.5))
    assert [(took.trials, took.epochs, took.seconds) for took in found.arms] == [(1, 2.0, 3.0)]
    assert (found.name, found.wall_seconds) == ("s", 7.5)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    store = SqlStore(tmp_path)
    yield store
    store.close()


def test_finished_studies_are_read_from_the_log_once(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    views = Views(store)
    study = check_study(spec(arms=[MIB], seeds=[0]))
    written = study.model_dump(by_alias=True, mode="json")
    for name in ("s1", "s2"):
        store.create(name, written, None)
    trial = next(iter(views.trial_ids("s1")))
    sent = [
        event("study_started", uid="a"),
        event("report", uid="b", trial=trial, metrics={"epoch": 10, "seconds": 4.0}),
        event("trial_finished", uid="c", trial=trial),
    ]
    estimates = Estimates(views)
    store.append("s1", sent)
    assert estimates.cost(study).training_seconds is None, "it has not finished yet"
    store.append("s1", [event("study_finished", uid="d")])
    assert estimates.cost(study).training_seconds == 4.0

    def unexpected(view: StudyView) -> Past:
        raise AssertionError(f"{view.id} was read again")

    monkeypatch.setattr("service.answers.estimates.past_of", unexpected)
    assert estimates.cost(study).training_seconds == 4.0


def finished(store: SqlStore, study_id: str, seconds: float, end: str = "study_finished", **changed: Any) -> None:
    """A study of one trial that took so long."""
    study = check_study(spec(arms=[MIB], seeds=[0], **changed))
    store.create(study_id, study.model_dump(by_alias=True, mode="json"), None)
    trial = next(iter(Views(store).trial_ids(study_id)))
    metrics = {"epoch": 10, "seconds": seconds}
    store.append(
        study_id,
        [
            event("study_started", uid="s"),
            event("report", uid="r", trial=trial, metrics=metrics),
            event("trial_finished", uid="f", trial=trial),
            event(end, uid="end", **({"reason": "r"} if end == "study_failed" else {})),
        ],
    )


def test_only_the_latest_finished_studies_with_the_same_data_are_looked_at(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.answers.estimates.LATEST", 2)
    study = check_study(spec(arms=[MIB], seeds=[0]))
    estimates = Estimates(Views(store))
    finished(store, "oldest", 100.0)
    assert estimates.cost(study).training_seconds == 100.0
    finished(store, "s1", 4.0)
    finished(store, "s2", 8.0)
    finished(store, "cancelled", 1000.0, end="study_cancelled")
    finished(store, "failed", 1000.0, end="study_failed")
    assert estimates.cost(study).training_seconds == 6.0
    finished(store, "other", 1000.0, data={"name": "mnist"})
    assert estimates.cost(study).training_seconds == 8.0
    assert len(estimates._past) == 3


def test_what_is_kept_of_past_studies_is_bounded(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.answers.estimates.KEPT", 2)
    study = check_study(spec(arms=[MIB], seeds=[0]))
    estimates = Estimates(Views(store))
    for name in ("s1", "s2", "s3"):
        finished(store, name, 4.0)
    assert estimates.cost(study).training_seconds == 4.0
    assert len(estimates._past) == 2


def test_a_study_deleted_while_costs_are_reckoned_is_left_out(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(store, "kept", 4.0)
    finished(store, "deleted", 100.0)
    listed = store.list_studies(None, 9, None)
    store.delete("deleted")
    monkeypatch.setattr(store, "list_studies", lambda *asked: listed)
    study = check_study(spec(arms=[MIB], seeds=[0]))
    assert Estimates(Views(store)).cost(study).training_seconds == 4.0


def test_what_was_written_comes_back_in_what_json_can_carry() -> None:
    body: dict[Any, Any] = {"name": "s", 1: [float("inf"), 2**60, 0.5, True, None, START], "arms": [{}]}
    assert as_written(body) == {"name": "s", "1": [None, None, 0.5, True, None, str(START)], "arms": [{}]}
    deep: Any = {}
    for _ in range(10_000):
        deep = {"deep": deep}
    assert as_written(deep) is None
    assert as_written([1]) is None
