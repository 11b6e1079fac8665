"""Lights of trials: from what they reported of their estimators, and the worst over a study."""

from __future__ import annotations

from service.analysis import metric_intervals
from service.analysis.compared import compared
from service.analysis.lights import lights_of, worst_light, worst_lights
from service.contract.metrics import I_XZ
from service.exports.latex import latex_table
from service.figures import FIGURES
from service.figures.figure import Asked
from service.views.fold import StudyView
from tests.golden.logs import calibrated
from tests.service.studies import MANUAL, Reported, bottleneck_of, play

MEASURED: Reported = {"i_xz_bits": 8.0, "i_zy_bits": 2.0, "test_examples": 360, "accuracy": 0.9}
NEAR, ROUGH, FAR = (calibrated(I_XZ, 8.0, bias, abs(bias)) for bias in (0.3, 1.0, -3.0))
INFONCE = {"i_xz_infonce_bits": 7.0, "estimator_samples": 300, **calibrated("i_xz_infonce_bits", 8.0, -1.2, 1.3)}


def grid(*last: Reported, ends: tuple[str, ...] = ("trial_finished",) * 3) -> StudyView:
    view = bottleneck_of(MANUAL, seeds=[0])
    for trial, more, end in zip(view.trials, last, ends, strict=True):
        play(view, trial, [MEASURED, {**MEASURED, **more}], end)
    return view


def test_a_trial_has_a_light_for_each_estimate_with_its_own_examples() -> None:
    view = grid({**NEAR, **INFONCE}, FAR, {})
    first, second, third = (lights_of(trial) for trial in view.trials.values())
    assert {name: lit.light.name for name, lit in first.items()} == {"i_xz_bits": "near", "i_xz_infonce_bits": "rough"}
    assert "(N = 360, 16 dimensions, 8 bits)" in first["i_xz_bits"].words and "too high" in first["i_xz_bits"].words
    assert "(N = 300, 16 dimensions, 8 bits)" in first["i_xz_infonce_bits"].words
    assert second["i_xz_bits"].light.name == "far" and "3 bits too low" in second["i_xz_bits"].words
    assert third == {}


def test_what_is_null_has_no_light() -> None:
    (first, *_) = grid({**NEAR, "i_xz_bits_bias": None}, {}, {}).trials.values()
    assert lights_of(first) == {}


def test_a_bias_within_0_and_1_is_no_share_of_examples() -> None:
    assert set(metric_intervals({**MEASURED, **NEAR})) == {"accuracy"}


def test_the_worst_light_of_a_study_leaves_failed_trials_out() -> None:
    assert worst_light(grid(NEAR, ROUGH, {}), I_XZ) == worst_light(grid(ROUGH, NEAR, NEAR), I_XZ)
    finished, failed = "trial_finished", "trial_failed"
    light = worst_light(grid(NEAR, ROUGH, FAR, ends=(finished, finished, failed)), I_XZ)
    assert light is not None and light.name == "rough"
    assert worst_light(grid({}, {}, {}), I_XZ) is None and worst_lights(grid({}, {}, {})) == {}


def test_the_words_of_a_study_are_those_of_its_worst_light() -> None:
    lights = worst_lights(grid(NEAR, ROUGH, NEAR))
    assert {name: lit.words for name, lit in lights.items()} == {
        I_XZ: "I(X;Z) ◐ at worst, within 20 % on Gaussian tasks of this shape"
    }


def test_where_estimates_are_axes_or_columns_the_worst_light_is_told() -> None:
    """Above the front, in the plane, and under a table for a paper."""
    view = grid(NEAR, ROUGH, NEAR)
    for figure in ("pareto-front", "information-plane"):
        assert "(trust light ◐ at worst)" in FIGURES[figure].drawn(Asked(view))["layout"]["meta"]["subtitle"]
    estimates = r"Estimates of I(X;Z) are at worst within 20 \% on Gaussian tasks of their shape."
    assert estimates in latex_table(compared(view), "s")
    assert "Gaussian tasks" not in latex_table(compared(grid({}, {}, {})), "s")
