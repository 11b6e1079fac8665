"""The comparison as LaTeX: every cell by value, and names that are commands to LaTeX."""

from __future__ import annotations

import re
from typing import Any

import pytest

from service.analysis.compared import compared
from service.contract.wording.numbers import setting_range, spread
from service.exports.latex import escaped, in_maths, latex_table
from service.views.fold import StudyView
from tests.service.studies import MIB, bottleneck_of, play

ONE: dict[str, Any] = {"name": "manual β", "weighting": {"name": "fixed", "beta": 0.01}}
GRID: dict[str, Any] = {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1]}}}


def finished(*arms: dict[str, Any], seeds: int = 3, lag: float = 0.0) -> StudyView:
    """Rates of 12 bits: hypervolumes are 20 times the bits of label. With each seed MIB falls back by the lag."""
    view = bottleneck_of(*(arms or (GRID, MIB)), seeds=range(seeds))
    for trial_id, trial in view.trials.items():
        gain = (1.0 if trial.planned.arm == "MIB" else 2.0) + 0.1 * trial.planned.seed**2
        gain -= 0.1 * lag * trial.planned.seed * (trial.planned.arm == "MIB")
        play(view, trial_id, [{"seconds": 2.5, "i_xz_bits": 12.0, "i_zy_bits": gain, "accuracy": 0.5}])
    return view


def rows_of(table: str) -> list[list[str]]:
    body = table.partition("\\toprule\n")[2].partition("\\bottomrule")[0]
    lines = [line for line in body.splitlines() if line != "\\midrule"]
    assert all(line.endswith(" \\\\") for line in lines)
    return [line.removesuffix(" \\\\").split(" & ") for line in lines]


def test_each_arm_is_a_row_with_its_mean_and_half_width() -> None:
    heads, grid, mib = rows_of(latex_table(compared(finished()), "s"))
    assert heads == [
        *("Arm", "Trials", "Hypervolume", "Difference", "$p$"),
        *("Distance", r"Dominated {[}\%{]}", "Lands at", r"$\varepsilon$", "IGD$^+$"),
        *("Best I(X;Z) {[}bits{]}", "Best I(Z;Y) {[}bits{]}", "Best accuracy"),
        *(r"Lost without it {[}\%{]}", "Training time {[}s{]}"),
    ]
    # Of 40, 42 and 48: the mean is 43.3, the standard deviation 4.16, Student's t 4.30.
    assert grid[:5] == [r"manual $\beta$", "6/6", r"$43.3 \pm 10.3$", "--", "--"]
    assert grid[10:] == [r"$12.0 \pm 0.0$", r"$2.17 \pm 0.52$", r"$0.500 \pm 0.000$", "$46.4$", "$15.0$"]
    assert mib[:5] == ["MIB", "3/3", r"$23.3 \pm 10.3$", "--", "--"], "one point is not held against two"
    assert mib[13:] == ["$0$", "$7.50$"]


def test_a_difference_in_hypervolume_is_given_between_arms_of_as_many_points() -> None:
    one, unlike = latex_table(compared(finished(ONE, MIB)), "s"), latex_table(compared(finished(lag=1.0)), "s")
    assert rows_of(one)[2][3:5] == [r"$-20.0 \pm 0.0$", "--"], "the same difference is not tested"
    assert rows_of(unlike)[2][3:5] == ["--", "--"] and "$t$-test" not in unlike
    assert "None is given where the numbers of points per seed differ" in unlike and "None is given" not in one


def test_an_arms_place_has_its_intervals() -> None:
    """MIB is at β 0.01 twice and at 0.1 once, and dominated in the last seed."""
    view = bottleneck_of(GRID, MIB, seeds=range(3))
    rates = {0.01: (10.0, 3.0), 0.1: (6.0, 2.0)}
    own = [(10.0, 3.0), (10.0, 3.0), (6.2, 1.9)]
    for trial, t in view.trials.items():
        rate, gain = own[t.planned.seed] if t.planned.arm == "MIB" else rates[t.planned.config["weighting.beta"]]
        play(view, trial, [{"i_xz_bits": rate, "i_zy_bits": gain}])
    _, grid, mib = rows_of(latex_table(compared(view), "s"))
    assert grid[5:8] == ["--"] * 3 and r"\pm" in grid[8]
    place = compared(view).arms[1].place.place
    amount = place.amounts["weighting.beta"]
    assert mib[5] == in_maths(spread(*place.distance.told[:2])) != "--"
    assert mib[6] == "$33$ ($6$ to $79$)"
    assert mib[7] == rf"$\beta$ $\approx$ {in_maths(setting_range(amount.mean, amount.lower, amount.upper))}"
    assert all(r"\pm" in cell for cell in mib[8:10]) and mib[8] != mib[9]


