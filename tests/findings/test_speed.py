"""What is kept of `make bench`: rows renewed by group, and what a text can ask of them."""

from __future__ import annotations

import pytest

from findings.speed import Group, Speed, Timing, renewed, said, speed_text
from findings.texts import rendered
from tests.benchmarks.row import row_of_rounds


def timing(group: Group = "log", ratio: float = 2.75, **changed: object) -> Timing:
    given = {
        "group": group,
        "what": "the fold / parsing",
        "ratio": ratio,
        "values": (1.8123456, 0.659),
        "unit": "CPU s",
        "date": "2026-11-17",
        "machine": "2 cores, no GPU",
        "paretoscope": "0.2.0",
        "commit": "e0785b1b21",
    }
    return Timing.model_validate(given | changed)


KEPT = Speed(
    rows={
        "steps": timing("steps", 0.27, values=None, date="2026-11-16", commit=None),
        "grid-48": timing("grid", 13.46, values=(174.6, 12.97), unit="s", what="plain / ours"),
        "fold": timing(),
    }
)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("ratio(fold)", "2.8"),
        ("ratio(grid-48)", "13"),
        ("ratio(steps)", "0.27"),
        ("first(grid-48)", "175 s"),
        ("second(grid-48)", "13 s"),
        ("second(fold)", "0.66 CPU s"),
        ("dates", "2026-11-16 and 2026-11-17"),
        ("dates(grid; log)", "2026-11-17"),
        ("machines", "2 cores, no GPU"),
        ("machines(steps)", "2 cores, no GPU"),
    ],
)
def test_a_text_can_ask_for_a_number_of_a_row(asked: str, text: str) -> None:
    assert said(asked, KEPT) == text


def test_a_median_over_rounds_is_told_with_its_interval() -> None:
    kept = Speed(rows={"every": timing("every", 1.6249, between=(1.6012345, 1.652))})
    assert said("ratio(every)", kept) == "1.62 (1.6 to 1.65)"
    assert "| 1.62 (1.6 to 1.65) | 1.8 CPU s / 0.66 CPU s |" in said("by row", kept)
    assert '"between": [1.60123, 1.652]' in speed_text(kept) and "between" not in speed_text(KEPT)


def test_a_row_of_rounds_is_the_median_of_their_ratios_not_the_ratio_of_medians() -> None:
    row = row_of_rounds("own-x", "own", "a / b", [2.0, 4.0, 6.0], [1.0, 1.0, 6.0], "s")
    assert (row.ratio, row.first, row.second) == (2.0, 4.0, 1.0)
    assert row.between == (1.0, 4.0), "of three rounds the least and the largest"


def test_the_table_has_every_row_with_its_day_and_commit() -> None:
    head, rule, *rows = said("by row", KEPT).splitlines()
    assert head == "| what | ratio | measured | when |" and rule.count("---") == 4
    assert rows == [
        "| the fold / parsing | 0.27 |  | 2026-11-16, 0.2.0 |",
        "| plain / ours | 13 | 175 s / 13 s | 2026-11-17, e0785b1b21 |",
        "| the fold / parsing | 2.8 | 1.8 CPU s / 0.66 CPU s | 2026-11-17, e0785b1b21 |",
    ]
    assert said("by row(grid)", KEPT).splitlines()[2:] == rows[1:2]
    assert said("by row(log; steps)", KEPT).splitlines()[2:] == [rows[0], rows[2]]


def test_a_table_of_models_says_whether_and_why_they_stack() -> None:
    words = {"what": "a net, 4 members: one by one / stacked", "between": (1.6, 1.7)}
    stacks = timing("models", 1.65, stacking="stacked: 4 members are 1.6 times as fast", apart=2.34567e-7, **words)
    alone = timing("models", 1.0, stacking="not stacked: no rule", **words)
    alone = alone.model_copy(update={"ratio": None, "values": None, "between": None})
    kept = Speed(rows={"fold": timing(), "net": stacks, "lstm": alone})
    *_, first, second = said("by model", kept).splitlines()
    assert first.startswith("| a net, 4 members | yes: 4 members are 1.6 times as fast | 1.65 (1.6 to 1.7) | 2e−7 |")
    assert second.startswith("| a net, 4 members | no: no rule | – | – |")
    text = speed_text(kept)
    assert '"apart": 2.34567e-07' in text and Speed.model_validate_json(text).rows["lstm"] == alone
    with pytest.raises(ValueError, match="no row of a model"):
        said("by model", KEPT)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("ratio(nothing)", "no row 'nothing'; kept: steps, grid-48, fold"),
        ("speed of it", "is nothing that can be asked"),
        ("first(steps)", "only the ratio was kept"),
        ("by row(fast)", "'fast' is no group of rows"),
        ("by row(cohort)", "no row of cohort"),
        ("dates(fast)", "'fast' is no group of rows"),
    ],
)
def test_what_cannot_be_answered_is_refused(asked: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        said(asked, KEPT)
    assert words in str(refused.value)


def test_rows_of_one_group_are_renewed_and_the_others_stay() -> None:
    new = renewed(KEPT, {"fold": timing(ratio=3.0), "cohort-480": timing("cohort"), "restart": timing(ratio=1.5)})
    assert list(new.rows) == ["steps", "cohort-480", "grid-48", "fold", "restart"], "in the order of the groups"
    assert new.rows["steps"] == KEPT.rows["steps"] and new.rows["fold"].ratio == 3.0


def test_what_is_kept_is_read_as_it_was_written_but_for_digits() -> None:
    text = speed_text(KEPT)
    again = Speed.model_validate_json(text)
    assert again.rows["fold"].values == (1.81235, 0.659) and speed_text(again) == text
    assert again.rows["steps"] == KEPT.rows["steps"] and len(text.splitlines()) == 2 + len(KEPT.rows)


def test_a_page_has_the_table_on_lines_of_its_own() -> None:
    page = "<!--study: speed-->\n<!--= by row --><!--/-->, of <!--= speed: dates --><!--/-->"
    text = rendered(page, "p", lambda name, asked: said(asked, KEPT) if name == "speed" else "")
    assert "-->\n| what |" in text and "|\n<!--/-->, of" in text and "-->2026-11-16 and 2026-11-17<!--/-->" in text
