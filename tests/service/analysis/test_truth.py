"""The exact curves, against each other and against textbook values."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis import truth
from service.contract.methods.data import Digits
from service.contract.study.parsing import check_study

RHO = [0.95, 0.8, 0.6]
MODELS = {"movie-reviews": {"name": "rnn"}}
ARM = {"name": "a", "weighting": {"name": "fixed"}}


def test_the_gaussian_curve_ends_at_the_mutual_information_of_x_and_y() -> None:
    whole = -0.5 * sum(math.log2(1 - r * r) for r in RHO)
    assert truth.gaussian_point(RHO, 1e-9)[1] == pytest.approx(whole, abs=1e-6)
    assert truth.gaussian_point(RHO, 0.95**2) == (0.0, 0.0)  # no component is active from β = max ρ² on


def test_a_point_of_the_prototype_lies_on_the_curve() -> None:
    assert truth.gaussian_point(RHO, 0.32) == pytest.approx((3.25, 1.91), abs=0.02)


@given(st.lists(st.floats(0.05, 0.99), min_size=1, max_size=5), st.floats(0.01, 0.9), st.floats(0.01, 0.9))
def test_each_beta_maximises_its_own_trade_off(correlations: list[float], beta: float, other: float) -> None:
    """I(Z;Y) − β I(X;Z) is largest at β's own point: what makes the curve the front."""
    at, elsewhere = truth.gaussian_point(correlations, beta), truth.gaussian_point(correlations, other)
    assert at[1] - beta * at[0] >= elsewhere[1] - beta * elsewhere[0] - 1e-9


@given(st.floats(0.01, 0.85))
def test_the_curve_by_rate_is_the_curve_by_beta(beta: float) -> None:
    rate, label = truth.gaussian_point(RHO, beta)
    assert truth.gaussian_at_rate(RHO, rate) == pytest.approx(label, abs=1e-6)


def test_beta_must_be_positive() -> None:
    with pytest.raises(ValueError, match=r"beta must be above 0, got 0"):
        truth.gaussian_point(RHO, 0.0)


def test_the_toy_fronts_satisfy_their_formulas() -> None:
    convex, concave = truth.toy_front("convex"), truth.toy_front("concave")
    assert all(math.sqrt(x) + math.sqrt(y) == pytest.approx(1) for x, y in zip(convex.x, convex.y, strict=True))
    for x, y in zip(concave.x, concave.y, strict=True):
        distances = math.sqrt(-math.log1p(-x)) + math.sqrt(-math.log1p(-y))
        assert distances == pytest.approx(2)
    middle = truth.STEPS // 2
    assert convex.x[middle] < 0.5 < concave.x[middle], "one bends towards the origin, the other away from it"


@pytest.mark.parametrize(
    ("spec", "axes", "labels"),
    [
        ({"data": {"name": "gaussian"}, "arms": [ARM]}, ("i_xz_bits", "i_zy_bits"), ["exact curve"]),
        ({"data": {"name": "toy"}, "arms": [ARM]}, ("i_xz_bits", "i_zy_bits"), ["min(I(X;Z), H(Y))"]),
        ({"data": {"name": "toy"}, "arms": [ARM]}, ("i_xz_bits", "accuracy"), []),
        ({"data": {"name": "toy"}, "arms": [ARM]}, ("i_xz_mine_bits", "i_zy_bits"), ["min(I(X;Z), H(Y))"]),
        ({"data": {"name": "toy"}, "arms": [ARM]}, ("i_xz_ksg_bits", "i_zy_bits"), []),  # an estimate, no bound
        ({"data": {"name": "toy"}, "arms": [ARM]}, ("loss_info", "i_zy_bits"), []),
        ({"data": {"name": "digits"}, "arms": [ARM]}, ("i_xz_bits", "i_zy_bits"), []),
        ({"arms": [{**ARM, "problem": {"name": "toy"}}]}, ("f1", "f2"), ["exact concave front"]),
        ({"arms": [{**ARM, "problem": {"name": "toy"}}]}, ("f2", "f1"), []),
    ],
)
def test_a_study_knows_which_of_its_fronts_are_known(
    spec: dict[str, Any], axes: tuple[str, str], labels: list[str]
) -> None:
    study = check_study({"name": "s", **spec})
    assert [curve.label for curve in truth.curves(study, *axes, most=4.0)] == labels


def test_the_curve_of_deterministic_labels_can_be_drawn_on_a_log_axis() -> None:
    study = check_study({"name": "s", "data": {"name": "toy", "classes": 8}, "arms": [ARM]})
    (curve,) = truth.curves(study, "i_xz_bits", "i_zy_bits", most=12.0)
    assert curve.y == [min(x, 3.0) for x in curve.x] and (curve.x[0], curve.x[-1]) == (0.0, 12.0)
    slope = [x for x in curve.x if 0 < x <= 3]
    assert slope[0] < 0.01 and all(b < 1.1 * a for a, b in pairwise(slope)), "no chord is seen"


