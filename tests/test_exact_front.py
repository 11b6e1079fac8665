"""What the comparison says of trained arms on Gaussian data, against the front that is known by formula; ten seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from service.analysis.compared import ArmCompared, Comparison, compared
from service.analysis.readings import TOLERANCE
from service.analysis.truth import gaussian_at_rate
from service.contract.study.expansion import PlannedTrial, Slot
from service.contract.study.study import Study
from tests.planned import planned
from tests.service.studies import event, play, tell, view_of
from workers import data
from workers.planning.cohorts import plan
from workers.training import loop

SPOILED = "wrong labels"
LINEAR = 0.03  # bits of I(Z;Y): how near the exact curve a point comes at each β in every seed
CHANCE = 0.005  # of the objectives' ranges: how far above the exact front test samples may put the mean of ten seeds
BETAS = {"from": 0.015, "to": 0.8, "count": 8, "scale": "log"}
SPEC: dict[str, Any] = {
    "name": "against the exact front",
    "data": {"name": "gaussian", "train_samples": 20_000, "test_samples": 20_000},
    "model": {"name": "mlp", "widths": [], "latent": 3, "head": []},
    "training": {"epochs": 20, "batch_size": 250, "learning_rate": 3e-2, "schedule": "cosine"},
    "seeds": list(range(10)),
    "objectives": [
        {"metric": "i_xz_bits", "goal": "minimize", "reference": 9},
        {"metric": "i_zy_bits", "goal": "maximize"},
    ],
    "evaluation": {"every": 1000, "samples": 4},
    "arms": [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": BETAS}}},
        {"name": "target rate", "weighting": {"name": "target-rate", "beta": 0.2, "rate_bits": {"grid": [2, 4]}}},
        {"name": "MIB", "weighting": {"name": "mib"}},
        {"name": "MIB without automatic weights", "weighting": {"name": "mib", "automatic": False}},
        {"name": "min-norm alone", "weighting": {"name": "mib", "power": 1, "smoothing": False}},
        {"name": SPOILED, "weighting": {"name": "fixed", "beta": {"grid": [0.02, 0.04, 0.08]}}},
    ],
}


def last_reports(study: Study, arms: set[str]) -> dict[str, Any]:
    """The last metrics of every trial of these arms."""
    reports: dict[str, Any] = {}
    for cohort in plan([trial for trial in planned(study) if trial.arm in arms], slots=1):
        *_, last = loop.train(cohort, study.data, study.evaluation, torch.device("cpu"))
        reports |= last.metrics
    return reports


def with_wrong_labels(drawn: data.DataSet) -> data.DataSet:
    """A third of the training examples have the label of another one."""
    count = len(drawn.y_train) // 3
    return replace(drawn, y_train=torch.cat([drawn.y_train[:count].roll(1, 0), drawn.y_train[count:]]))


@pytest.fixture(scope="module")
def reports() -> dict[str, Any]:
    torch.set_num_threads(1)
    study = view_of(SPEC).study
    trained = last_reports(study, {arm.name for arm in study.arms} - {SPOILED})
    draws = data.draws
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data, "draws", lambda *asked: [with_wrong_labels(drawn) for drawn in draws(*asked)])
        return trained | last_reports(study, {SPOILED})


def test_a_linear_decoder_lands_near_the_exact_curve(reports: dict[str, Any]) -> None:
    """At each β in each seed: in the mean over several βs one could lie above and make up for another."""
    study = view_of(SPEC).study
    correlations = study.data.correlations  # type: ignore[union-attr]
    gaps: dict[float, list[float]] = {}
    for trial in planned(study):
        if trial.arm == HONEST[0]:
            own = reports[trial.id]
            gap = own["i_zy_bits"] - gaussian_at_rate(correlations, own["i_xz_bits"])
            gaps.setdefault(trial.config["weighting.beta"], []).append(gap)
    for beta, each in gaps.items():
        print(f"a linear decoder at β {beta:.3f} lies {min(each):+.4f} to {max(each):+.4f} bits from the exact curve")
    assert len(gaps) == BETAS["count"] and all(len(each) == 10 for each in gaps.values())
    assert all(-LINEAR < gap < LINEAR for each in gaps.values() for gap in each)


def played(spec: dict[str, Any], metrics_of: Callable[[PlannedTrial | Slot], Any]) -> Comparison:
    view = view_of(spec)
    tell(view, event("study_started"))
    for trial in list(view.trials.values()):
        play(view, trial.planned.id, [metrics_of(trial.planned)])
    tell(view, event("study_finished"))
    return compared(view)


@pytest.fixture(scope="module")
def comparison(reports: dict[str, Any]) -> Comparison:
    return played(SPEC, lambda trial: reports[trial.id])


@pytest.fixture(scope="module")
def coarse(reports: dict[str, Any]) -> Comparison:
    """The same trainings, but of the grid only its first β, its middle one and its last, and one wrong one."""
    trained = {_place(trial): reports[trial.id] for trial in planned(view_of(SPEC).study)}
    betas = sorted({beta for arm, _, beta in trained if arm == HONEST[0]})
    arms = {HONEST[0]: [betas[0], betas[4], betas[-1]], SPOILED: [0.04]}
    weighted = [{"name": a, "weighting": {"name": "fixed", "beta": {"grid": own}}} for a, own in arms.items()]
    return played({**SPEC, "arms": weighted, "baseline": HONEST[0]}, lambda trial: trained[_place(trial)])


def _place(trial: PlannedTrial | Slot) -> tuple[str, int, Any]:
    return trial.arm, trial.seed, trial.config.get("weighting.beta")


def arm(comparison: Comparison, name: str) -> ArmCompared:
    return next(each for each in comparison.arms if each.name == name)


HONEST = [each["name"] for each in SPEC["arms"] if each["name"] != SPOILED]


@pytest.mark.parametrize("name", HONEST)
def test_the_distance_to_the_exact_front_is_what_theory_allows(comparison: Comparison, name: str) -> None:
    """Nothing lies above the front, and what is trained to the end with a family that holds the exact solution lies on
    it: the whole interval is within the tolerance below it, and above it only by chance."""
    exact = arm(comparison, name).place.exact
    assert exact is not None and exact.distance.seeds == 10
    mean, half = exact.distance.mean, exact.distance.half_width
    assert mean is not None and half is not None
    print(f"{name}: {mean:+.4f} ± {half:.4f} of the ranges from the exact front")
    assert -TOLERANCE <= mean - half <= mean + half <= CHANCE
    assert exact.standing == "on"


@pytest.mark.parametrize("name", HONEST[1:])
def test_what_lies_within_the_tolerance_is_called_on_the_front(comparison: Comparison, name: str) -> None:
    place = arm(comparison, name).place
    assert place.standing == "on"
    assert comparison.words[name].startswith(f"{name} lies on manual β’s front")


def test_the_verdict_says_that_arm_and_grid_lie_on_the_exact_front(comparison: Comparison) -> None:
    assert comparison.verdict.count("the exact curve (on it, within 2 % of the objectives’ ranges)") >= 2


def test_an_arm_that_learned_from_wrong_labels_is_called_below_the_front(comparison: Comparison) -> None:
    place = arm(comparison, SPOILED).place
    assert place.standing == "below" and (place.place.dominated or 0.0) > 0.5
    exact = place.exact
    assert exact is not None and exact.standing == "off"
    assert (exact.distance.mean or 0.0) + (exact.distance.half_width or 0.0) < -TOLERANCE
    assert f"{SPOILED} lies below manual β’s front" in comparison.words[SPOILED]


def test_between_the_points_of_a_coarse_grid_wrong_labels_are_not_called_on_the_front(coarse: Comparison) -> None:
    """Its steps are so far below its lines that no trial dominates the arm: that alone puts nothing on a front."""
    place = arm(coarse, SPOILED).place
    assert (place.place.dominated or 0.0) < 0.5 and (place.place.distance.step.mean or 0.0) > 0
    assert place.exact is not None and (place.exact.distance.mean or 0.0) < -5 * TOLERANCE
    assert place.standing == "open" and "is not shown to lie off" in coarse.words[SPOILED]
