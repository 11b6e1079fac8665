"""How often a rank correlation is as large by chance."""

from __future__ import annotations

import pytest
from scipy import stats

from findings.quantities.gradients import by_chance


@pytest.mark.parametrize(("rho", "n", "p"), [(1.0, 3, 2 / 6), (-1.0, 4, 2 / 24), (0.0, 5, 1.0)])
def test_of_few_all_orders_are_gone_through(rho: float, n: int, p: float) -> None:
    assert by_chance(rho, n) == pytest.approx(p)


def test_the_critical_value_of_seven_studies_is_that_of_the_tables() -> None:
    assert by_chance(0.786, 7) < 0.05 < by_chance(0.75, 7)


def test_of_many_it_is_what_scipy_says() -> None:
    x, y = list(range(12)), [3, 0, 1, 2, 7, 5, 4, 11, 6, 10, 8, 9]
    rho, p = stats.spearmanr(x, y)
    assert by_chance(float(rho), 12) == pytest.approx(float(p))
