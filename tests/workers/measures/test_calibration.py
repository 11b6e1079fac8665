"""What estimators miss on Gaussian tasks of a shape: near where they must be, far where they cannot reach, once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.metrics import I_XZ
from service.contract.metrics.estimators import ESTIMATOR_NAMES
from service.contract.wording.lights import light_of
from workers.measures import calibration
from workers.measures.calibration import MARGINAL, Rung, Shape, calibrated, ladder, levels_of, nearest, shapes_of
from workers.measures.estimators import ESTIMATORS
from workers.measures.estimators.samples.codes import Codes
from workers.models.components.latent_code import Code
from workers.problems.rates import kl_to_prior

DIGITS = Shape(MARGINAL, 359, 16, 16, 1150)
MARGINAL_WITHIN = 0.02
SAID_OF_FOUR_BITS = 6.7


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    ladder.cache_clear()
    yield
    ladder.cache_clear()


def rung(shape: Shape, known: float) -> Rung:
    return next(each for each in ladder(shape) if each.known == known)


def light(shape: Shape, bits: float) -> str:
    found = nearest(ladder(shape), bits)
    assert found is not None
    return light_of(found.miss, found.known).name


@pytest.mark.parametrize("bits", [1.0, 2.0, 4.0])
def test_the_fitted_marginal_is_near_where_the_marginal_is_gaussian(bits: float) -> None:
    found = rung(Shape(MARGINAL, 2000, 2, 2, 2000), bits)
    assert found.said == pytest.approx(bits, rel=MARGINAL_WITHIN) and found.miss < 0.04 * bits
    assert light(Shape(MARGINAL, 2000, 2, 2, 2000), bits) == "near"


def test_a_marginal_of_many_dimensions_and_few_codes_is_too_high() -> None:
    few = Shape(MARGINAL, 359, 64, 64, 100)
    assert rung(few, 32.0).bias > 3 and light(few, rung(few, 32.0).said) == "rough"
    assert rung(few, 32.0).bias > 5 * rung(few._replace(fitted=1000), 32.0).bias > 0


def test_the_task_has_the_information_it_is_said_to_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a code whose aggregate is N(0, I) once it is scaled, so that the KL to the prior is exact but for the draw."""
    seen: list[Codes] = []

    def seeing(codes: Codes) -> Tensor:
        seen.append(codes)
        return codes.mean[:, 0, 0]

    monkeypatch.setitem(ESTIMATORS, "infonce", seeing)
    levels = [0.5, 4.0, 16.0]
    calibration._bits(Shape("infonce", 20_000, 3, 5), torch.tensor(levels, dtype=torch.float64), 0)
    (codes,) = seen
    spread = (codes.mean.square().mean(1, keepdim=True) + 1).sqrt()
    nats = kl_to_prior(Code(codes.mean / spread, codes.scale / spread)).mean(1)
    assert (nats / math.log(2)).tolist() == pytest.approx(levels, rel=0.01)
    assert (codes.mean[..., 3:] == 0).all(), "three inputs fill three of five dimensions"


@pytest.mark.parametrize("name", ["infonce", "pairwise-upper", "pairwise-lower"])
def test_what_cannot_pass_log2_n_is_far_off_near_it(name: Any) -> None:
    shape = Shape(name, 200, 4, 4)
    most = math.log2(200)
    last = ladder(shape)[-1]
    assert last.known > 1.5 * most and last.said <= most + 1e-9
    assert nearest(ladder(shape), most) == last and light(shape, most) == "far"


def test_infonce_is_near_at_few_bits_and_far_at_log2_n() -> None:
    shape = Shape("infonce", 1000, 2, 2)
    assert [light(shape, bits) for bits in (2.0, math.log2(1000))] == ["near", "far"]
    assert rung(shape, 16.0).bias < -6


def test_an_estimate_is_held_against_the_task_of_which_its_estimator_says_as_much() -> None:
    """4 bits look like 6.7 to the upper bound; the task of 8 bits, on which it happens to be right, is not meant."""
    rungs = [Rung(2.0, 3.8, 1.8), Rung(4.0, 6.7, 2.7), Rung(8.0, 8.4, 0.4), Rung(16.0, 8.5, 7.5)]
    assert nearest(rungs, 6.9) == rungs[1]
    assert nearest(rungs, 8.42) == rungs[3], "8 and 16 bits look alike, so the worse of the two counts"
    assert nearest(rungs, -0.3) == rungs[0] and nearest(rungs, 900.0) == rungs[3]