def test_an_arm_that_draws_a_front_lands_between_two_settings() -> None:
    other = {"name": "other grid", "weighting": {"name": "fixed", "beta": {"grid": [0.02, 0.05]}}}
    view = bottleneck_of(GRID, other, seeds=range(3), baseline="manual β")
    rates = {0.01: (10.0, 3.0), 0.1: (6.0, 2.0), 0.02: (10.0, 3.0), 0.05: (6.0, 2.0)}
    for trial, t in view.trials.items():
        rate, gain = rates[t.planned.config["weighting.beta"]]
        play(view, trial, [{"i_xz_bits": rate, "i_zy_bits": gain}])
    *_, row = rows_of(latex_table(compared(view), "s"))
    assert row[7] == r"$\beta$ $\approx$ $0.01$ ($0.01$ to $0.01$) to $0.1$ ($0.1$ to $0.1$)"


def test_without_another_arm_there_is_no_place() -> None:
    table = latex_table(compared(finished(GRID)), "s")
    assert "Lands at" not in table and "Wilson" not in table and "Distance" not in table


def test_the_caption_has_n_the_reference_and_what_is_tested() -> None:
    table = latex_table(compared(finished(ONE, MIB, lag=1.0)), "β & co")
    assert rows_of(table)[2][3:5] == [r"$-22.0 \pm 5.0$", "$0.0027$"]
    (caption,) = re.findall(r"\\caption\{(.*)\}\n", table)
    assert caption.startswith(r"$\beta$ \& co. Hypervolume: mean $\pm$ 95 \% interval over 3 seeds, $n = 3$, from the ")
    assert "reference point I(X;Z) {[}bits{]} 32, I(Z;Y) {[}bits{]} 0." in caption
    assert r"Difference: to manual $\beta$, seed by seed; $p$: paired $t$-test, Holm's method." in caption
    assert (
        r"Distance: to the front of manual $\beta$ of the same seed" in caption
        and r"Wilson's 95 \% interval" in caption
    )
    assert table.count("{") == table.count("}") and "\\usepackage{booktabs}" in table.splitlines()[0]
    assert "\\begin{tabular}{lrrrrrrrrrrrrrr}" in table


def test_the_caption_names_the_test_where_any_arm_was_tested_and_nowhere_else() -> None:
    """One arm differs from the baseline by the same in every seed, which is no test; the other does not."""
    view = bottleneck_of(ONE, MIB, {**MIB, "name": "other"}, seeds=range(3))
    less = {"manual β": (0.0, 0.0, 0.0), "MIB": (1.0, 1.0, 1.0), "other": (0.5, 0.9, 0.4)}
    for trial_id, trial in view.trials.items():
        gain = 2.0 - less[trial.planned.arm][trial.planned.seed]
        play(view, trial_id, [{"i_xz_bits": 12.0, "i_zy_bits": gain}])
    table = latex_table(compared(view), "s")
    assert [row[4] for row in rows_of(table)[1:]] == ["--", "--", "$0.059$"]
    assert "seed by seed; $p$: paired $t$-test, Holm's method." in table
    untested = latex_table(compared(finished(ONE, MIB)), "s")
    assert [row[4] for row in rows_of(untested)[1:]] == ["--", "--"] and "$t$-test" not in untested
    assert r"Difference: to manual $\beta$, seed by seed. Distance" in untested
    none = latex_table(compared(bottleneck_of(GRID, MIB)), "s")
    assert "Difference: to" not in none and "$t$-test" not in none


