"""Whom a figure counts and draws: trials that a driver left behind, arms in their own colours, the best by its goal."""

from __future__ import annotations

import pytest

from service.analysis import Axis, Interval, Point, points_of
from service.analysis.candidates import candidates
from service.analysis.variance import Effect, Explained
from service.contract.wording.palette import arm_style
from service.figures import FIGURES
from service.figures.accuracy_by_method import accuracy_data
from service.figures.beta_sensitivity import sensitivity_data
from service.figures.drawing.attained import sets_of
from service.figures.drawing.configurations import Best
from service.figures.drawing.fronts import ArmFront, FrontData
from service.figures.drawing.shades import Shading
from service.figures.figure import Asked
from service.figures.generalization_gap import gap_data
from service.figures.hypervolume_cost import ArmCost, CostData, Reached, draw_cost
from service.figures.importance import ImportanceData, draw_importance
from service.figures.pareto_front import draw_front
from service.figures.robustness import ArmRow, Cell, RobustnessData, draw_robustness, robustness_data
from tests.service.studies import MANUAL, MIB, accuracy, bits, bottleneck_of, event, play, study_of, tell


def test_trials_that_a_dead_driver_left_behind_are_still_training() -> None:
    view = study_of(seeds=[0, 1, 2])
    first, second, _ = view.trials
    tell(view, event("study_started", job="one"))
    play(view, first, accuracy(0.5))
    play(view, second, accuracy(0.6), end="")
    tell(view, event("study_started", job="two"))
    data = accuracy_data(view, None)
    assert (data.arms[0].values, data.training) == ({first: 0.5, second: 0.6}, 1)
    subtitle = FIGURES["accuracy-by-method"].build(Asked(view))["layout"]["meta"]["subtitle"]
    assert subtitle.endswith("1 still training")


def test_the_band_of_an_attainment_has_its_arms_own_colour() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=range(3))
    for trial_id, trial in view.trials.items():
        play(view, trial_id, bits((2.0 + trial.planned.seed, 1.0)))
    drawn = FIGURES["attainment"].build(Asked(view))["data"]
    bands = [(trace["name"], trace["fillcolor"]) for trace in drawn if trace.get("fill")]
    assert bands == [("manual β", arm_style(0)[0]), ("MIB", arm_style(1)[0])]


def test_a_band_of_a_metric_to_minimise_is_of_the_configuration_with_the_least() -> None:
    mib = {**MIB, "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    view = bottleneck_of(MANUAL, mib, seeds=[0])
    for trial, rate in zip(view.trials, (1.0, 2.0, 3.0, 6.0, 5.0), strict=True):
        play(view, trial, [{"i_xz_bits": rate, "accuracy": 0.1 * rate}])
    least, most = (sensitivity_data(view, "weighting.beta", y).arms[1].best for y in ("i_xz_bits", "accuracy"))
    assert least is not None and (least.mean.mean, least.label) == (5.0, "μ 0.2")
    assert most is not None and most.mean.mean == pytest.approx(0.6) and most.label == "μ 0.1"


def test_without_a_rate_the_gap_is_of_the_most_accurate_configuration_however_small_it_is() -> None:
    view = bottleneck_of(MANUAL, seeds=[0])
    for trial, (right, gap) in zip(view.trials, ((0.5, 0.3), (0.9, 0.1), (0.7, 0.2)), strict=True):
        play(view, trial, [{"accuracy": right, "generalization_gap": gap}])
    (arm,) = gap_data(view).arms
    assert arm.fallback is not None and (arm.fallback.gap.mean, arm.fallback.best.label) == (0.1, "β 0.1")


def test_bars_of_the_gap_go_below_0_and_those_of_the_rate_do_not() -> None:
    view = bottleneck_of(MIB, seeds=range(3))
    for trial, (rate, gap) in zip(view.trials, ((1.0, 0.0), (1.0, 0.0), (4.0, 0.3)), strict=True):
        play(view, trial, [{"accuracy": 0.5, "i_xz_bits": rate, "generalization_gap": gap}])
    _, means = FIGURES["generalization-gap"].build(Asked(view))["data"]
    assert (means["x"], means["y"]) == ([2.0], [0.1])
    half = 4.302652730 / 3**0.5  # Student's t of three seeds; of 1, 1 and 4 the standard deviation is √3
    x, y = means["error_x"], means["error_y"]
    assert (x["array"], x["arrayminus"]) == ([pytest.approx(half * 3**0.5, rel=1e-3)], [2.0])
    assert y["array"] == y["arrayminus"] == [pytest.approx(0.1 * half * 3**0.5, rel=1e-3)]


@pytest.mark.parametrize(
    ("costs", "end", "side"),
    [
        ((1.0, 100.0), 20.0, "left"),
        ((1.0, 100.0), 5.0, "right"),
        ((10.0, 20.0), 16.0, "left"),
        ((10.0, 20.0), 14.0, "right"),
    ],
)
def test_words_at_the_end_of_a_dotted_line_stand_where_the_axis_has_room(
    costs: tuple[float, float], end: float, side: str
) -> None:
    grid = ArmCost("grid", list(costs), [1.0, 2.0], [None, None], [None, None], None, [])
    reached = Reached("MIB", "grid", 1.5, costs[0], Interval(end, None, 1), 1, 1)
    drawn = draw_cost(CostData("seconds", [grid], [reached], [], [32.0, 0.0], 1, False, None), "r")
    assert drawn["data"][0]["textposition"] == f"bottom {side}", "the middle of a log axis is the geometric one"


def test_the_area_of_a_cost_curve_goes_along_its_low_ends_and_back_along_its_high_ones() -> None:
    grid = ArmCost("grid", [1.0, 2.0], [1.5, 3.0], [1.0, 2.0], [2.0, 4.0], None, [])
    area, _ = draw_cost(CostData("seconds", [grid], [], [], [32.0, 0.0], 3, False, None), "r")["data"]
    assert (area["x"], area["y"]) == ([1, 2, 2, 2, 2, 2, 2, 1], [1, 1, 2, 2, 4, 4, 2, 2])


def test_what_explains_most_is_said_wherever_it_stands() -> None:
    shares = {"a": (0.2, 0.1, 0.3), "b": (0.5, 0.4, 0.6), "c": (0.1, 0.0, 0.2)}
    effects = [Effect(name, *share, 3, False) for name, share in shares.items()]
    drawn = draw_importance(ImportanceData("accuracy", None, "*", 9, Explained(effects, 0.2, 9), False), "r")
    said = "50 % of the variance of accuracy is explained by b (40 % to 60 %), 20 % by no single parameter."
    assert drawn["layout"]["meta"]["summary"] == said


def test_the_mean_of_an_information_plane_has_bars_within_what_bits_can_be() -> None:
    view = bottleneck_of(MIB, seeds=range(3))
    for trial, place in zip(view.trials, ((1.0, 3.3), (1.0, 3.3), (4.0, 0.3)), strict=True):
        play(view, trial, bits(place))
    drawn = FIGURES["information-plane"].build(Asked(view))["data"]
    mean = next(trace for trace in drawn if trace.get("error_x"))
    assert (mean["x"], mean["error_x"]["arrayminus"]) == ([2.0], [2.0]), "a code carries no less than nothing"
    highest = mean["y"][0] + mean["error_y"]["array"][0]
    assert highest == pytest.approx(3.3219, rel=1e-3), "and says no more of the label than there is: ten digits"
    assert mean["error_y"]["arrayminus"][0] > mean["y"][0]


def test_the_training_split_is_dashed_in_the_colour_of_its_arm() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0])
    *_, last = view.trials
    play(view, last, [{"accuracy": 0.5, "train_accuracy": 0.7}])
    drawn = FIGURES["learning-curves"].build(Asked(view))["data"]
    dashed = [t for t in drawn if t.get("line", {}).get("dash") == "dash"]
    assert [(t["name"], t["line"]["color"], t["y"]) for t in dashed] == [("MIB", arm_style(1)[0], [0.7])]


