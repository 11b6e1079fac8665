"""Tables of an export say where each trial, and each point of a curve, lies against the baseline's front."""

from __future__ import annotations

from typing import Any

import pytest

from service.answers.trials import trial_answer
from service.exports.flat_tables import Table, points_table, trials_table
from service.views.fold import StudyView
from tests.service.analysis.test_trial_places import GRIDS, study
from tests.service.studies import ALL_BETAS, MANUAL, bits, bottleneck_of, curve, play, play_curves


def rows_of(table: Table) -> list[dict[str, Any]]:
    names = [column.name for column in table.columns]
    return [
        {
            name: value
            for name, value in zip(names, row, strict=True)
            if name in ("arm", "where.beta") or "front." in name
        }
        for row in table.rows
    ]


def curves() -> StudyView:
    view = bottleneck_of(MANUAL, ALL_BETAS, seeds=[0], baseline="manual β")
    *grid, one = view.trials
    for trial, place in zip(grid, GRIDS[0], strict=True):
        play(view, trial, bits(place))
    play_curves(view, one, curve((0.01, 10.0, 3.2), (0.1, 6.0, 1.8), (0.5, 9.0, 1.7)))
    return view


@pytest.mark.parametrize("table", [trials_table, points_table])
def test_a_trial_has_its_place_against_the_baselines_front(table: Any) -> None:
    *base, own = rows_of(table(study((9.0, 1.5))))
    assert {value for row in base for name, value in row.items() if name.startswith("front.")} == {None}
    assert own.pop("arm") == "MIB"
    assert own == pytest.approx(
        {
            "front.dominated": 1.0,
            "front.beyond": 0.0,
            "front.distance": -0.25,
            "front.distance.step": -0.25,
            "front.distance.line": -0.7071067811865476 * 0.625 * 2**0 * 1.0,
            "front.matched.i_xz_bits": -3.0,
            "front.matched.i_xz_bits.step": -3.0,
            "front.matched.i_xz_bits.line": -5.0,
            "front.matched.i_zy_bits": -0.5,
            "front.matched.i_zy_bits.step": -0.5,
            "front.matched.i_zy_bits.line": -1.25,
            "front.amounts_to.weighting.beta": own["front.amounts_to.weighting.beta"],
        }
    )


def test_a_curve_has_a_row_for_each_point_and_one_for_its_front() -> None:
    *_, trial = rows_of(trials_table(curves()))
    points = [row for row in rows_of(points_table(curves())) if row["arm"] == "all β"]
    assert [(row["where.beta"], row["front.dominated"]) for row in points] == [(0.01, 0.0), (0.1, 1.0), (0.5, 1.0)]
    assert [row["front.matched.i_zy_bits.line"] for row in points] == pytest.approx([0.2, -0.2, -1.05])
    assert trial["front.dominated"] == 0.5 and trial["front.amounts_to.weighting.beta"] is None


def test_the_answer_of_a_trial_says_where_it_lies() -> None:
    view = study((4.0, 1.2))
    *grid, own = view.trials
    assert trial_answer(view, grid[0], {}).against_front is None
    against = trial_answer(view, own, {}).against_front
    assert against is not None and against.baseline == "manual β"
    (point,) = against.points
    told = {metric: (gap.told, gap.step, gap.line) for metric, gap in point.matched.items()}
    assert told["i_zy_bits"] == pytest.approx((0.0, 0.2, -0.3)) and told["i_xz_bits"] == pytest.approx((0.0, 2.0, -1.2))
    assert point.where is None and not point.dominated and point.beyond is False and point.distance is not None


def test_the_answer_of_a_curve_has_a_place_for_each_point() -> None:
    view = curves()
    against = trial_answer(view, list(view.trials)[-1], {}).against_front
    assert against is not None
    assert [(point.where, point.dominated) for point in against.points] == [
        ({"beta": 0.01}, False),
        ({"beta": 0.1}, True),
        ({"beta": 0.5}, True),
    ]
