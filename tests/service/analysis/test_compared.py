"""From a view to its comparison: which arms are whole, which are automatic, and what each has spent."""

from __future__ import annotations

import pytest

from service.analysis.compared import compared
from service.analysis.paired import paired
from service.views.fold import StudyView
from tests.service.studies import MANUAL, MIB, bottleneck_of, event, play, tell

SEEDS = (0, 1, 2)
THREE_MUS = {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2, 0.3]}}}


def played(*unlike: str, seeds: tuple[int, ...] = SEEDS) -> StudyView:
    """All trials end well but the grid's first ones, which end as said; `""` is still under way."""
    view = bottleneck_of(MANUAL, THREE_MUS, seeds=seeds)
    ends = dict(zip(view.trials, unlike, strict=False))
    for i, trial in enumerate(view.trials):
        last = {"i_xz_bits": 4.0, "i_zy_bits": 1.0 + (0.37 * i) % 1, "seconds": 2.0}
        play(view, trial, [last], ends.get(trial, "trial_finished"))
    return view


def test_a_failed_trial_has_ended_so_its_arm_is_whole_and_tested() -> None:
    (pair,) = compared(played("trial_failed")).pairs
    assert pair.whole and pair.p_adjusted is not None


def test_an_arm_with_a_trial_under_way_is_not_whole() -> None:
    (pair,) = compared(played("")).pairs
    assert not pair.whole and pair.p_adjusted is None


def test_a_trial_that_was_stopped_has_not_ended_by_itself() -> None:
    view = played("")
    tell(view, event("study_cancelled"))
    (pair,) = compared(view).pairs
    assert not pair.whole and pair.p_adjusted is None


def test_what_is_weighted_by_hand_is_the_baseline_and_not_automatic() -> None:
    comparison = compared(played())
    assert {arm.name: arm.automatic for arm in comparison.arms} == {"manual β": False, "MIB": True}
    assert (comparison.baseline, [pair.arm for pair in comparison.pairs]) == ("manual β", ["MIB"])


def test_failed_and_collapsed_trials_cost_what_they_cost() -> None:
    view = bottleneck_of(MIB, seeds=SEEDS)
    for trial, rate, end in zip(view.trials, (4.0, 0.0, 4.0), ("trial_finished",) * 2 + ("trial_failed",), strict=True):
        play(view, trial, [{"i_xz_bits": rate, "i_zy_bits": 1.0, "seconds": 2.0}], end)
    (arm,) = compared(view).arms
    assert (arm.trained_trials, arm.training_seconds) == (3, 6.0)
    assert (arm.counts.finished, arm.counts.failed, arm.counts.collapsed) == (2, 1, 1)
    assert arm.result.by_seed == {0: 28.0, 1: 0.0, 2: 0.0}


def test_a_comparison_says_whose_it_is() -> None:
    view = played(seeds=(3, 4))
    comparison = compared(view)
    assert (comparison.study, comparison.seeds, comparison.state) == (view.id, 2, view.state)
    assert [axis.metric for axis in comparison.objectives] == ["i_xz_bits", "i_zy_bits"]
    assert [arm.name for arm in comparison.arms] == ["manual β", "MIB"]


def test_a_ratio_is_over_the_seeds_that_both_have() -> None:
    ratio = paired({0: 2.0, 1: 3.0}, {0: 1.0, 1: 2.0, 2: 100.0}).ratio
    assert ratio.mean == pytest.approx(1 + 1 / 1.5) and ratio.seeds == 2


def test_of_two_settings_of_which_one_always_dominates_one_point_is_left_to_judge() -> None:
    """It has two trials per seed and one point: no share of a grid's hypervolume, no test by it, and a place."""
    mib = {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    view = bottleneck_of(MANUAL, mib, seeds=SEEDS)
    places = {0.01: (12.0, 3.0), 0.1: (6.0, 2.0), 1.0: (2.0, 1.0)}
    for trial, own in view.trials.items():
        mu = own.planned.config.get("weighting.mu")
        x, y = places[own.planned.config["weighting.beta"]] if mu is None else (6.0 + 10 * (mu - 0.1), 2.0)
        play(view, trial, [{"i_xz_bits": x, "i_zy_bits": y + 0.01 * own.planned.seed, "seconds": 2.0, "epoch": 20}])
    tell(view, event("study_finished"))
    comparison = compared(view)
    assert not comparison.arms[1].place.draws_front and "manual β’s hypervolume" not in comparison.words["MIB"]
    assert "It lands where β ≈ 0.1 (0.1 to 0.1) lands." in comparison.verdict
    (pair,) = comparison.pairs
    assert (pair.p_adjusted, pair.paired.effect_size, pair.shown) == (None, None, False)
    assert "It took 2 trainings per seed (40 epochs); manual β took 3 (60 epochs), and after 2" in comparison.verdict


def test_an_automatic_arm_with_a_grid_is_told_where_and_at_what_cost() -> None:
    mib = {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    view = bottleneck_of(MANUAL, mib, seeds=SEEDS)
    places = {0.01: (12.0, 3.0), 0.1: (6.0, 2.0), 1.0: (2.0, 1.0)}
    for trial, own in view.trials.items():
        config, lands = own.planned.config, {0.1: 0.1, 0.2: 1.0}  # of each μ
        x, y = places[lands[config["weighting.mu"]] if "weighting.mu" in config else config["weighting.beta"]]
        play(view, trial, [{"i_xz_bits": x, "i_zy_bits": y + 0.01 * own.planned.seed, "seconds": 2.0, "epoch": 20}])
    tell(view, event("study_finished"))
    comparison = compared(view)
    assert comparison.arms[1].place.draws_front
    assert "It lands where β ≈ 0.1 (0.1 to 0.1) to 1 (1 to 1) lands. It took 2 trainings per seed" in comparison.verdict
    assert "2 points per seed against 3: hypervolume grows with their number, no test" in comparison.verdict


def test_one_point_of_a_grids_front_is_on_it_and_not_a_share_of_its_hypervolume() -> None:
    """MIB is where β = 0.1 is, in each seed: as good as the grid, at a third of its size."""
    view = bottleneck_of(MANUAL, MIB, seeds=SEEDS)
    places = {0.01: (12.0, 3.0), 0.1: (6.0, 2.0), 1.0: (2.0, 1.0)}
    for trial, own in view.trials.items():
        x, y = places[own.planned.config.get("weighting.beta", 0.1)]
        noise = 0.01 * own.planned.seed
        play(view, trial, [{"i_xz_bits": x, "i_zy_bits": y + noise, "seconds": 2.0}])
    tell(view, event("study_finished"))
    comparison = compared(view)
    assert comparison.verdict.startswith("MIB lies on manual β’s front")
    assert "It lands where β ≈ 0.1 (0.1 to 0.1) lands." in comparison.verdict
    assert "of manual β’s hypervolume" not in comparison.verdict
    mib = comparison.arms[1].place
    assert (mib.standing, mib.place.by_seed, mib.place.dominated) == ("on", dict.fromkeys(SEEDS, (0.0, 0.0)), 0.0)
