"""Figures of trials with many points: each point is drawn, joined along the curve, and says where it lies."""

from __future__ import annotations

from typing import Any

import pytest

from service.figures import FIGURES
from service.figures.accuracy_by_method import accuracy_data
from service.figures.beta_sensitivity import sensitivity_data
from service.figures.drawing.configurations import best_of
from service.figures.drawing.fronts import front_data, thinned
from service.figures.drawing.information_paths import plane_data
from service.figures.drawing.shades import shading_of
from service.figures.drawing.varied_parameters import numeric_keys
from service.figures.figure import Asked
from service.figures.generalization_gap import gap_data
from service.figures.hypervolume_cost import cost_data
from service.figures.importance import importance_data
from service.figures.learning_curves import curves_data
from service.figures.parallel_coordinates import coordinates_data
from service.figures.robustness import robustness_data
from service.views.fold import StudyView
from tests.service.studies import ALL_BETAS, MANUAL, bottleneck_of, curve, play, play_curves

BETAS = [1e-4, 1e-2, 1.0]
PLACES = [(9.0, 3.0), (4.0, 2.0), (1.0, 1.0)]
ACCURACIES = [0.7, 0.9, 0.5]


def points_at(shift: float = 0.0) -> Any:
    points = curve(*((beta, x, y + shift) for beta, (x, y) in zip(BETAS, PLACES, strict=True)))
    for point, value in zip(points, ACCURACIES, strict=True):
        point["metrics"] |= {"accuracy": value + shift, "generalization_gap": 1 - value, "robust_pgd": value / 2}
        point["metrics"] |= {"validation_accuracy": value}
    return points


@pytest.fixture
def view() -> StudyView:
    """A grid of three βs and one training for all of them, two seeds; the grid is worse."""
    view = bottleneck_of(MANUAL, ALL_BETAS, evaluation={"attacks": [{"name": "pgd"}]})
    *grid, one, two = view.trials
    for i, trial in enumerate(grid):
        x, y = PLACES[i // 2]
        last = {"i_xz_bits": x, "i_zy_bits": y - 0.5, "accuracy": 0.4, "seconds": 10.0}
        play(view, trial, [last])
    play_curves(view, one, points_at(), seconds=16.0)
    play_curves(view, two, points_at(0.1), seconds=18.0)
    return view


def traces(view: StudyView, name: str, arm: str = "all β") -> list[Any]:
    return [trace for trace in FIGURES[name].build(Asked(view))["data"] if trace.get("name") == arm]


def test_the_front_joins_the_points_of_a_trial_and_names_their_beta(view: StudyView) -> None:
    line, *marks = traces(view, "pareto-front")
    assert (line["mode"], line["hoverinfo"], line["line"]["width"]) == ("lines", "skip", 1)
    assert line["x"] == [9.0, 4.0, 1.0, None, 9.0, 4.0, 1.0, None]
    words = {words.split("<br>")[0] for trace in marks for words in trace.get("text", [])}
    assert words == {f"β {beta} · seed {seed}" for beta in ("0.0001", "0.01", "1") for seed in (0, 1)}
    opened = [trial for trace in marks for trial in trace.get("customdata", [])]
    assert sorted(opened) == sorted(list(view.trials)[-2:] * 3)


def test_points_of_one_trial_are_on_the_front_or_dominated_each_by_itself(view: StudyView) -> None:
    one, two = list(view.trials)[-2:]
    (arm,) = [arm for arm in front_data(view, None, None).arms if arm.name == "all β"]
    assert {point.trial for point in arm.front} == {two} and {point.trial for point in arm.dominated} == {one}
    assert len(arm.front) == len(arm.dominated) == 3 and [len(own) for own in arm.curves] == [3, 3]
    assert len(thinned(arm.dominated, 2)) == 2, "points are counted, not trials"


def test_the_subtitle_counts_points_where_trials_have_many(view: StudyView) -> None:
    words = FIGURES["pareto-front"].build(Asked(view))["layout"]["meta"]["subtitle"]
    in_space = FIGURES["pareto-front"].build(Asked(view, z="accuracy"))["layout"]["meta"]["subtitle"]
    assert " · 12 points of 8 trials · " in in_space and "thin lines" not in in_space, "in space there are none"
    assert " · 12 points of 8 trials · thin lines: each trial’s curve · " in words


def test_lightness_goes_along_the_curve(view: StudyView) -> None:
    shading = shading_of(view, "all β")
    assert shading is not None and shading.label == "β" and list(shading.shares.values()) == [0.0, 0.5, 1.0] * 2


def test_the_information_plane_draws_the_last_curve_and_no_mean_of_its_points(view: StudyView) -> None:
    data = plane_data(view)
    (arm,) = [arm for arm in data.arms if arm.name == "all β"]
    assert [(path.x, path.y) for path in arm.paths] == [
        ([9.0, 4.0, 1.0], [3.0, 2.0, 1.0]),
        ([9.0, 4.0, 1.0], [3.1, 2.1, 1.1]),
    ]
    assert [end.label for end in arm.ends[:3]] == ["β 0.0001 · seed 0", "β 0.01 · seed 0", "β 1 · seed 0"]
    assert arm.mean is None and (data.trials, data.curves) == (8, 2)


def test_a_failed_trial_keeps_its_curve_in_the_plane_and_has_no_marks() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=(0,))
    (trial,) = view.trials
    play_curves(view, trial, points_at(), end="trial_failed")
    (arm,) = plane_data(view).arms
    assert (len(arm.paths), arm.ends) == (1, [])


