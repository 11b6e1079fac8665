"""Arms that did the same are called identical."""

from __future__ import annotations

from service.analysis.compared import compared
from service.analysis.fronts import Trial
from service.analysis.identical import identical_arms
from tests.service.studies import MIB, bottleneck_of, play

UNIFORM = {"name": "uniform", "weighting": {"name": "uniform"}}
ARML = {"name": "ARML", "weighting": {"name": "arml"}}


def trial(arm: str, seed: int, **metrics: float | None) -> Trial:
    return Trial(f"{arm}{seed}", arm, seed, dict(metrics))


def test_equal_in_every_seed_but_for_time_and_rounding_is_identical() -> None:
    trials = [trial("a", s, loss_pred=1.0 + s, seconds=1.0, i_xz_bits=None) for s in (0, 1)]
    trials += [trial("b", s, loss_pred=(1.0 + s) * (1 + 2e-5), seconds=9.0, i_xz_bits=None) for s in (0, 1)]
    trials += [trial("c", s, loss_pred=1.0 + 1.1 * s, seconds=1.0, i_xz_bits=None) for s in (0, 1)]
    assert identical_arms(trials, ["a", "b", "c"]) == [["a", "b"]], "c differs in one seed"


def test_an_arm_may_be_identical_to_one_whose_gradients_are_not_watched() -> None:
    a = trial("a", 0, loss_pred=1.0)
    assert identical_arms([a, trial("b", 0, loss_pred=1.0, cosine_pred_info=0.1, gradient_norm_pred=2.0)], ["a", "b"])


def test_an_arm_may_be_identical_to_one_that_tells_how_far_its_weights_are_from_their_optimum() -> None:
    a = trial("a", 0, loss_pred=1.0)
    assert identical_arms([a, trial("b", 0, loss_pred=1.0, alpha_gap=0.0)], ["a", "b"]) == [["a", "b"]]


def test_other_seeds_other_metrics_and_no_trials_are_not_identical() -> None:
    a, b = trial("a", 0, loss_pred=1.0), trial("b", 1, loss_pred=1.0)
    assert identical_arms([a, b], ["a", "b"]) == []
    assert identical_arms([a, trial("b", 0, loss_pred=1.0, accuracy=0.5)], ["a", "b"]) == []
    assert identical_arms([a, trial("b", 0, loss_pred=None)], ["a", "b"]) == []
    assert identical_arms([], ["a", "b"]) == []


def test_the_comparison_says_so_of_two_arms_beside_the_baseline_and_of_a_pair() -> None:
    view = bottleneck_of(UNIFORM, ARML, MIB, seeds=[0, 1])
    for i, each in enumerate(view.trials):
        gained = (2.0, 2.1, 2.0, 2.1, 1.0, 1.5)[i]
        play(view, each, [{"i_xz_bits": 5.0, "i_zy_bits": gained, "seconds": 1.0 + i}])
    comparison = compared(view)
    said = "uniform and ARML are identical in every seed: all metrics but time are equal up to rounding"
    assert comparison.identical == [["uniform", "ARML"]] and f" {said}." in comparison.verdict
    words = comparison.words
    assert (
        words["ARML"] == "ARML and uniform are identical in every seed: all metrics but time are equal up to rounding"
    )
    assert "identical" not in words["MIB"]
