"""The front in characters, by value."""

from __future__ import annotations

import io

from rich.console import Console

from frontends.cli.plot import ArmPoints, PlotAxis, Scale, front_plot, marker_of, scale_of, steps
from service.contract.wording.palette import SYMBOLS

RATE = PlotAxis("I(X;Z) [bits]", minimize=True, may_be_log=True)
LABEL = PlotAxis("I(Z;Y) [bits]", minimize=False)
BLUE, ORANGE = "#0072B2", "#D55E00"
GRID = ArmPoints("manual β", 0, BLUE, [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)])


def lines(*arms: ArmPoints, x: PlotAxis = RATE, y: PlotAxis = LABEL, width: int = 24, height: int = 4) -> list[str]:
    return [line.rstrip() for line in front_plot(arms, x, y, width, height).plain.split("\n")]


def test_points_lie_on_a_stepped_line_between_named_axes() -> None:
    assert lines(GRID, ArmPoints("MIB", 1, ORANGE, [(1.5, 2.5)]), width=37) == [
        "I(Z;Y) [bits], more is better",
        "3.00 │                              ●",
        "     │       ◆                      ⢸",
        "     │               ●⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉",
        "1.00 │●⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⡇",
        "     └───────────────────────────────",
        "      1.00                       3.00",
        "      I(X;Z) [bits], less is better",
        "      ● manual β   ◆ MIB",
    ]


def test_the_step_goes_down_first_when_more_of_x_is_better() -> None:
    corner = ArmPoints("a", 0, BLUE, [(0.0, 1.0), (1.0, 0.0)])
    drawn = lines(corner, x=PlotAxis("a", minimize=False), y=PlotAxis("b", minimize=False))
    assert drawn[1:5] == ["1.00 │●", "     │⡇", "     │⡇", "   0 │⣇⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀●"]


def test_one_point_stands_in_the_middle() -> None:
    assert lines(ArmPoints("a", 2, BLUE, [(4.0, 4.0)]))[3] == "     │         ■"


def test_without_points_there_are_words() -> None:
    assert lines(ArmPoints("a", 0, BLUE, [])) == ["The front appears with the first reports."]


def test_a_wide_range_is_drawn_on_a_log_scale_and_says_so() -> None:
    wide = ArmPoints("a", 0, BLUE, [(0.1, 0.0), (1.0, 0.5), (10.0, 1.0)])
    drawn = lines(wide, width=60)
    assert drawn[-2].endswith("less is better, log") and drawn[3].index("●") == 6 + 26, "half of 54 columns"
    assert scale_of([0.1, 10.0], LABEL) == Scale(0.1, 10.0, log=False)
    assert scale_of([0.0, 10.0], RATE).log is False


def test_a_scale_is_logarithmic_from_a_ratio_above_twenty() -> None:
    assert (scale_of([1.0, 20.0], RATE), scale_of([1.0, 21.0], RATE)) == (Scale(1, 20, False), Scale(1, 21, True))
    assert scale_of([-1.0, 21.0], RATE) == Scale(-1, 21, False)
    assert (Scale(1, 100, True).at(10), Scale(1, 101, False).at(26)) == (0.5, 0.25)


def test_a_long_name_of_an_axis_is_cut_to_the_plot() -> None:
    top, *_, below, _ = lines(GRID, x=PlotAxis("x" * 50, minimize=True), y=PlotAxis("y" * 50, minimize=True))
    assert top == "y" * 23 + "…" and below == " " * 6 + "x" * 17 + "…"


def test_no_line_is_wider_than_the_terminal() -> None:
    for width in (24, 40, 80):
        assert max(map(len, lines(GRID, width=width, height=10))) <= width
        assert len(lines(GRID, width=width, height=10)) == 15


def test_an_arm_has_its_colour_and_its_shape_so_that_colour_is_not_needed() -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, color_system="truecolor", width=40)
    console.print(front_plot([GRID], RATE, LABEL, 40, 4))
    drawn = written.getvalue()
    assert drawn.count("\x1b[38;2;0;114;178m●") == 4, "three points and the legend"
    assert [marker_of(place) for place in range(9)] == list("●◆■▲✕★✚⬢◆") and len(SYMBOLS) == 8


def test_a_staircase_has_every_dot_once() -> None:
    assert steps([(0, 3), (2, 1)], across_first=True) == {(0, 3), (1, 3), (2, 3), (2, 2), (2, 1)}
    assert steps([(0, 3), (2, 1)], across_first=False) == {(0, 3), (0, 2), (0, 1), (1, 1), (2, 1)}
    assert steps([(5, 5)], across_first=True) == set()
