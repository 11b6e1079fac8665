"""Whole studies with rungs: who goes on trains as if nobody had stopped, whatever the slots."""

from __future__ import annotations

from typing import Any

from pytest import approx

from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.events import Metrics
from tests.planned import planned
from tests.workers.halving import run
from workers.planning.rungs import Rungs
from workers.planning.supply import Supply

GRID: dict[str, Any] = {
    "name": "grid",
    "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.01, 0.1, 1.0]}},
    "training": {"learning_rate": {"grid": [0.001, 0.01]}},
}


def study(**more: Any) -> Study:
    base: dict[str, Any] = {
        "name": "s",
        "data": {"name": "digits", "train_fraction": 0.2, "test_images": 60},
        "model": {"name": "mlp", "widths": [12], "latent": 4},
        "training": {"epochs": 6, "batch_size": 64},
        "seeds": [0, 1],
        "evaluation": {"samples": 1, "every": 6},
        "arms": [GRID, {"name": "one", "weighting": {"name": "uniform"}}],
    }
    return check_study({**base, **more})


def halved(**more: Any) -> Study:
    return study(stopping={"name": "halving", "keep": 0.5, "first": 2}, **more)


def test_survivors_have_the_metrics_of_a_study_without_halving() -> None:
    one = halved()
    whole, ran = run(study()), run(one)
    stopped = {each.trial: each.epoch for each in ran.stopped}
    assert sorted(stopped.values()) == [2] * 8 + [4] * 4
    for trial in planned(one):
        metrics = ran.metrics[trial.id]
        assert metrics["epoch"] == stopped.get(trial.id, 6)
        if trial.id not in stopped:
            known = {name: value for name, value in whole.metrics[trial.id].items() if name != "seconds"}
            assert {name: metrics[name] for name in known} == approx(known, rel=1e-5, abs=1e-6)


def test_who_goes_on_depends_neither_on_slots_nor_on_the_size_of_cohorts() -> None:
    runs = [run(halved(), slots=1), run(halved(), slots=3), run(halved(resources={"cohort": 5}), slots=2)]
    assert len({frozenset((each.trial, each.epoch) for each in ran.stopped) for ran in runs}) == 1
    assert len({len(ran.cohorts) for ran in runs}) > 1


def test_the_arm_of_one_trial_is_trained_to_its_end() -> None:
    ran = run(halved())
    assert {ran.metrics[trial.id]["epoch"] for trial in planned(halved(), "one")} == {6}


def test_stacks_shrink_at_every_rung() -> None:
    sizes = [len(cohort) for cohort in run(halved(), slots=1).cohorts]
    assert sizes == [18, 10, 6]


def test_more_cohorts_come_as_long_as_somebody_is_on_the_way_to_a_rung_or_rests_there() -> None:
    one = halved(arms=[GRID], seeds=[0])
    supply = Supply(planned(one), [], 2, 4, rungs=Rungs(one, planned(one), {}))
    cohorts = [supply.next(), supply.next()]
    assert supply.next() is None and not supply.is_over, "both are on their way"
    for number, cohort in enumerate(cohorts):
        assert cohort is not None and supply.until(cohort) == 2
        reached: dict[str, Metrics] = {
            trial.id: {"validation_i_xz_bits": 3.0, "validation_i_zy_bits": 1.0 + number} for trial in cohort
        }
        stopped = supply.rested(2, reached)
        assert supply.rested(2, reached) == [], "whoever says it again was heard"
        if number == 0:
            assert not stopped and supply.next() is None and not supply.is_over, "one rests, and waits for the other"
    assert {each.trial for each in stopped} == {trial.id for trial in cohorts[0] or []}
    assert supply.next() == cohorts[1] and supply.next() is None and not supply.is_over