def test_four_bits_look_like_nearly_seven_to_the_upper_bound() -> None:
    assert rung(Shape("pairwise-upper", 360, 16, 16), 4.0).said == pytest.approx(SAID_OF_FOUR_BITS, abs=0.05)


def test_nearest_neighbours_have_none_where_they_are_refused() -> None:
    assert ladder(Shape("ksg", 100, 6, 2)) == ladder(Shape("ksg", 100, 2, 6)) == ()
    found = calibrated({"i_xz_ksg_bits": [1.0]}, [Shape("ksg", 100, 6, 2)])
    assert all(math.isnan(value) for values in found.values() for value in values) and len(found) == 3
    assert len(ladder(Shape("ksg", 100, 5, 5))) == len(levels_of(Shape("ksg", 100, 5, 5))) == 7


def test_mine_sees_inputs_that_say_nothing_and_says_less() -> None:
    four = torch.tensor([4.0], dtype=torch.float64)
    few, many = (calibration._bits(Shape("mine", 400, features, 2), four, 0).item() for features in (2, 40))
    assert many < few - 0.5 and 3 < few < 4.2


def test_a_shape_is_computed_once_and_for_all_members(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Shape] = []
    bits = calibration._bits

    def counted(shape: Shape, levels: Tensor, draw: int) -> Tensor:
        calls.append(shape)
        return bits(shape, levels, draw)

    monkeypatch.setattr(calibration, "_bits", counted)
    one = calibrated({I_XZ: [8.0, 1.0, 300.0]}, [DIGITS])
    for _ in range(3):
        assert calibrated({I_XZ: [8.0, 1.0, 300.0]}, [DIGITS]) == one
    assert len(calls) == calibration.DRAWS
    assert one[f"{I_XZ}_known"] == [8.0, 1.0, 256.0]
    calibrated({I_XZ: [8.0]}, [DIGITS._replace(examples=100)])
    assert len(calls) == 2 * calibration.DRAWS


def test_a_member_alone_has_the_calibration_it_has_in_a_cohort() -> None:
    together = calibrated({I_XZ: [8.0, 1.0, 30.0]}, [DIGITS])
    ladder.cache_clear()  # another process
    torch.randn(1000)  # with random numbers of its own
    alone = calibrated({I_XZ: [30.0]}, [DIGITS])
    assert {name: values[2:] for name, values in together.items()} == alone


def test_what_is_no_number_costs_nothing_and_has_no_calibration() -> None:
    found = calibrated({I_XZ: [math.inf, math.nan]}, [DIGITS])
    assert [len(values) for values in found.values()] == [2] * 3
    assert all(math.isnan(value) for values in found.values() for value in values)
    assert ladder.cache_info().misses == 0


def test_the_shapes_of_a_trial_have_the_sizes_that_its_estimators_see() -> None:
    shapes = shapes_of(ESTIMATOR_NAMES, fitted=1000, examples=359, points=300, features=64, latent=16)
    assert shapes[0] == Shape(MARGINAL, 359, 16, 16, 1000)
    assert {shape.estimator: (shape.examples, shape.features, shape.latent) for shape in shapes[1:]} == {
        "pairwise-lower": (300, 16, 16),
        "pairwise-upper": (300, 16, 16),
        "infonce": (300, 16, 16),
        "mine": (300, 64, 16),
        "ksg": (300, 64, 16),
    }


@pytest.mark.parametrize("examples", [2, 3, 8])
def test_a_few_points_are_a_shape_too(examples: int) -> None:
    for name in ("infonce", "pairwise-lower", "ksg"):
        rungs = ladder(Shape(name, examples, 2, 2))
        assert rungs and all(math.isfinite(each.miss) for each in rungs)


def test_the_numbers_of_a_shape_are_those_of_any_process() -> None:
    found = rung(DIGITS, 8.0)
    assert [found.said, found.miss] == pytest.approx([8.066198, 0.087875], abs=1e-5)
