"""Δm and mean rank in what leaves the service: the answer, LaTeX, the report, the methods paragraph."""

from __future__ import annotations

import re

import pytest

from service.analysis.compared import compared
from service.answers.comparison import comparison_answer
from service.exports.latex import latex_table
from service.exports.methods import methods
from service.exports.report_tables import arms_table
from service.views.fold import StudyView
from tests.service.single_tasks import MGB, UNIFORM, always, played, usual


def plain() -> StudyView:
    """Without a single arm."""
    return played(UNIFORM, MGB, told=dict.fromkeys(("uniform", "MGB"), always(0.7, 0.4)))


def test_the_answer_has_delta_m_by_seed_and_by_metric() -> None:
    answer = comparison_answer(usual())
    uniform, mgb, single = answer.arms
    assert mgb.delta_m is not None and mgb.mean_rank is not None
    assert mgb.delta_m.mean == pytest.approx(8.0) and mgb.delta_m.seeds == 3
    assert mgb.delta_m.by_seed == pytest.approx({"0": 10.0, "1": 8.0, "2": 6.0})
    assert [part.mean for part in mgb.delta_m.by_metric.values()] == pytest.approx([8.0, 8.0])
    assert list(mgb.delta_m.by_metric) == ["accuracy_left", "accuracy_right"]
    assert (mgb.mean_rank.mean, uniform.mean_rank and uniform.mean_rank.mean) == pytest.approx((7 / 6, 11 / 6))
    assert (single.delta_m, single.mean_rank) == (None, None)
    assert answer.single is not None and answer.single.arms == ["alone"]
    assert answer.single.measures == {"left": "accuracy_left", "right": "accuracy_right"}
    assert answer.single.words.startswith("Δm: relative drop against single tasks of the same seed, mean over 2 tasks")


def test_without_a_single_arm_the_answer_has_neither() -> None:
    answer = comparison_answer(plain())
    assert answer.single is None
    assert {(arm.delta_m, arm.mean_rank) for arm in answer.arms} == {(None, None)}


def test_latex_has_both_columns_and_says_what_they_are() -> None:
    table = latex_table(compared(usual()), "s")
    head, *rows = (line.removesuffix(r" \\").split(" & ") for line in table.splitlines() if " & " in line)
    place = head.index(r"$\Delta m$ {[}\%{]}")
    assert head[place + 1] == "Mean rank" and {len(row) for row in rows} == {len(head)}
    assert [row[place : place + 2] for row in rows] == [
        [r"$10.0 \pm 0.0$", r"$1.83 \pm 0.72$"],
        [r"$8.00 \pm 4.97$", r"$1.17 \pm 0.72$"],
        ["--", "--"],
    ]
    (caption,) = re.findall(r"\\caption\{(.*)\}\n", table)
    assert r"$\Delta$m: relative drop against single tasks of the same seed" in caption
    assert rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}" in table
    assert "Delta" not in latex_table(compared(plain()), "s")


def test_the_report_has_both_columns_under_their_headings() -> None:
    table = arms_table(compared(usual()))
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)]
    place = rows[0].index("Δm [%]")
    assert rows[0][place + 1] == "Mean rank"
    assert [row[place : place + 2] for row in rows[1:]] == [
        ["10.0 ± 0.0", "1.83 ± 0.72"],
        ["8.00 ± 4.97", "1.17 ± 0.72"],
        ["–", "–"],
    ]
    assert "below 0 is a gain" in table and "Δm" not in arms_table(compared(plain()))


def test_the_methods_paragraph_says_what_delta_m_is_and_cites_it() -> None:
    answer = methods(usual())
    cited = "Δm is the mean relative drop [@maninis2019attentive; @navon2022nash] of accuracy of left and accuracy of"
    assert cited in answer.paragraph and "@inproceedings{maninis2019attentive," in answer.bibtex
    assert "Δm" not in methods(plain()).paragraph
