"""What stands above a figure and what is read aloud of it: nothing is left out without a word, no seed is invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.figures import FIGURES
from service.figures.drawing.information_paths import plane_data
from service.figures.figure import Asked
from service.figures.information_plane import subtitle_of
from service.store.artifacts import Artifacts
from service.views.fold import StudyView
from service.views.maps import Maps
from service.views.overlay import Overlay
from tests.service.figures.test_latent_figure import keep
from tests.service.studies import MANUAL, MIB, accuracy, bits, bottleneck_of, play, study_of

FLATTERED = "chosen on the test split itself, which flatters arms with many trials"
TOY = {"name": "t", "problem": {"name": "toy"}, "weighting": {"name": "uniform"}}


def meta(name: str, view: StudyView | Overlay, **asked: Any) -> dict[str, Any]:
    return dict(FIGURES[name].drawn(Asked(view, **asked))["layout"]["meta"])


def subtitle(name: str, view: StudyView | Overlay, **asked: Any) -> str:
    return str(meta(name, view, **asked)["subtitle"])


def test_terms_and_layers_beyond_the_first_six_are_counted() -> None:
    labels = [f"label-{i}" for i in range(1, 9)]
    eight = {"name": "multitask", "main": labels[0], "auxiliaries": labels[1:]}
    arm = {"name": "a", "problem": eight, "weighting": {"name": "uniform"}}
    assert subtitle("weight-paths", study_of(arm, data={"name": "yeast"})) == "first 6 of 8 terms"
    few = study_of({**arm, "problem": {**eight, "auxiliaries": labels[1:4]}}, data={"name": "yeast"})
    assert subtitle("weight-paths", few) == ""
    deep = bottleneck_of(MIB, model={"name": "mlp", "widths": [8] * 7}, training={"balance": {}})
    assert subtitle("balance", deep) == "|ln OUT/IN| of each layer's worst unit, 0 is balanced · first 6 of 7 layers"
    shallow = bottleneck_of(MIB, model={"name": "mlp", "widths": [8] * 6}, training={"balance": {}})
    assert subtitle("balance", shallow) == "|ln OUT/IN| of each layer's worst unit, 0 is balanced"


def test_the_middle_and_the_spread_are_told_for_seeds_and_for_grids() -> None:
    several = [{**MANUAL, "name": "other"}, MANUAL, MIB]
    view = bottleneck_of(*several)
    assert subtitle("weight-paths", view) == "", "nothing is drawn yet"
    for trial in view.trials:
        play(view, trial, [{"weight_info": 1.0}])
    assert subtitle("weight-paths", view) == (
        "two seeds: mean and range, no interval · median, range of all trials where an arm has several configurations"
    )
    grid = bottleneck_of(MANUAL)
    for trial in grid.trials:
        play(grid, trial, [{"weight_info": 1.0}])
    assert subtitle("weight-paths", grid) == "median, range of all trials"


def test_a_curve_says_how_its_configuration_was_chosen_what_is_dashed_and_how_often_it_was_measured() -> None:
    view = bottleneck_of(MANUAL, evaluation={"every": 5})
    for trial in view.trials:
        play(view, trial, [{"accuracy": 0.5, "train_accuracy": 0.6}])
    assert subtitle("learning-curves", view) == (
        "two seeds: mean and range, no interval · best configuration by its last value on the test split · "
        "dashed: training split · measured every 5 epochs"
    )
    assert subtitle("learning-curves", view, x="all") == (
        "median, range of all trials · dashed: training split · measured every 5 epochs"
    )
    plain = bottleneck_of(MIB)
    for trial in plain.trials:
        play(plain, trial, accuracy(0.5))
    assert subtitle("learning-curves", plain) == "two seeds: mean and range, no interval"


def test_accuracy_says_what_is_chosen_what_still_trains_and_what_failed() -> None:
    view = bottleneck_of(MANUAL, MIB)
    first, second, third, *_, mib, _ = view.trials
    play(view, first, accuracy(0.5))
    play(view, second, accuracy(0.5), end="")
    play(view, third, accuracy(0.4))
    play(view, mib, accuracy(0.9), end="trial_failed")
    assert subtitle("accuracy-by-method", view) == (
        "two seeds: mean and range, no interval, each seed below · best of several: chosen on the test split · "
        "1 still training · 1 failed, left out"
    )
    alone = bottleneck_of(MIB, seeds=[0])
    play(alone, next(iter(alone.trials)), accuracy(0.5))
    assert subtitle("accuracy-by-method", alone) == "one seed, no interval"
    assert meta("accuracy-by-method", alone)["empty"] == ""
    toy = study_of(TOY, data={"name": "digits"})
    for name in ("accuracy-by-method", "convergence"):
        assert meta(name, toy)["empty"] == "No trial of this study reports an accuracy."


def test_convergence_says_where_its_threshold_comes_from() -> None:
    view = bottleneck_of(MANUAL, seeds=[0], evaluation={"every": 2})
    for trial, value in zip(view.trials, (0.5, 0.4, 0.3), strict=True):
        play(view, trial, accuracy(value))
    assert subtitle("convergence", view) == (
        "0.475 is 95 % of the best arm's mean · one seed, no interval · best of several by final accuracy "
        "on the test split · measured every 2 epochs"
    )
    assert subtitle("convergence", view, x="0.4") == (
        "one seed, no interval · best of several by final accuracy on the test split · measured every 2 epochs"
    )
    seeds = bottleneck_of(MIB, seeds=(0, 1, 2))
    assert subtitle("convergence", seeds) == "" and meta("convergence", seeds)["empty"] == ""
    for trial in seeds.trials:
        play(seeds, trial, accuracy(0.5))
    assert subtitle("convergence", seeds, x="0.5") == "mean, 95 % interval where all seeds reach it"
    assert meta("convergence", seeds, x="0.75")["empty"] == "No trial has reached accuracy 0.75."


def test_the_plane_says_its_seeds_what_stands_for_a_mean_and_what_is_shaded() -> None:
    both = "I(X;Z) ≤ KL to a fitted marginal, I(Z;Y) ≥ H(Y) − cross-entropy, test split"
    view = bottleneck_of(MANUAL, MIB)
    for trial in view.trials:
        play(view, trial, bits((3.0, 1.0)))
    assert subtitle("information-plane", view) == (
        f"{both} · 8 trials · 2 seeds · large mark: mean, bars range · paler: smaller β · "
        "shaded: above min(I(X;Z), H(Y))"
    )
    alone = bottleneck_of(MIB, seeds=[0], data={"name": "mnist", "test_images": 100})
    play(alone, next(iter(alone.trials)), bits((3.0, 1.0)))
    assert subtitle("information-plane", alone).endswith(" · 1 trial · one seed, no interval")
    data = plane_data(alone)
    assert subtitle_of(data._replace(drawn=0, thinned=True)).endswith(" · paths of 0 trials · epochs thinned")


def test_the_plane_says_where_each_arm_ended() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    for trial, place in zip(view.trials, ((3.0, 1.0), (9.0, 2.5), (6.0, 2.0), (4.0, 1.5)), strict=True):
        play(view, trial, bits(place))
    assert meta("information-plane", view)["summary"] == (
        "manual β ends between I(X;Z) 3.00 and 9.00 bits, with I(Z;Y) up to 2.50 bits. "
        "MIB ends between I(X;Z) 4.00 and 4.00 bits, with I(Z;Y) up to 1.50 bits."
    )
    seeds = bottleneck_of(MIB)
    for trial in seeds.trials:
        play(seeds, trial, bits((4.0, 1.5)))
    assert meta("information-plane", seeds)["summary"] == (
        "MIB ends at I(X;Z) 4.00, two seeds, and I(Z;Y) 1.50, two seeds, in bits."
    )


def test_the_front_counts_what_it_shows_and_says_where_it_is_measured_from() -> None:
    view = bottleneck_of(MANUAL, seeds=[0])
    for trial, place in zip(view.trials, ((3.0, 1.0), (9.0, 2.5), (9.5, 2.0)), strict=True):
        play(view, trial, bits(place))
    assert subtitle("pareto-front", view) == (
        "less I(X;Z) and more I(Z;Y) is better · 3 trials · reference point (32, 0) · paler: smaller β · one seed"
        " · chosen on the test split itself, which flatters arms with many trials"
    )
    assert meta("pareto-front", view)["summary"] == (
        "Hypervolume: manual β 63.5. Not dominated within the arm: manual β 2."
    )
    for trial, seconds in zip(view.trials, (2.0, 3.0), strict=False):
        play(view, trial, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0, "seconds": seconds}])
    assert subtitle("pareto-front", view, x="seconds") == (
        "less training time and more I(Z;Y) is better · 2 trials · paler: smaller β · one seed"
        " · chosen on the test split itself, which flatters arms with many trials"
    ), "time has no reference"
    assert meta("pareto-front", view, x="seconds")["summary"] == "Not dominated within the arm: manual β 1."


def test_cost_says_its_seeds_the_order_of_trials_and_the_reference() -> None:
    def ended(*arms: dict[str, Any], seeds: list[int]) -> StudyView:
        view = bottleneck_of(*arms, seeds=seeds)
        for trial in view.trials:
            play(view, trial, [{"seconds": 1.0, "i_xz_bits": 10.0, "i_zy_bits": 1.0}])
        return view

    search = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 0.1, "to": 1.0}}},
        "search": {"name": "optuna", "trials": 4},
    }
    point = "reference point (32, 0)"
    assert subtitle("hypervolume-cost", bottleneck_of(MIB)) == point
    assert subtitle("hypervolume-cost", ended(MIB, seeds=[0])) == f"one seed, no interval · {point} · {FLATTERED}"
    grid = f"two seeds: mean, no interval · a grid's trials in random order · {point} · {FLATTERED}"
    assert subtitle("hypervolume-cost", ended(MANUAL, MIB, seeds=[0, 1])) == grid
    searched = subtitle("hypervolume-cost", ended(MANUAL, search, seeds=[0, 1]))
    assert searched == grid.replace("random order", "random order, a search's in its own")


def test_robustness_says_its_seeds_its_images_and_how_configurations_were_chosen() -> None:
    evaluation = {"attacks": [{"name": "pgd"}]}
    view = bottleneck_of(MANUAL, MIB, evaluation=evaluation)
    assert subtitle("robustness", view) == ""
    for trial in view.trials:
        play(view, trial, [{"accuracy": 0.9, "robust_pgd": 0.5, "robust_images": 1200.0}])
    ranked = "rank among arms, averaged over clean and attacks"
    assert subtitle("robustness", view) == (
        "two seeds: mean and range, no interval · 1,200 images attacked · chosen by clean accuracy on the test split · "
        + ranked
    )
    assert "chosen by mean robust accuracy on the test split" in subtitle("robustness", view, x="robust")
    plain = bottleneck_of(MIB, evaluation=evaluation)
    for trial in plain.trials:
        play(plain, trial, [{"accuracy": 0.9, "robust_pgd": 0.5}])
    assert subtitle("robustness", plain) == "two seeds: mean and range, no interval", (
        "one arm has no rank and no choice"
    )


def test_the_gap_says_what_is_left_out_and_how_arms_without_a_rate_were_chosen() -> None:
    gap = [{"i_xz_bits": 5.0, "generalization_gap": 0.1, "accuracy": 0.9}]
    view = bottleneck_of(MIB, seeds=[0, 1])
    good, failed = view.trials
    assert subtitle("generalization-gap", view) == "train − test accuracy, 0 is no gap"
    play(view, good, gap)
    play(view, failed, gap, end="trial_failed")
    assert subtitle("generalization-gap", view) == (
        "train − test accuracy, 0 is no gap · one seed, no interval · 1 failed, left out"
    )
    rate = {"name": "bottleneck", "rate": "none"}
    none = {"name": "none", "problem": rate, "weighting": {"name": "fixed", "beta": {"grid": [0.0, 0.5]}}}
    chosen = bottleneck_of(none)
    for trial in chosen.trials:
        play(chosen, trial, [{"generalization_gap": 0.1, "accuracy": 0.9}])
    assert subtitle("generalization-gap", chosen) == (
        "train − test accuracy, 0 is no gap · two seeds: mean and range, no interval · "
        "without I(X;Z): configuration of best accuracy, chosen on the test split"
    )


def test_codes_say_how_many_examples_and_what_an_open_mark_is(tmp_path: Path) -> None:
    view = bottleneck_of(MIB, seeds=[0], evaluation={"latent_map": {"points": 10}})
    (trial,) = view.trials
    play(view, trial, accuracy(0.5))
    artifacts = Artifacts(tmp_path)
    assert subtitle("latent-map", view, maps=Maps(artifacts)) == "no map yet"
    keep(artifacts, trial, attacked=None, attack=None, attacked_predicted=None)
    assert subtitle("latent-map", view, maps=Maps(artifacts)) == (
        "means of q(z|x), first 4 test examples · t-SNE, 16 dimensions, perplexity 1: only neighbourhoods mean "
        "something · open: misclassified"
    )
    keep(artifacts, trial, method="codes", latent=1)
    assert " · the code's own dimension · " in subtitle("latent-map", view, maps=Maps(artifacts))


def test_importance_says_its_trials_and_what_was_cut_into_bins() -> None:
    grid = {"name": "fixed", "beta": {"grid": {"from": 0.01, "to": 1.0, "count": 12, "scale": "log"}}}
    view = bottleneck_of({"name": "a", "weighting": grid}, MIB, seeds=[0])
    for i, trial in enumerate(view.trials):
        play(view, trial, accuracy(0.5 + 0.03 * (i % 5)))
    assert subtitle("importance", view) == (
        "main effects (ε² of an analysis of variance), parameters within arms · 13 trials · "
        "bars: 95 %, bootstrap over trials, always the same draws · β in bins of equal counts"
    )
    assert subtitle("importance", view, arms=("a",)).startswith(
        "main effects (ε² of an analysis of variance) · 12 trials · "
    )


def test_lines_of_parallel_coordinates_say_what_they_leave_out() -> None:
    view = bottleneck_of(MIB, seeds=[0, 1, 2])
    assert subtitle("parallel-coordinates", bottleneck_of(MANUAL)) == ""
    good, other, failed = view.trials
    for trial in (good, other):
        play(view, trial, [{"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5}])
    play(view, failed, [], end="trial_failed")
    assert subtitle("parallel-coordinates", view) == (
        "a line per trial, coloured by arm · 2 trials · 1 without a value on every axis left out · "
        "drag along an axis to choose"
    ), "one that failed before its first report is left out too"
    assert meta("parallel-coordinates", view)["summary"] == ("2 trials over I(X;Z) [bits], I(Z;Y) [bits], accuracy.")


@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_the_difference_says_what_its_colours_mean(seeds: list[int]) -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=seeds)
    wishes = "less I(X;Z) and more I(Z;Y) is better"
    assert subtitle("attainment-difference", view) == wishes and "summary" not in meta("attainment-difference", view)
    for trial in view.trials:
        play(view, trial, bits((3.0, 1.0)))
    words = {
        1: "one seed: trade-offs that only one of the two arms attains",
        2: "stronger colour: more of the 2 seeds · lines: attained by half of the seeds",
    }
    assert subtitle("attainment-difference", view) == f"{words[len(seeds)]} · {wishes} · {FLATTERED}"
    assert meta("attainment-difference", view)["summary"] == "manual β and MIB attain the same."
