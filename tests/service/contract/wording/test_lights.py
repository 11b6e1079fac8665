"""Marks of estimates: by the share of the information that is missed, told apart by shape, explained in words."""

from __future__ import annotations

import pytest

from service.contract.vocabulary import vocabulary
from service.contract.wording.lights import LIGHTS, error_words, light_of, worst_of, worst_words


@pytest.mark.parametrize(
    ("miss", "known", "name"),
    [
        (0.4, 8.0, "near"),
        (0.41, 8.0, "rough"),
        (1.6, 8.0, "rough"),
        (1.61, 8.0, "far"),
        (7.5, 16.0, "far"),
        (0.05, 0.25, "near"),
        (0.06, 0.25, "rough"),
    ],
)
def test_a_light_goes_by_the_share_that_is_missed_and_by_bits_below_one_bit(
    miss: float, known: float, name: str
) -> None:
    assert light_of(miss, known).name == name


def test_lights_are_told_apart_without_colour() -> None:
    marks = [light.mark for light in LIGHTS]
    assert marks == ["●", "◐", "○"] and len({light.words for light in LIGHTS}) == 3
    assert vocabulary().lights == list(LIGHTS)


def test_the_words_of_a_light_name_its_threshold() -> None:
    for light in LIGHTS[:-1]:
        assert light.within is not None and light.words == f"within {light.within:.0%}".replace("%", " %")


def test_the_worst_light_is_the_one_furthest_down() -> None:
    near, rough, far = LIGHTS
    assert worst_of([near, far, rough]) == far and worst_of([near, near]) == near and worst_of([]) is None
    assert worst_words(rough) == "◐ at worst, within 20 % on Gaussian tasks of this shape"


def test_an_error_is_told_with_the_shape_and_the_side() -> None:
    assert error_words(0.352, 0.314, 8.0, 360, 16) == (
        "on a Gaussian task of this shape (N = 360, 16 dimensions, 8 bits) this estimate is off by 0.35 bits, "
        "0.31 bits too high on average: within 5 %. This is no bound on the error here"
    )
    low = error_words(7.6, -7.6, 1.0, 1000, 1)
    assert "(N = 1000, 1 dimension, 1 bit)" in low and "7.6 bits too low on average: off by more than 20 %." in low