def test_sensitivity_draws_the_curve_over_beta_as_means_over_seeds(view: StudyView) -> None:
    data = sensitivity_data(view, None, "i_zy_bits")
    (arm,) = [arm for arm in data.arms if arm.name == "all β"]
    assert [(level.value, level.metric.seeds) for level in arm.levels] == [(1e-4, 2), (1e-2, 2), (1.0, 2)]
    assert [level.metric.mean for level in arm.levels] == pytest.approx([3.05, 2.05, 1.05])
    assert not arm.own_beta and arm.best is None and len(arm.dots) == 6


def test_a_study_of_curves_alone_has_beta_to_be_drawn_against() -> None:
    assert numeric_keys(bottleneck_of(ALL_BETAS).study) == ["weighting.beta"]
    assert numeric_keys(bottleneck_of({**ALL_BETAS, "weighting": {"name": "conditional", "points": 1}}).study) == []


def test_an_arm_of_curves_is_one_place_over_cost_paid_once(view: StudyView) -> None:
    (arm,) = [arm for arm in cost_data(view, None).arms if arm.name == "all β"]
    assert arm.place is not None and arm.place[0].mean == 17.0 and arm.cost == [17.0]
    assert FIGURES["hypervolume-cost"].build(Asked(view, x="trials"))["data"]


def test_the_best_of_an_arm_of_curves_is_a_place_that_validation_chooses(view: StudyView) -> None:
    best = best_of(view, "all β", "accuracy")
    assert (best.where, best.of, best.label) == ({"beta": 0.01}, 3, "β 0.01")
    assert list(best.values.values()) == [0.9, 1.0]
    assert [arm.mean.mean for arm in accuracy_data(view, None).arms] == [0.4, pytest.approx(0.95)]


def test_robustness_is_read_where_the_best_accuracy_is(view: StudyView) -> None:
    arm = robustness_data(view, None).arms[1]
    assert {metric: cell.value for metric, cell in arm.cells.items()} == {
        "accuracy": pytest.approx(0.95),
        "robust_pgd": pytest.approx(0.45),
    }


def test_the_gap_is_drawn_at_every_place(view: StudyView) -> None:
    arm = gap_data(view).arms[1]
    assert [(each.label, each.rate.mean) for each in arm.configurations] == [
        ("β 0.0001", 9.0),
        ("β 0.01", 4.0),
        ("β 1", 1.0),
    ]
    assert [each.gap.mean for each in arm.configurations] == pytest.approx([0.3, 0.1, 0.5])


def test_a_metric_of_the_training_alone_is_read_from_its_reports(view: StudyView) -> None:
    assert best_of(view, "all β", "loss_pred").of == 0
    trial = list(view.trials)[-1]
    view.trials[trial].metrics["loss_pred"] = 1.5
    best = best_of(view, "all β", "loss_pred", "minimize")
    assert (best.where, best.of, best.values) == (None, 1, {trial: 1.5})


def test_learning_curves_are_those_of_the_middle(view: StudyView) -> None:
    arm = curves_data(view, None, "accuracy").test.arms[1]
    assert arm.bands["accuracy"].epochs == [1] and arm.trials == 2


def test_parallel_coordinates_have_a_line_for_each_point(view: StudyView) -> None:
    data = coordinates_data(view)
    assert len(data.trials) == 6 + 6 and data.trials[-3:] == [list(view.trials)[-1]] * 3
    drawn = FIGURES["parallel-coordinates"].build(Asked(view))["layout"]["meta"]
    assert drawn["subtitle"].startswith("a line per point, coloured by arm · 8 trials · ")
    assert not data.own_betas


def test_importance_says_that_the_middle_stands_for_the_curve(view: StudyView) -> None:
    assert importance_data(view, "accuracy", None).curves


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_of_curves_alone_and_before_the_first_of_them(name: str) -> None:
    alone = bottleneck_of(ALL_BETAS, seeds=(0,))
    (trial,) = alone.trials
    figure = FIGURES[name]
    assert figure.build(Asked(alone))["layout"]
    play(alone, trial, [{"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5}], "")
    assert figure.build(Asked(alone))["layout"]
    play_curves(alone, trial, points_at(), seconds=1.0)
    assert figure.build(Asked(alone))["layout"]


@pytest.mark.parametrize("name", ["learning-curves", "convergence", "importance"])
def test_figures_that_show_the_middle_of_a_curve_say_so(view: StudyView, name: str) -> None:
    def words(own: StudyView) -> str:
        return str(FIGURES[name].build(Asked(own))["layout"]["meta"]["subtitle"])

    assert words(view).endswith("trials with many points: at the middle of their range")
    plain = bottleneck_of(MANUAL, seeds=(0, 1, 2))
    for i, trial in enumerate(plain.trials):
        play(plain, trial, [{"accuracy": 0.5 + 0.01 * i}])
    assert "middle" not in words(plain)


def test_figures_say_what_their_axes_measure(view: StudyView) -> None:
    def axes(name: str, **asked: Any) -> Any:
        return FIGURES[name].build(Asked(view, **asked))["layout"]["meta"].get("axes")

    assert [axis["metric"] for axis in axes("pareto-front", x="accuracy")] == ["accuracy", "i_zy_bits"]
    assert axes("pareto-front", z="accuracy") is None, "no mark is moved in space"
    assert axes("information-plane") == [
        {"metric": "i_xz_bits", "least": 0.01},
        {"metric": "i_zy_bits", "least": None},
    ]
