"""What a study will cost, by hand: trials × epochs × what an epoch took."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.contract.parsing import check_study
from service.contract.study import Study
from service.estimates import ArmCost, Estimates, Kind, Past, Took, epochs_of, estimate, kind_of, past_of
from service.store.database import Event, Store
from service.store.views import StudyView, Views
from service.written import as_written
from tests.service.studies import MIB, bottleneck_of, play

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


def test_an_arm_costs_its_trials_times_its_epochs_times_what_an_epoch_took() -> None:
    study = check_study(spec())
    cost = estimate(study, [past(study, (5.0, 20.0), wall=50.0)])
    # 6 trials × 10 epochs × 0.5 s and 2 trials × 10 epochs × 2 s; the study took 50 s for its 25 s of training.
    assert cost.arms == [ArmCost("manual β", 30.0), ArmCost("MIB", 40.0)]
    assert (cost.training_seconds, cost.wall_seconds) == (70.0, 140.0)
    assert cost.basis == (
        "2 finished trials of 'first' (same data, model and weighting); wall time was 2 × training time there"
    )


def test_a_weighting_that_never_ran_costs_what_the_same_model_did() -> None:
    before = check_study(spec(arms=[spec()["arms"][0]]))
    cost = estimate(check_study(spec()), [past(before, (5.0,))])
    assert cost.arms == [ArmCost("manual β", 30.0), ArmCost("MIB", 10.0)]
    assert cost.wall_seconds is None, "nobody measured how long that study took"
    assert cost.basis == (
        "1 finished trial of 'first' (same data, model and weighting for 1 of 2 arms, else same data and model)"
    )


def test_another_model_is_the_last_resort_and_other_data_none() -> None:
    study = check_study(spec())
    wide = check_study(spec(model={"name": "mlp", "widths": [512]}))
    both = [past(wide, (50.0, 50.0)), past(wide, (70.0, 70.0), name="second")]
    cost = estimate(study, both)
    assert cost.arms == [ArmCost("manual β", 360.0), ArmCost("MIB", 120.0)]
    assert cost.basis == "4 finished trials of 2 studies (same data)"
    silent = estimate(check_study(spec(data={"name": "mnist"})), both)
    assert (silent.training_seconds, silent.wall_seconds) == (None, None)
    assert silent.arms == [ArmCost("manual β", None), ArmCost("MIB", None)]
    assert silent.basis == "no finished study with data mnist yet"


def test_an_epoch_on_half_the_data_is_half_an_epoch() -> None:
    study = check_study(spec(data={"name": "digits", "train_fraction": 0.5}))
    assert [epochs_of(study, arm) for arm in study.arms] == [5.0, 5.0]
    longer = check_study(spec(arms=[{**MIB, "training": {"epochs": 40}}]))
    assert epochs_of(longer, longer.arms[0]) == 40.0


def test_rates_cost_differently_and_the_size_of_a_weight_does_not() -> None:
    def kind(**arm: Any) -> Kind:
        study = check_study(spec(arms=[{**MIB, **arm}]))
        return kind_of(study, study.arms[0])

    assert kind(problem={"name": "bottleneck", "rate": "nib"}) != kind()
    assert kind(weighting={"name": "mib", "mu": 0.5}) == kind()
    assert kind(model={"latent": 4}) != kind()


def ended(view: StudyView, seconds: float) -> StudyView:
    """The study started, and finished so many seconds later."""
    view.apply(Event(view.seq + 1, START.isoformat(), "study_started", {}))
    view.apply(Event(view.seq + 1, (START + timedelta(seconds=seconds)).isoformat(), "study_finished", {}))
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
    store = Store(tmp_path)
    yield store
    store.close()


def test_finished_studies_are_read_from_the_log_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    views = Views(store)
    study = check_study(spec(arms=[MIB], seeds=[0]))
    written = study.model_dump(by_alias=True, mode="json")
    for name in ("s1", "s2"):
        store.create(name, written, None)
    trial = next(iter(views.trial_ids("s1")))
    report = {"trial": trial, "metrics": {"epoch": 10, "seconds": 4.0}}
    sent: list[tuple[str, str, dict[str, Any]]] = [
        ("a", "study_started", {}),
        ("b", "report", report),
        ("c", "trial_finished", {"trial": trial}),
    ]
    estimates = Estimates(store, views)
    store.append("s1", sent)
    assert estimates.cost(study).training_seconds is None, "it has not finished yet"
    store.append("s1", [("d", "study_finished", {})])
    assert estimates.cost(study).training_seconds == 4.0

    def unexpected(view: StudyView) -> Past:
        raise AssertionError(f"{view.id} was read again")

    monkeypatch.setattr("service.estimates.past_of", unexpected)
    assert estimates.cost(study).training_seconds == 4.0


def test_what_was_written_comes_back_in_what_json_can_carry() -> None:
    body: dict[Any, Any] = {"name": "s", 1: [float("inf"), 2**60, 0.5, True, None, START], "arms": [{}]}
    assert as_written(body) == {"name": "s", "1": [None, None, 0.5, True, None, str(START)], "arms": [{}]}
    deep: Any = {}
    for _ in range(10_000):
        deep = {"deep": deep}
    assert as_written(deep) is None
    assert as_written([1]) is None