@pytest.mark.parametrize("most", [0.0, 1.0, 3.0, 12.0])
def test_a_curve_goes_on_to_the_right_and_never_claims_more_than_the_code_carries(most: float) -> None:
    """Also while no trial has come as far as H(Y) = 3 bits."""
    study = check_study({"name": "s", "data": {"name": "toy", "classes": 8}, "arms": [ARM]})
    (curve,) = truth.curves(study, "i_xz_bits", "i_zy_bits", most)
    assert all(a <= b for a, b in pairwise(curve.x)) and all(y <= x for x, y in zip(curve.x, curve.y, strict=True))
    assert (curve.x[-1], curve.y[-1]) == (max(most, 3.0), 3.0)


def test_the_gaussian_curve_goes_as_far_as_it_is_asked_to() -> None:
    study = check_study({"name": "s", "data": {"name": "gaussian", "correlations": [0.8]}, "arms": [ARM]})
    (curve,) = truth.curves(study, "i_xz_bits", "i_zy_bits", most=2.0)
    assert (curve.x[0], curve.y[0], curve.x[-1]) == (0.0, 0.0, 2.0)
    assert curve.y[-1] == pytest.approx(truth.gaussian_at_rate([0.8], 2.0))
    assert all(a < b for a, b in pairwise(curve.x)) and all(a < b for a, b in pairwise(curve.y))


def test_a_curve_follows_its_metrics_to_the_other_axes() -> None:
    study = check_study({"name": "s", "data": {"name": "toy", "classes": 8}, "arms": [ARM]})
    most = {"i_xz_bits": 12.0, "i_zy_bits": 3.0}
    upright = truth.exact_curve(study, ["i_xz_bits", "i_zy_bits"], most)
    turned = truth.exact_curve(study, ["i_zy_bits", "i_xz_bits"], most)
    assert upright is not None and turned is not None
    assert (turned.x, turned.y) == (upright.y, upright.x) and max(turned.y) == 12.0


# H(Y)


@pytest.mark.parametrize(
    ("data", "bits"),
    [
        ({"name": "toy", "classes": 8}, 3.0),
        ({"name": "fashion-mnist"}, math.log2(10)),
        ({"name": "cifar10", "test_images": 500}, math.log2(10)),
        ({"name": "mnist"}, 3.3194),  # its digits are not equally frequent
        ({"name": "mnist", "test_images": 10_000}, 3.3194),
        ({"name": "mnist", "test_images": 2_000}, None),
        ({"name": "fashion-mnist", "test_images": 501}, None),
        ({"name": "svhn"}, 3.2065),
        ({"name": "gaussian"}, None),
        ({"name": "movie-reviews"}, None),
    ],
)
def test_the_entropy_of_the_labels_is_told_where_it_is_known(data: dict[str, Any], bits: float | None) -> None:
    study = check_study({"name": "s", "data": data, "arms": [ARM], "model": MODELS.get(data["name"], {"name": "mlp"})})
    assert truth.label_entropy(study.data) == (None if bits is None else pytest.approx(bits, abs=1e-4))


@pytest.mark.parametrize("fraction", [0.001, 0.2, 0.25, 0.999])
def test_the_entropy_of_digits_is_that_of_the_split_they_are_tested_on(fraction: float, tmp_path: Path) -> None:
    from workers.data.sets.digits import load

    spec = Digits(test_fraction=fraction)
    counts = load(spec, tmp_path)(None).y_test.bincount().tolist()
    assert truth.label_entropy(spec) == pytest.approx(truth.entropy_of(counts), abs=1e-12)


def test_entropy_by_hand() -> None:
    assert truth.entropy_of([2, 1, 1]) == 1.5 and truth.entropy_of([4, 0]) == 0.0


def test_the_gaussian_curve_by_its_closed_form() -> None:
    """One correlation ρ: I(Z;Y) = −½ log2(1 − ρ² (1 − 2^(−2R))) at the rate R."""
    for rho, bits in ((0.9, 0.5), (0.9, 3.0), (0.3, 1.0), (0.99, 4.0)):
        exact = -0.5 * math.log2(1 - rho * rho * (1 - 2 ** (-2 * bits)))
        assert truth.gaussian_at_rate([rho], bits) == pytest.approx(exact, rel=1e-6)


def test_the_gaussian_curve_at_a_beta_by_value() -> None:
    rate, label = truth.gaussian_point([0.8], 0.25)
    assert rate == pytest.approx(0.5 * math.log2(3 * 0.64 / 0.36))
    assert label == pytest.approx(rate - 0.5 * math.log2(4 * 0.64))
    assert truth.gaussian_point([0.8], 0.64) == (0.0, 0.0), "β at ρ² and above keeps nothing"
    assert truth.gaussian_point([0.8, 0.5], 0.25)[0] == pytest.approx(rate), "the weaker one is not active yet"
