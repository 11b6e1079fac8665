"""One point of many: what each rule must choose, on fronts that are known."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.fronts import Axis, Point
from service.analysis.picking import Bound, best, gap, knee, shares, weighted, within

AXES = [Axis("i_xz_bits", "minimize", 10.0), Axis("i_zy_bits", "maximize", 0.0)]


def front(*places: tuple[float, float]) -> list[Point]:
    return [Point(f"t{i}", "a", 0, place) for i, place in enumerate(places)]


BENT = front((0.0, 0.0), (1.0, 2.6), (2.0, 2.8), (4.0, 3.0))  # a knee at t1
HOLLOW = front((0.0, 0.0), (3.0, 1.0), (3.6, 2.0), (4.0, 3.0))  # concave: no sum of weights finds t1 or t2
steps = st.lists(st.floats(0.01, 5.0), min_size=1, max_size=8)


@given(steps, st.floats(0.1, 10.0), st.floats(-5.0, 5.0))
def test_shares_go_from_the_best_to_the_worst_whatever_the_units(
    gains: list[float], scale: float, shift: float
) -> None:
    xs = np.cumsum(gains)
    points = front(*((float(x), float(x)) for x in xs))
    moved = front(*((float(scale * x + shift), float(x / scale - shift)) for x in xs))
    own = shares(points, AXES)
    assert own.min() >= 0 and own.max() <= 1
    np.testing.assert_allclose(own, shares(moved, AXES), atol=1e-6)


def test_the_knee_bulges_furthest() -> None:
    assert knee(BENT, AXES).trial == "t1"


def test_weights_reach_every_point_of_a_front_also_where_it_is_concave() -> None:
    for points in (BENT, HOLLOW):
        chosen = {weighted(points, AXES, (w, 1 - w)).trial for w in np.linspace(0, 1, 201)}
        assert chosen == {point.trial for point in points}


def test_all_weight_on_one_objective_is_its_best_value_and_of_equals_the_best_in_the_others() -> None:
    assert weighted(BENT, AXES, (1.0, 0.0)).trial == "t0" and weighted(BENT, AXES, (0.0, 1.0)).trial == "t3"


def test_within_bounds_the_other_metric_decides() -> None:
    points = BENT
    kept = within(points, [Bound(1, True, 2.7), Bound(0, False, 3.0)])
    assert [point.trial for point in kept] == ["t2"]
    enough = within(points, [Bound(1, True, 2.6)])
    assert best(enough, 0, "minimize").trial == "t1" and best(enough, 1, "maximize").trial == "t3"


def test_the_largest_gap_is_beside_a_point_between_two_others() -> None:
    chosen = gap(BENT, AXES)
    assert chosen is not None and chosen.trial == "t1"
    assert gap(BENT[:2], AXES) is None and gap(BENT[:1], AXES) is None


def test_what_chooses_decides_not_what_is_claimed() -> None:
    """On the validation split the second is the knee, on the test split the third."""
    judged = [(0.0, 0.0), (1.0, 2.6), (2.0, 2.8), (4.0, 3.0)]
    claimed = [(0.0, 0.0), (1.0, 0.5), (2.0, 2.8), (4.0, 3.0)]
    points = [Point(f"t{i}", "a", 0, c, j) for i, (c, j) in enumerate(zip(claimed, judged, strict=True))]
    assert knee(points, AXES).trial == "t1" and knee(front(*claimed), AXES).trial == "t2"
    assert best(within(points, [Bound(1, True, 2.5)]), 0, "minimize").trial == "t1"
