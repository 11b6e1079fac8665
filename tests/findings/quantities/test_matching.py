"""Two arms at the same value of a metric: interpolated between what was measured, never beyond it."""

from __future__ import annotations

import pytest

from findings.quantities.matching import between, gaps
from tests.findings.quantities.test_quantities import said

LINE = [(2.0, 0.5), (4.0, 0.7), (10.0, 0.1)]


@pytest.mark.parametrize(("at", "value"), [(2.0, 0.5), (3.0, 0.6), (4.0, 0.7), (7.0, 0.4), (10.0, 0.1)])
def test_between_neighbours_lies_the_straight_line(at: float, value: float) -> None:
    assert between(LINE, at) == pytest.approx(value)


@pytest.mark.parametrize("at", [1.9, 10.1])
def test_nothing_is_known_beyond_the_ends(at: float) -> None:
    assert between(LINE, at) is None and between([], at) is None


def test_a_seed_counts_if_all_of_its_trials_are_enclosed() -> None:
    one = {0: [(3.0, 1.0)], 1: [(11.0, 1.0)], 2: [(3.0, 1.0), (11.0, 1.0)], 3: [(3.0, 1.0)]}
    other = {0: LINE, 1: LINE, 2: LINE}
    assert gaps(one, other) == {0: pytest.approx(0.4)}


def test_the_gap_is_paired_over_seeds() -> None:
    """MIB at 8 bits between the grid's 6 and 12, 2.25 bits of label against 2.5 + (3 − 2.5)/3 there."""
    assert said("gap at equal(i_zy_bits; i_xz_bits; MIB; manual β)") == "−0.417 ± 0.000"
    assert said("gap at equal(i_zy_bits; i_xz_bits; MIB; manual β; seed < 3)") == "−0.417 ± 0.000 (3 of 5 seeds)"


def test_where_nothing_encloses_it_nothing_is_said() -> None:
    with pytest.raises(ValueError, match="in no seed does manual β enclose the values of MIB"):
        said("gap at equal(i_zy_bits; i_xz_bits; MIB; manual β; weighting.beta = 1)")
