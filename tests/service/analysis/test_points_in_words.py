"""What is said of an arm whose every trial is a curve, against a grid of trials."""

from __future__ import annotations

from service.analysis.compared import compared
from service.views.fold import StudyView
from tests.service.studies import ALL_BETAS, MANUAL, MIB, bottleneck_of, curve, play, play_curves

GRID = [(9.0, 3.0), (4.0, 2.0), (1.0, 1.0)]


def against_grid(*places: tuple[float, float, float], seconds: float = 16.0, **spec: object) -> StudyView:
    """Three seeds of a grid of three βs, 10 s each, and one training for all βs."""
    view = bottleneck_of(MANUAL, ALL_BETAS, seeds=(0, 1, 2), **spec)
    for i, trial in enumerate(view.trials):
        if view.trials[trial].planned.arm == "all β":
            shifted = [(beta, x, y + 0.01 * (i % 3)) for beta, x, y in places]
            play_curves(view, trial, curve(*shifted), seconds=seconds)
        else:
            x, y = GRID[i // 3]
            play(view, trial, [{"i_xz_bits": x, "i_zy_bits": y, "seconds": 10.0}])
    return view


def test_an_arm_of_curves_says_its_hypervolume_and_what_one_training_cost() -> None:
    view = against_grid((1e-4, 9.0, 3.3), (1e-2, 4.0, 2.3), (1.0, 1.0, 1.3))
    said = compared(view).verdict
    assert said.startswith("So far: all β lies above manual β’s front: at the same I(X;Z) it has ")
    assert "more than the straight lines between its trials" in said
    assert "It lands where β ≈ 0.01 (0.01 to 0.01) to 0.633 (0.61 to 0.66) lands. It took 1 training" in said
    assert "training per seed (1 epoch); manual β took 3 (" in said
    assert ", and after 1 of them has " in said and "Measured: 16 s against 30 s, in cohorts that may differ" in said
    assert " all β reaches more: " in said and "manual β does not reach all β’s hypervolume in any seed." in said


def test_what_lies_beyond_the_grid_is_counted_in_points() -> None:
    view = against_grid((1e-4, 9.0, 3.3), (1e-2, 4.0, 2.3), (1.0, 0.5, 0.5))
    assert "33 % of its points on a front lie where manual β does not reach" in compared(view).verdict


def test_a_curve_that_is_the_baseline_has_points_between_which_lines_go() -> None:
    view = bottleneck_of(ALL_BETAS, MIB, seeds=(0, 1, 2), baseline="all β")
    for i, trial in enumerate(view.trials):
        if view.trials[trial].planned.arm == "all β":
            play_curves(view, trial, curve((1e-4, 9.0, 3.0), (1e-2, 4.0, 2.0), (1.0, 1.0, 1.0)), seconds=16.0)
        else:
            play(view, trial, [{"i_xz_bits": 4.0, "i_zy_bits": 2.5 + 0.01 * i, "seconds": 8.0}])
    said = compared(view).verdict
    assert "more than the straight lines between its points" in said
    assert "It lands where β ≈ " in said, "MIB is one place, which the curve has βs for"
    assert "It took 1 training per seed (1 epoch); all β took 1 (1 epoch). Measured: 8.0 s against 16 s." in said
