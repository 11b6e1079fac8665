"""What all figures share: when an axis is logarithmic, how many digits a number has, what stands beside a figure."""

from __future__ import annotations

import pytest

from service.figures.drawing.style import axis_layout, layout, short
from service.figures.figure import Asked
from tests.service.studies import bottleneck_of


@pytest.mark.parametrize(
    ("metric", "values", "scale"),
    [
        ("i_xz_bits", [0.1, 2.1], "log"),
        ("i_xz_bits", [0.1, 2.0], None),  # a factor of twenty is not more than that
        ("i_xz_bits", [0.0, 0.1, 2.1], None),  # 0 has no logarithm
        ("i_zy_bits", [0.1, 2.1], None),  # more is better: what matters is the upper end
        ("loss_left", [0.1, 2.1], None),  # no unit
        ("seconds", [0.1, 2.1], "log"),
        ("seconds", [], None),
    ],
)
def test_an_axis_is_logarithmic_where_less_of_a_unit_is_better_and_values_span_much(
    metric: str, values: list[float], scale: str | None
) -> None:
    assert axis_layout(metric, values).get("type") == scale


def test_an_axis_is_named_with_its_unit() -> None:
    assert axis_layout("i_xz_bits", [])["title"]["text"] == "I(X;Z) [bits]"
    assert axis_layout("accuracy", [])["title"]["text"] == "accuracy"


@pytest.mark.parametrize(("ratio", "step"), [(100, "D2"), (300, 1), (1e5, 1)])
def test_a_log_axis_over_few_decades_has_ticks_between_them(ratio: float, step: str | int) -> None:
    assert axis_layout("seconds", [1.0, ratio])["dtick"] == step


@pytest.mark.parametrize(("value", "shown"), [(0.123456, 0.1235), (12345.6, 12350.0), (-1e-9, -1e-9), (0.0, 0.0)])
def test_numbers_have_four_digits(value: float, shown: float) -> None:
    assert short(value) == shown


def test_what_is_said_beside_a_figure_is_there_only_where_something_is_said() -> None:
    assert layout({}, {}, "", "r")["meta"] == {"subtitle": ""}
    drawing = layout({"a": 1}, {"b": 2}, "s", "r", summary="t", empty="u")
    assert drawing["meta"] == {"subtitle": "s", "summary": "t", "empty": "u"}
    assert (drawing["xaxis"], drawing["yaxis"], drawing["uirevision"]) == ({"a": 1}, {"b": 2}, "r")


def test_another_choice_is_another_figure_whose_zoom_begins_anew() -> None:
    view = bottleneck_of()
    asked = [Asked(view), Asked(view, x="a"), Asked(view, y="a"), Asked(view, z="a"), Asked(view, trials=("a",))]
    asked += [Asked(view, arms=("MIB",)), Asked(view, arms=("MIB", "manual β"))]
    assert len({each.revision for each in asked}) == len(asked)