def test_the_caption_begins_with_the_name_and_ends_with_what_is_lost() -> None:
    table = latex_table(compared(finished()), "a_study")
    (caption,) = re.findall(r"\\caption\{(.*)\}\n", table)
    assert caption.startswith(r"a\_study. Hypervolume: ")
    assert caption.endswith("Lost without it: the part of the joint hypervolume that only this arm attains.")
    assert "\\label{tab:s1}" in table and table.splitlines()[1:3] == ["\\begin{table}", "\\centering"]


def test_of_several_arms_the_adjusted_p_is_printed() -> None:
    view = bottleneck_of(ONE, MIB, {**MIB, "name": "other"}, seeds=range(3))
    less = {"manual β": (0.0, 0.0, 0.0), "MIB": (1.0, 1.1, 1.2), "other": (0.5, 0.9, 0.4)}
    for trial_id, trial in view.trials.items():
        gain = 2.0 - less[trial.planned.arm][trial.planned.seed]
        play(view, trial_id, [{"i_xz_bits": 12.0, "i_zy_bits": gain}])
    pairs = {pair.arm: pair.paired.p_value or 1.0 for pair in compared(view).pairs}
    assert [pairs["MIB"], pairs["other"]] == pytest.approx([0.00273, 0.0594], rel=1e-2)
    _, _, mib, other = rows_of(latex_table(compared(view), "s"))
    assert mib[4] == "$0.0055$", "twice as large: the smaller of two by Holm's method"
    assert other[4] == "$0.059$"


def test_arms_with_fewer_seeds_are_told_in_the_caption() -> None:
    view = bottleneck_of(GRID, MIB, seeds=range(3))
    for trial_id, trial in view.trials.items():
        if trial.planned.arm != "MIB" or trial.planned.seed < 2:
            play(view, trial_id, [{"i_xz_bits": 12.0, "i_zy_bits": 1.0 + trial.planned.seed}])
    assert "$n = 3$ ($n$ from 2 to 3 by arm), from the reference point" in latex_table(compared(view), "s")
    assert "by arm" not in latex_table(compared(finished()), "s")


def test_two_seeds_are_two_values_and_n_is_two() -> None:
    table = latex_table(compared(finished(ONE, MIB, seeds=2)), "s")
    _, grid, mib = rows_of(table)
    assert (grid[2], mib[3], mib[4]) == ("$40.0$ and $42.0$", "$-20.0$", "--")
    assert "two seeds, both values, no interval, $n = 2$" in table and "$t$-test" not in table


def test_a_study_without_a_result_is_a_table_of_dashes() -> None:
    _, grid, mib = rows_of(latex_table(compared(bottleneck_of(GRID, MIB)), "s"))
    assert grid[2:8] == mib[2:8] == ["--"] * 6


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("50 % & more", r"50 \% \& more"),
        (r"\input{secret}", r"\textbackslash{}input\{secret\}"),
        ("a_b^c~d#e$f", r"a\_b\textasciicircum{}c\textasciitilde{}d\#e\$f"),
        ("[2pt] first", "{[}2pt{]} first"),
        ("* starred", "{*} starred"),
        ("a\n\nb\t% c", r"a b \% c"),
        ("<β|μ>", r"\textless{}$\beta$\textbar{}$\mu$\textgreater{}"),
        ("−1 ± 2", r"$-$1 $\pm$ 2"),
        ('say "x"', "say ''x''"),
        ("Δ ≤ 1 ≥ δ", r"$\Delta$ $\leq$ 1 $\geq$ $\delta$"),
        ("naïve Bäume 木", "naïve Bäume 木"),
    ],
)
def test_no_character_of_a_name_is_a_command(name: str, latex: str) -> None:
    assert escaped(name) == latex
    (_, row) = rows_of(latex_table(compared(finished({**MIB, "name": name})), "s"))
    assert row[0] == latex


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("–", "--"),
        ("1,230 ± 13", r"$1{,}230 \pm 13$"),
        ("1.23e−5", r"$1.23 \times 10^{-5}$"),
        ("−1.00 and 2.00", "$-1.00$ and $2.00$"),
        ("1.00e6 ± 20,000", r"$1.00 \times 10^{6} \pm 20{,}000$"),
    ],
)
def test_numbers_are_mathematics(text: str, latex: str) -> None:
    assert in_maths(text) == latex