AXES = (Axis("i_xz_bits", "minimize", 32.0), Axis("i_zy_bits", "maximize", 0.0))


def test_a_trial_that_was_chosen_but_is_dominated_where_it_is_shown_stands_beside_the_line() -> None:
    front = [Point("t1", "a", 0, (1.0, 1.0)), Point("t2", "a", 0, (3.0, 0.5)), Point("t3", "a", 0, (2.0, 2.0))]
    shading = Shading("β", {front[0].key: 0.5, front[1].key: 1.0})
    arm = ArmFront("a", front, [Point("t4", "a", 0, (9.0, 0.1))], 0, [], None, shading)
    data = FrontData(AXES, [arm], {f"t{i}": f"seed {i}" for i in range(1, 5)}, 1, [], None)
    dominated, beside, line, _ = draw_front(data, "r")["data"]
    assert [trace["customdata"] for trace in (dominated, beside, line)] == [["t4"], ["t2"], ["t1", "t3"]]
    assert (beside["mode"], line["mode"]) == ("markers", "lines+markers")
    assert beside["marker"]["opacity"] == line["marker"]["opacity"] == 1.0 > dominated["marker"]["opacity"]
    assert dominated["marker"]["color"] == arm_style(0)[0], "only what may be on the front is shaded"
    assert (beside["marker"]["color"], line["marker"]["color"]) == ([1.0], [0.5, 1.0])


def test_a_bar_of_robustness_is_as_long_to_each_side_as_its_interval() -> None:
    best = Best("a", "", 1, ["t1"], {"t1": 0.9}, Interval(0.9, None, 1))
    arm = ArmRow(best, {"accuracy": Cell(0.9, 0.7, 0.95, {"t1": 0.9})}, None, {})
    means, *_ = draw_robustness(RobustnessData(["accuracy"], [], "clean", [arm], {"t1": 0}, None, None), "r")["data"]
    assert means["error_x"]["array"] == [pytest.approx(0.05)] and means["error_x"]["arrayminus"] == [pytest.approx(0.2)]


def test_the_most_robust_configuration_is_chosen_on_the_split_that_the_study_chooses_by() -> None:
    held = {"data": {"name": "digits", "validation_fraction": 0.2}, "evaluation": {"attacks": [{"name": "pgd"}]}}
    view = bottleneck_of(MANUAL, seeds=[0], **held)
    for trial, (test, validation) in zip(view.trials, ((0.5, 0.2), (0.4, 0.6), (0.1, 0.1)), strict=True):
        play(view, trial, [{"accuracy": 0.9, "robust_pgd": test, "validation_robust_pgd": validation}])
    (arm,) = robustness_data(view, "robust").arms
    assert (arm.best.label, arm.cells["robust_pgd"].value) == ("β 0.1", 0.4)


def test_a_seed_that_one_arm_lost_is_not_lost_to_another() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0, 1])
    for trial_id, trial in view.trials.items():
        lost = trial.planned.arm == "manual β" and trial.planned.seed == 1
        if lost or trial.planned.seed == 0:
            play(view, trial_id, bits((2.0, 1.0)), "trial_failed" if lost else "trial_finished")
    points = points_of(candidates(view), AXES)
    manual, mib = (sets_of(view, points, arm) for arm in ("manual β", "MIB"))
    assert (len(manual[0]), manual[1]) == (3, []) and list(mib) == [0], "MIB's second seed has not ended"
