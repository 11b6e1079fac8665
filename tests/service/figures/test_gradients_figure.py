"""The figure of gradients, by value."""

from __future__ import annotations

import math
from typing import Any

import pytest

from service.contract.wire.errors import InvalidInput
from service.figures import FIGURES, figures_of
from service.figures.figure import Asked
from service.figures.gradients import controls, figure, gradients_data
from service.views.overlay import Overlay
from tests.service.studies import MANUAL, MIB, bottleneck_of, play, study_of

T_95_THREE = 4.302652730
WATCH = {"gradients": True}
UNIFORM = {"name": "uniform"}


def gradients(cosine: float | None, pred: float | None = 1.0, info: float | None = 1.0) -> dict[str, float | None]:
    return {"cosine_pred_info": cosine, "gradient_norm_pred": pred, "gradient_norm_info": info}


def tasks(*auxiliaries: str) -> dict[str, Any]:
    problem = {"name": "multitask", "main": "class", "auxiliaries": list(auxiliaries)}
    return {"name": "a", "problem": problem, "weighting": UNIFORM}


def test_a_pair_has_its_cosine_and_its_ratio_over_epochs() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2))
    for trial, cosine, info in zip(view.trials, (-0.2, 0.0, 0.2), (1.0, 10.0, 100.0), strict=True):
        play(view, trial, [gradients(cosine, 2.0, 2 * info), gradients(0.5, 2.0, 2 * info)])
    data = gradients_data(view)
    ratio_name = "length of info / pred"
    assert data.names == {"cosine_pred_info": "cosine of pred and info", ratio_name: ratio_name}
    angle, ratio = data.paths.arms[0].bands.values()
    assert (angle.epochs, angle.middle) == ([1, 2], [0, 0.5])
    assert angle.high[0] == pytest.approx(0.2 * T_95_THREE / math.sqrt(3), rel=1e-3)
    assert ratio.middle == [pytest.approx(10, rel=1e-3)] * 2, "the geometric mean"
    half = math.log(10) * T_95_THREE / math.sqrt(3)
    assert ratio.low[0] == pytest.approx(10 * math.exp(-half), rel=2e-3), "above 0, however wide"
    layout = figure(Asked(view))["layout"]
    assert layout["yaxis"]["zeroline"] and layout["yaxis"]["rangemode"] == "tozero" and "type" not in layout["yaxis"]
    assert layout["yaxis2"]["type"] == "log" and not layout["yaxis2"]["zeroline"]
    assert (layout["yaxis"]["title"]["text"], layout["yaxis2"]["title"]["text"]) == ("cosine", "ratio")
    assert layout["meta"]["finding"].startswith("So far: The gradients of pred and info agree (mean cosine 0.250")


def test_an_interval_is_drawn_no_wider_than_a_cosine_can_be() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2))
    for trial, cosine in zip(view.trials, (-0.9, 0.0, 0.9), strict=True):
        play(view, trial, [gradients(cosine)])
    band = gradients_data(view).paths.arms[0].bands["cosine_pred_info"]
    assert (band.low, band.high) == ([-1], [1])


@pytest.mark.parametrize(("ratios", "step"), [((3.0, 4.0), None), ((0.7, 3.5), "D2"), ((1.0, 50.0), 1)])
def test_a_ratio_that_spans_little_is_not_ticked_at_powers_of_ten_alone(
    ratios: tuple[float, float], step: int | str | None
) -> None:
    view = bottleneck_of(MIB, seeds=[0])
    play(view, next(iter(view.trials)), [gradients(0.0, 1.0, ratio) for ratio in ratios])
    assert figure(Asked(view))["layout"]["yaxis2"].get("dtick") == step


def test_what_has_no_angle_or_no_length_leaves_a_gap() -> None:
    view = bottleneck_of(MIB, seeds=[0])
    play(view, next(iter(view.trials)), [gradients(None, 1.0, 0.0), gradients(0.5, 1.0, 2.0), gradients(0.25, None)])
    angle, ratio = gradients_data(view).paths.arms[0].bands.values()
    assert (angle.epochs, angle.middle, ratio.epochs) == ([2, 3], [0.5, 0.25], [2])
    assert ratio.middle == [pytest.approx(2, rel=1e-3)]


def test_a_study_that_watches_nothing_has_no_such_figure_and_one_that_has_not_begun_an_empty_one() -> None:
    assert "gradients" not in figures_of(bottleneck_of(MANUAL))
    assert {"gradients"} <= {*figures_of(bottleneck_of(MIB))} & {*figures_of(bottleneck_of(MANUAL, evaluation=WATCH))}
    drawn = FIGURES["gradients"].with_words(Asked(bottleneck_of(MIB)))
    assert drawn.empty and drawn.finding == ""


def test_only_arms_that_are_watched_are_drawn() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    for trial in view.trials:
        play(view, trial, [gradients(0.1)] if view.trials[trial].planned.arm == "MIB" else [{"accuracy": 0.5}])
    assert {trace["name"] for trace in figure(Asked(view))["data"]} == {"MIB"}


def test_of_many_terms_the_mean_comes_first_and_a_reader_may_choose() -> None:
    few, many = ("rotation", "exemplar"), ("rotation", "exemplar", "coarse-class", "random-labels")
    three, five = (study_of(tasks(*names), data={"name": "digits"}, evaluation=WATCH) for names in (few, many))
    plots = gradients_data(three).paths.metrics
    assert (plots[0], len(plots), controls(three)) == ("cosine_mean", 6, [])
    (control,) = controls(five)
    assert (control.param, control.default) == ("y", "both")
    both = gradients_data(five)
    assert len(both.paths.metrics) == 6 and len(both.ratios) == 3 and both.paths.left_out == 3
    assert "first 6 of 9 plots" in figure(Asked(five))["layout"]["meta"]["subtitle"]
    assert gradients_data(five, "cosines").ratios == [] and len(gradients_data(five, "cosines").paths.metrics) == 5
    assert len(gradients_data(five, "lengths").ratios) == 4
    with pytest.raises(InvalidInput, match="y must be one of both, cosines, lengths, got 'angles'"):
        figure(Asked(five, y="angles"))


def test_studies_laid_over_each_other_are_drawn_together_and_spoken_of_only_if_alike() -> None:
    one, two = bottleneck_of(MIB, seeds=[0]), bottleneck_of(MIB, seeds=[0], data={"name": "digits", "test_images": 50})
    two.id = "s2"
    for view in (one, two):
        play(view, next(iter(view.trials)), [gradients(0.1), gradients(0.3)])
    drawn = figure(Asked(Overlay([one, two])))
    assert len({trace["name"] for trace in drawn["data"]}) == 2
    assert "finding" not in drawn["layout"]["meta"], "means over different data would say nothing"
