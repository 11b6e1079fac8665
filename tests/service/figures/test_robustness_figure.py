"""Robustness: accuracy under each attack by arm, intervals over seeds or images, ranks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis import wilson
from service.analysis.ranks import rank_averages, ranks
from service.contract.wire.errors import InvalidInput
from service.figures import figures_of
from service.figures.figure import Asked
from service.figures.robustness import draw_robustness, figure, robustness_data
from service.views.fold import StudyView
from service.views.overlay import Overlay
from tests.service.studies import MANUAL, MIB, bottleneck_of, play

ATTACKED = {"attacks": [{"name": "fgsm", "epsilon": 0.1}, {"name": "pgd", "epsilon": 0.1}]}
HAND = {"name": "by hand", "weighting": {"name": "fixed", "beta": 0.1}}


def attacked(*arms: dict[str, Any], seeds: int = 2) -> StudyView:
    return bottleneck_of(*arms, seeds=list(range(seeds)), evaluation=ATTACKED)


def ended(view: StudyView, trial: str, clean: float, fgsm: float | None, pgd: float | None) -> None:
    sizes = {"test_examples": 400.0, "robust_images": 100.0}
    play(view, trial, [{"accuracy": clean, "robust_fgsm": fgsm, "robust_pgd": pgd, **sizes}])


# Ranks


def test_ties_share_the_mean_of_their_places() -> None:
    assert ranks({"a": 0.5, "b": 0.7, "c": 0.5, "d": 0.1}) == {"a": 2.5, "b": 1, "c": 2.5, "d": 4}


def test_the_rank_average_is_the_mean_over_attacks() -> None:
    table = {"a": {"fgsm": 0.9, "pgd": 0.1}, "b": {"fgsm": 0.8, "pgd": 0.2}, "c": {"fgsm": 0.7, "pgd": 0.05}}
    assert rank_averages(table, ["fgsm", "pgd"]) == {"a": 1.5, "b": 1.5, "c": 3}
    assert rank_averages(table, []) == {}


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 3).map(float), min_size=1, max_size=8))
def test_ranks_sum_to_those_of_distinct_values(values: dict[str, float]) -> None:
    assert sum(ranks(values).values()) == pytest.approx(len(values) * (len(values) + 1) / 2)


# What the figure shows


def test_only_studies_with_attacks_have_it() -> None:
    assert "robustness" in figures_of(attacked())
    assert "robustness" not in figures_of(bottleneck_of())


def test_clean_comes_first_then_each_attack_with_its_interval_over_seeds() -> None:
    view = attacked(HAND, MIB)
    for trial, pgd in zip(view.trials, (0.3, 0.5, 0.6, 0.6), strict=True):
        ended(view, trial, 0.9, 0.7, pgd)
    data = robustness_data(view, None)
    assert data.rows == ["accuracy", "robust_fgsm", "robust_pgd"] and data.images == 100
    cell = data.arms[0].cells["robust_pgd"]
    assert cell.value == pytest.approx(0.4)
    assert (cell.low, cell.high) == (0.3, 0.5), "two seeds: their range"
    assert [*cell.by_trial.values()] == [0.3, 0.5]
    assert data.arms[1].cells["robust_pgd"].low == pytest.approx(0.6)


def test_one_seed_has_an_interval_over_images_and_says_so() -> None:
    view = attacked(HAND, seeds=1)
    ended(view, next(iter(view.trials)), 0.9, 0.7, 0.5)
    data = robustness_data(view, None)
    cells = data.arms[0].cells
    assert (cells["robust_pgd"].low, cells["robust_pgd"].high) == wilson(0.5, 100)
    assert cells["robust_pgd"].low == pytest.approx(0.404, abs=5e-4), "Wilson's interval of 50 in 100"
    assert (cells["accuracy"].low, cells["accuracy"].high) == wilson(0.9, 400)
    drawn = draw_robustness(data, "r")
    assert drawn["layout"]["meta"]["subtitle"] == (
        "one seed: 95 % interval over images (Wilson), not over trainings · 100 images attacked"
    )
    (trace,) = drawn["data"]
    assert trace["customdata"] == [*view.trials] * 3 and "xaxis2" not in drawn["layout"]


def test_an_arm_with_one_seed_among_others_is_named() -> None:
    view = attacked(HAND, MIB)
    for trial in [*view.trials][:3]:
        ended(view, trial, 0.9, 0.7, 0.5)
    subtitle = draw_robustness(robustness_data(view, None), "r")["layout"]["meta"]["subtitle"]
    assert subtitle.startswith("two seeds: mean and range, no interval · one seed (MIB): 95 % interval over images")


def test_the_configuration_is_the_best_by_clean_or_by_mean_robust_accuracy() -> None:
    view = attacked(MANUAL, seeds=1)
    for trial, values in zip(view.trials, ((0.9, 0.1, 0.1), (0.8, 0.4, 0.2), (0.7, 0.5, 0.0)), strict=True):
        ended(view, trial, *values)
    assert [robustness_data(view, x).arms[0].best.label for x in (None, "clean", "robust")] == [
        "β 0.01",
        "β 0.01",
        "β 0.1",
    ]
    with pytest.raises(InvalidInput, match="x must be one of clean, robust, got 'pgd'"):
        figure(Asked(view, "pgd"))


# MIB paper, table 2 (CIFAR-10), accuracies of six methods. Its table 1 agrees but for two methods, swapped in one row.
PAPER = {
    "accuracy": (66.32, 66.59, 66.91, 62.38, 67.38, 66.96),
    "robust_fgsm": (44.06, 44.14, 44.89, 40.84, 45.68, 46.28),
    "robust_pgd": (42.57, 42.70, 43.25, 39.61, 44.13, 44.93),
    "robust_nifgsm": (52.69, 52.86, 54.05, 49.49, 54.37, 55.06),
    "robust_eotpgd": (42.50, 42.63, 43.34, 39.60, 43.90, 44.70),
    "robust_mifgsm": (40.62, 40.82, 41.53, 37.54, 42.61, 43.47),
    "robust_upgd": (40.63, 40.85, 41.74, 37.91, 42.41, 43.57),
    "robust_jitter": (42.65, 42.79, 43.80, 39.43, 44.63, 45.93),
}
PAPERS_RANKS = (5.00, 4.00, 3.00, 6.00, 1.88, 1.13)


def test_the_rank_average_of_the_papers_table_is_the_papers() -> None:
    attacks = [{"name": metric.removeprefix("robust_")} for metric in PAPER if metric != "accuracy"]
    arms = [{**HAND, "name": name} for name in ("RES18", "VIB", "NIB", "VIB²", "NIB²", "MIB")]
    view = bottleneck_of(*arms, seeds=[0], evaluation={"attacks": attacks})
    for i, trial in enumerate(view.trials):
        play(view, trial, [{metric: values[i] / 100 for metric, values in PAPER.items()}])
    found = [arm.rank for arm in robustness_data(view, None).arms]
    assert found == pytest.approx(PAPERS_RANKS, abs=0.0051)


def test_ranks_are_of_the_means_over_the_clean_row_and_the_attacks() -> None:
    view = attacked(HAND, MIB)
    for trial, values in zip(
        view.trials, ((0.9, 0.6, 0.2), (0.9, 0.6, 0.2), (0.5, 0.5, 0.9), (0.5, 0.9, 0.1)), strict=True
    ):
        ended(view, trial, *values)
    data = robustness_data(view, None)
    assert data.ranked == ["accuracy", "robust_fgsm", "robust_pgd"]
    ranks_of_means = pytest.approx([5 / 3, 4 / 3])
    assert [arm.rank for arm in data.arms] == ranks_of_means, (
        "means: clean 0.9 and 0.5, fgsm 0.6 and 0.7, pgd 0.2 and 0.5"
    )
    of_seeds = pytest.approx({0: 4 / 3, 1: 4 / 3})
    assert data.arms[0].seed_ranks == of_seeds, "first clean and in one of two attacks, in either seed"
    summary = draw_robustness(data, "r")["layout"]["meta"]["summary"]
    assert summary == "Rank average over clean and 2 attacks, 1 is best: MIB 1.33, by hand 1.67."


def test_an_attack_that_an_arm_lacks_is_not_ranked() -> None:
    view = attacked(HAND, MIB, seeds=1)
    first, second = view.trials
    ended(view, first, 0.9, 0.6, 0.2)
    ended(view, second, 0.9, 0.5, None)
    data = robustness_data(view, None)
    assert data.ranked == ["accuracy", "robust_fgsm"] and [arm.rank for arm in data.arms] == [1.25, 1.75]
    assert "robust_pgd" not in data.arms[1].cells


def test_an_arm_that_has_not_begun_is_neither_drawn_nor_ranked() -> None:
    view = attacked(HAND, MIB, {**HAND, "name": "late"}, seeds=1)
    for trial, fgsm in zip(view.trials, (0.6, 0.5), strict=False):
        ended(view, trial, 0.9, fgsm, 0.1)
    data = robustness_data(view, None)
    first, second, late = (arm.rank for arm in data.arms)
    assert (first, second) == pytest.approx((4 / 3, 5 / 3)) and late is None and data.arms[2].cells == {}


def test_a_configuration_is_judged_by_all_attacks_or_by_none() -> None:
    """One that was not attacked by all of them might owe its mean to the attack it was spared."""
    view = attacked(MANUAL, seeds=1)
    for trial, fgsm, pgd in zip(view.trials, (0.9, 0.6, 0.5), (None, 0.4, 0.6), strict=True):
        ended(view, trial, 0.9, fgsm, pgd)
    (arm,) = robustness_data(view, "robust").arms
    assert arm.best.label == "β 1" and arm.best.mean.mean == pytest.approx(0.55)


def test_studies_that_attack_differently_show_clean_accuracy_alone() -> None:
    one, two = (
        attacked(MIB, seeds=1),
        bottleneck_of(MIB, seeds=[0], name="t", evaluation={"attacks": [{"name": "pgd"}]}),
    )
    two.id = "s2"
    for view in (one, two):
        ended(view, next(iter(view.trials)), 0.9, 0.7, 0.5)
    assert robustness_data(Overlay([one, two]), None).rows == ["accuracy"]
    assert "attack differently" in figure(Asked(Overlay([one, two])))["layout"]["meta"]["subtitle"]
    assert robustness_data(Overlay([one]), None).rows == ["accuracy", "robust_fgsm", "robust_pgd"]


def test_the_most_images_that_were_attacked_are_told() -> None:
    view = attacked(HAND)
    for trial, images in zip(view.trials, (50.0, 200.0), strict=True):
        play(view, trial, [{"accuracy": 0.9, "robust_fgsm": 0.5, "robust_pgd": 0.4, "robust_images": images}])
    assert robustness_data(view, None).images == 200


def test_a_seed_that_lacks_an_attack_has_no_rank_of_its_own() -> None:
    view = attacked(HAND, MIB, seeds=3)
    for trial, pgd in zip(view.trials, (0.4, 0.4, None, 0.3, 0.5, 0.3), strict=True):
        ended(view, trial, 0.9, 0.7, pgd)
    by_hand, mib = robustness_data(view, None).arms
    assert by_hand.seed_ranks == pytest.approx({0: 4 / 3, 1: 5 / 3})
    assert mib.seed_ranks == pytest.approx({0: 5 / 3, 1: 4 / 3})
