"""Where figures change: when an axis is logarithmic, when trials are too many, what may be chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.analysis import Axis
from service.analysis.attainment import Rectangle
from service.contract.metrics import described
from service.contract.wire.errors import InvalidInput
from service.figures import FIGURES, beta_sensitivity, generalization_gap, robustness
from service.figures.attainment_difference import difference_data, draw_difference
from service.figures.drawing import attained
from service.figures.drawing.choices import chosen_arms
from service.figures.drawing.configurations import accuracy_control, chosen_accuracy
from service.figures.drawing.information_paths import few, step_of
from service.figures.drawing.varied_parameters import numeric_keys
from service.figures.figure import Asked
from service.figures.parallel_coordinates import coordinates_data, draw_coordinates
from service.figures.pareto_front import controls as front_controls
from service.figures.pareto_front import figure as front_figure
from service.store.artifacts import Artifacts
from service.views.fold import StudyView
from service.views.maps import Maps
from tests.service.studies import MANUAL, MIB, accuracy, bottleneck_of, event, play, study_of, tell

SEARCH: dict[str, Any] = {
    "name": "tuned",
    "weighting": {"name": "fixed", "beta": {"choice": [0.1, 1.0]}},
    "search": {"name": "optuna", "trials": 3},
}


def grid(*betas: float, name: str = "grid") -> dict[str, Any]:
    return {"name": name, "weighting": {"name": "fixed", "beta": {"grid": list(betas)}}}


def reported(view: StudyView, *values: float) -> StudyView:
    for trial, value in zip(view.trials, values, strict=True):
        play(view, trial, accuracy(value))
    return view


# What is thinned


@pytest.mark.parametrize(
    ("count", "places"), [(0, []), (4, [0, 1, 2, 3]), (5, [0, 2, 4]), (8, [0, 2, 4, 6, 7]), (9, [0, 4, 8])]
)
def test_a_path_of_more_than_four_places_has_every_second_then_every_fourth(count: int, places: list[int]) -> None:
    assert few(count, 4) == places


def test_of_more_than_300_trials_every_arm_draws_its_share_of_150_paths() -> None:
    assert (step_of(300, 2, 300), step_of(150, 2, 301), step_of(151, 2, 301)) == (1, 2, 3)
    assert step_of(10, 200, 2000) == 10, "as many arms as paths: one each"


AXES = (Axis("i_xz_bits", "minimize", 32.0), Axis("i_zy_bits", "maximize", 0.0))


def test_corners_of_a_long_front_are_marked_evenly() -> None:
    def marked(count: int) -> int:
        arm = attained.ArmAttainment("a", 1, [], [(float(i), 0.0) for i in range(count)], [], [])
        return len(attained.arm_traces(arm, 0, AXES, "")[1]["x"])

    assert [marked(count) for count in (0, 24, 25, 48, 49)] == [0, 24, 13, 24, 17]


# Sensitivity


def scale(*betas: float) -> tuple[str | None, Any]:
    view = reported(bottleneck_of(grid(*betas), seeds=[0]), *[0.5] * len(betas))
    x = beta_sensitivity.figure(Asked(view))["layout"]["xaxis"]
    return x.get("type"), x.get("dtick")


def test_a_parameter_is_on_a_log_axis_beyond_a_factor_of_twenty() -> None:
    assert scale(0.1, 2.0) == (None, None)
    assert scale(0.1, 2.5) == ("log", "D2"), "few decades have ticks between them"
    assert scale(0.01, 3.0) == ("log", 1)


def test_an_arm_across_spans_the_others_or_the_surroundings_of_a_single_value() -> None:
    def span(*betas: float) -> list[float]:
        view = reported(bottleneck_of(grid(*betas), MIB, seeds=[0]), *[0.5] * (len(betas) + 1))
        drawn = beta_sensitivity.figure(Asked(view, x="weighting.beta"))["data"]
        return next(list(t["x"]) for t in drawn if t["name"] == "MIB" and t["mode"] == "lines")

    assert span(0.2, 0.4) == [0.2, 0.4]
    view = bottleneck_of(grid(0.2, 0.4), MIB, seeds=[0])
    first, _, mib = view.trials
    play(view, first, accuracy(0.5))
    play(view, mib, accuracy(0.6))
    across = next(t for t in beta_sensitivity.figure(Asked(view))["data"] if t["name"] == "MIB")
    assert across["x"] == pytest.approx([0.1, 0.3]), "half below and half above"


def test_too_many_trials_to_draw_leave_their_means_and_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    view = bottleneck_of(grid(0.1, 0.2))
    for trial in view.trials:
        play(view, trial, [{"accuracy": 0.5, "i_xz_bits": 4.0, "generalization_gap": 0.1}])
    for module, words in (
        (beta_sensitivity, "single trials not drawn"),
        (generalization_gap, "single trials not drawn"),
    ):
        monkeypatch.setattr(module, "MOST_DOTS", 4)
        single, means = module.figure(Asked(view))["data"]
        assert (len(single["x"]), len(means["x"])) == (4, 2)
        monkeypatch.setattr(module, "MOST_DOTS", 3)
        drawn = module.figure(Asked(view))
        assert [len(trace["x"]) for trace in drawn["data"]] == [0, 2]
        assert words in drawn["layout"]["meta"]["subtitle"]


def test_the_best_of_a_search_is_said_to_be_a_single_trial() -> None:
    view = bottleneck_of(SEARCH, seeds=[0])
    for trial, beta, value in zip(view.trials, (0.1, 1.0, 0.1), (0.5, 0.75, 0.6), strict=True):
        tell(view, event("trial_started", trial=trial, config={"weighting.beta": beta}))
        tell(view, event("report", trial=trial, metrics={"epoch": 1, "accuracy": value}))
    meta = beta_sensitivity.figure(Asked(view))["layout"]["meta"]
    assert meta["summary"] == "accuracy at best: tuned 0.750 at β 1, best of 3 single trials."
    assert meta["subtitle"] == "search: each trial · 3 still training"


def test_a_choice_of_numbers_is_a_number_that_varies_and_a_choice_of_words_is_not() -> None:
    assert numeric_keys(bottleneck_of(SEARCH).study) == ["weighting.beta"]
    words = {**SEARCH, "problem": {"name": "bottleneck", "rate": {"choice": ["vib", "nib"]}}}
    assert numeric_keys(bottleneck_of(words).study) == ["weighting.beta"]


def test_a_collapsed_code_makes_no_log_axis_of_the_gap() -> None:
    def kind(*rates: float) -> str | None:
        view = bottleneck_of(grid(*(0.1 * (i + 1) for i in range(len(rates)))), seeds=[0])
        for trial, rate in zip(view.trials, rates, strict=True):
            play(view, trial, [{"i_xz_bits": rate, "generalization_gap": 0.1}])
        found = generalization_gap.figure(Asked(view))["layout"]["xaxis"].get("type")
        return None if found is None else str(found)

    assert (kind(0.04, 5.0), kind(0.05, 5.0), kind(1.0, 5.0)) == (None, "log", None)


# The difference of two arms


def test_of_many_levels_the_legend_has_the_strongest_and_the_faintest_of_each_arm() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=list(range(4)))
    data = difference_data(view, None, None, ())._replace(
        seeds=[0, 1, 2, 3],
        rectangles=[Rectangle((float(i), 2.0), (i + 1.0, 1.0), s) for i, s in enumerate((1, 2, 3, 4, -1, -3, -2))],
    )
    areas = [(t["name"], t["showlegend"]) for t in draw_difference(data, "r")["data"] if t.get("fill")]
    assert areas == [
        ("manual β +4 of 4", True),
        ("manual β +3 of 4", False),
        ("manual β +2 of 4", False),
        ("manual β +1 of 4", True),
        ("MIB +3 of 4", True),
        ("MIB +2 of 4", False),
        ("MIB +1 of 4", True),
    ]
    three = data._replace(seeds=[0, 1, 2])
    filled = [trace for trace in draw_difference(three, "r")["data"] if trace.get("fill")]
    assert filled and all(trace["showlegend"] for trace in filled)


def test_an_arm_asked_for_takes_the_place_of_the_first_and_never_meets_itself() -> None:
    view = bottleneck_of(MANUAL, MIB, {**MIB, "name": "other"})
    default = ("manual β", "MIB")
    assert chosen_arms(view, (), default) == default
    assert chosen_arms(view, ("other",), default) == ("other", "MIB")
    assert chosen_arms(view, ("MIB",), default) == ("MIB", "manual β")
    assert chosen_arms(view, ("other", "manual β"), default) == ("other", "manual β")
    with pytest.raises(InvalidInput, match="arm must be one of manual β, MIB, other, got 'nobody'") as caught:
        chosen_arms(view, ("MIB", "nobody"), default)
    assert [detail.path for detail in caught.value.details] == ["arm"]


# Accuracy


def test_an_accuracy_of_tasks_is_the_main_ones_unless_another_is_asked_for() -> None:
    view = study_of()
    (of,) = accuracy_control(view)
    assert (of.param, of.default) == ("y", "accuracy")
    assert [name for name, _ in of.options] == ["accuracy_left", "accuracy_right", "accuracy"]
    assert chosen_accuracy(view, "accuracy_right") == "accuracy_right"
    assert accuracy_control(bottleneck_of(MIB)) == [], "one accuracy leaves nothing to choose"
    with pytest.raises(InvalidInput, match="y must be an accuracy, got 'loss_left'; known: accuracy_left, ") as caught:
        chosen_accuracy(view, "loss_left")
    assert [detail.path for detail in caught.value.details] == ["y"]


# Parallel coordinates


def test_an_axis_of_arms_takes_the_room_of_a_parameter() -> None:
    view = bottleneck_of(MANUAL, {**MANUAL, "name": "other"}, seeds=[0])
    for number, (trial_id, trial) in enumerate(view.trials.items()):
        play(view, trial_id, [{"i_xz_bits": 2.0, "i_zy_bits": 1.0, "accuracy": 0.5}])
        trial.planned = trial.planned._replace(config={f"weighting.weights.t{i}": number for i in range(9)})
    data = coordinates_data(view)
    assert (len(data.axes), data.more_axes, data.axes[0].label) == (12, 1, "arm")
    drawn = draw_coordinates(data, "r")
    assert drawn["data"][0]["labelangle"] == -25 and "1 more parameters vary" in drawn["layout"]["meta"]["subtitle"]
    flat = draw_coordinates(data._replace(axes=data.axes[:4]), "r")
    assert flat["data"][0]["labelangle"] == 0
    assert (drawn["data"][0]["line"]["cmin"], drawn["data"][0]["line"]["cmax"]) == (-0.5, 1.5)


# The front


def test_a_front_may_be_of_any_metric_and_begins_with_the_objectives() -> None:
    view = bottleneck_of(MIB)
    x, y, z = front_controls(view)
    assert [(c.param, c.default) for c in (x, y, z)] == [("x", "i_xz_bits"), ("y", "i_zy_bits"), ("z", "none")]
    offered = [name for name in view.metrics if described(name).calibrates is None]  # which are a mark of another one
    assert [name for name, _ in x.options] == offered and [name for name, _ in z.options] == ["none", *offered]
    assert len(offered) == len(view.metrics) - 3
    objectives = [
        {"metric": "i_xz_bits", "goal": "minimize"},
        {"metric": "i_zy_bits", "goal": "maximize"},
        {"metric": "accuracy", "goal": "maximize"},
    ]
    assert front_controls(bottleneck_of(MIB, objectives=objectives))[2].default == "accuracy"


def test_stems_of_a_front_in_space_go_down_to_the_lowest_trial() -> None:
    view = bottleneck_of(grid(0.1, 0.2, 0.3), seeds=[0])
    for trial, (rate, label, right) in zip(
        view.trials, ((1.0, 1.0, 0.5), (30.0, 2.0, 0.75), (31.0, 0.5, 0.25)), strict=True
    ):
        play(view, trial, [{"i_xz_bits": rate, "i_zy_bits": label, "accuracy": right}])
    drawn = front_figure(Asked(view, z="accuracy"))
    stems, others, front, legend = drawn["data"]
    assert (stems["x"], stems["z"]) == ([1.0, 1.0, None, 30.0, 30.0, None], [0.5, 0.25, None, 0.75, 0.25, None])
    assert (others["x"], others["y"], others["z"]) == ([31.0], [0.5], [0.25])
    assert (front["x"], front["y"], front["z"]) == ([1.0, 30.0], [1.0, 2.0], [0.5, 0.75])
    assert (legend["type"], legend["z"]) == ("scatter3d", [None])
    scene = drawn["layout"]["scene"]
    assert [scene[f"{name}axis"].get("type") for name in "xyz"] == ["log", None, None]
    assert [scene[f"{name}axis"]["title"]["text"] for name in "xyz"] == ["I(X;Z) [bits]", "I(Z;Y) [bits]", "accuracy"]


# Robustness


def test_rows_of_attacks_go_down_with_the_arms_side_by_side_and_ranks_below() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=[0], evaluation={"attacks": [{"name": "pgd"}, {"name": "fgsm"}]})
    for trial in view.trials:
        play(view, trial, [{"accuracy": 0.9, "robust_pgd": 0.25, "robust_fgsm": 0.5}])
    drawn = robustness.figure(Asked(view))
    y, ranks = drawn["layout"]["yaxis"], drawn["layout"]["xaxis2"]
    assert (y["ticktext"], y["range"]) == (["clean", "pgd", "fgsm"], [2.5, -0.5])
    manual, mib = (next(t for t in drawn["data"] if t["name"] == name) for name in ("manual β", "MIB"))
    assert manual["y"] == pytest.approx([-0.21, 0.79, 1.79]) and mib["y"] == pytest.approx([0.21, 1.21, 2.21])
    assert (manual["x"], ranks["range"], ranks["dtick"]) == ([0.9, 0.25, 0.5], [2.2, 0.8], 1)
    assert drawn["layout"]["meta"]["height"] == 200 + 3 * 24
    assert [shape["y0"] for shape in drawn["layout"]["shapes"]] == [0.5, 1.5]
    assert [(t["name"], t["x"]) for t in drawn["data"] if t.get("xaxis") == "x2" and t["x"]] == [
        ("manual β", [1.5]),
        ("MIB", [1.5]),
    ]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_a_study_that_has_nothing_for_it_says_so(name: str, tmp_path: Path) -> None:
    """Whoever asks for it by its name gets an answer, whether the study offers it or not."""
    drawn = FIGURES[name].with_words(Asked(bottleneck_of(MIB, seeds=[0]), maps=Maps(Artifacts(tmp_path))))
    assert drawn.summary.startswith(f"{FIGURES[name].title}. ")
    assert drawn.empty or not any("x" in trace for trace in drawn.plotly["data"])
