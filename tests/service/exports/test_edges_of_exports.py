"""What is taken home at its edges: tables of many rows, reports that arrive meanwhile, long reasons, odd names."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pandas as pd
import pytest

from service.analysis.compared import compared
from service.contract.wire.plotly import DrawnFigure
from service.exports.flat_tables import Column, Table, as_kind, reports_table
from service.exports.flat_tables import trials_table as flat_trials
from service.exports.formats import csv_pieces, harmless, parquet_bytes
from service.exports.names import LONGEST, disposition, file_stem
from service.exports.report import report
from service.exports.report_tables import MARKS, MOST_TRIALS, arms_table, trials_table
from service.views.fold import StudyView
from tests.service.bench import Bench
from tests.service.exports.test_report_tables import rows_of
from tests.service.studies import MANUAL, MIB, bottleneck_of, event, play, study_of, tell


def numbers(count: int) -> Table:
    return Table([Column("n", "int")], iter([(i,) for i in range(count)]))


@pytest.mark.parametrize("count", [0, 1, 50_000, 100_001])
def test_a_parquet_file_has_every_row_once_however_many(count: int) -> None:
    frame = pd.read_parquet(io.BytesIO(parquet_bytes(numbers(count))))
    assert frame["n"].tolist() == list(range(count))


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1000])
def test_a_csv_file_has_every_row_once_however_many(count: int) -> None:
    text = "".join(csv_pieces(numbers(count)))
    assert text == "".join(f"{line}\r\n" for line in ["n", *range(count)])


def test_no_cell_of_a_downloaded_csv_is_a_formula(bench: Bench) -> None:
    arms = [{"name": name, "weighting": {"name": "mib"}} for name in ("=1+1", "@SUM(A1)", "-1")]
    study = bench.submit(arms=arms)
    answer = bench.ask("GET", f"/api/studies/{study}/export", params={"format": "csv"})
    rows = list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert [row["arm"] for row in rows] == ["'=1+1", "'@SUM(A1)", "'-1"]


@pytest.mark.parametrize("before", ["", " ", "\t", "\r", "\n", " \t", "\r\n "])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@"])
def test_a_text_that_a_spreadsheet_would_run_is_protected_whatever_space_stands_before_it(
    before: str, sign: str
) -> None:
    assert harmless(f"{before}{sign}1+1") == f"'{before}{sign}1+1"


@pytest.mark.parametrize("cell", ["", " ", "a=1", "1-2", " β @ 0.1", "'=1", -1.5, -3, True, None])
def test_numbers_below_zero_and_texts_that_only_contain_a_sign_stay_as_they_are(cell: object) -> None:
    assert harmless(cell) is cell


def test_the_head_of_a_csv_file_is_no_formula_either() -> None:
    table = Table([Column("=1+1", "float"), Column("n", "float")], iter([(-1.5, -2.5)]))
    assert "".join(csv_pieces(table)) == "'=1+1,n\r\n-1.5,-2.5\r\n"


def test_a_table_is_of_the_moment_it_was_asked_for() -> None:
    view = bottleneck_of(MIB, seeds=(0,))
    (trial,) = view.trials
    tell(view, event("report", trial=trial, metrics={"epoch": 1, "accuracy": 0.5}))
    table = reports_table(view)
    tell(view, event("report", trial=trial, metrics={"epoch": 2, "accuracy": 0.75}))
    assert [row[4] for row in table.rows] == [1]


def test_a_value_takes_the_type_of_its_column() -> None:
    assert (as_kind(3, "float"), type(as_kind(3, "float"))) == (3.0, float)
    assert (as_kind(3.0, "int"), type(as_kind(3.0, "int"))) == (3, int)
    assert (as_kind(True, "bool"), as_kind("β", "string"), as_kind(None, "int")) == (True, "β", None)
    assert (as_kind([64, 32], "string"), as_kind(True, "string"), as_kind({"β": 1}, "string")) == (
        "[64, 32]",
        "true",
        '{"β": 1}',
    )


def test_metrics_and_settings_stand_in_their_own_columns() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=(0,))
    table = flat_trials(view)
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    assert len(set(names)) == len(names) and names[-len(view.metrics) :] == view.metrics
    assert [row["config.weighting.beta"] for row in rows] == [0.01, 0.1, 1.0, None]
    assert {row["study"] for row in rows} == {"s1"} and [row["trial"] for row in rows] == list(view.trials)
    assert all(row["accuracy"] is None for row in rows)


# The report


def many(count: int) -> StudyView:
    return bottleneck_of(MIB, seeds=range(count), limits={"trials": 1000})


def test_a_report_of_three_hundred_trials_leaves_nothing_out_and_says_nothing() -> None:
    whole, cut = trials_table(many(MOST_TRIALS)), trials_table(many(MOST_TRIALS + 1))
    assert whole.count("<tr>") == cut.count("<tr>") == MOST_TRIALS + 1
    assert "note" not in whole and "300 of 301 trials, those on the front first" in cut


def test_an_accuracy_that_is_an_objective_has_one_column() -> None:
    objectives = [{"metric": "accuracy", "goal": "maximize"}, {"metric": "i_xz_bits", "goal": "minimize"}]
    table = trials_table(bottleneck_of(MIB, objectives=objectives))
    assert table.count("class=num>accuracy</th>") == 1
    assert list(rows_of(table)[0])[-4:] == ["Seed", "accuracy", "I(X;Z) [bits]", "Training"]
    assert "accuracy" not in trials_table(
        bottleneck_of(
            {"name": "t", "problem": {"name": "toy"}, "weighting": {"name": "uniform"}}, data={"name": "digits"}
        )
    )


def test_a_long_reason_is_cut_and_a_trial_without_one_is_not_bad() -> None:
    view = bottleneck_of(MIB)
    failed, fine = view.trials
    play(view, failed, [], "trial_failed")
    view.trials[failed].reason = "x" * 500
    play(view, fine, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0}])
    table = trials_table(view)
    rows = {row["Trial"]: row["State"] for row in rows_of(table)}
    assert rows == {fine: "finished", failed: f"failed: {'x' * 192}"}
    assert table.count("class=bad") == 1


def test_every_arm_has_its_colour_and_mark_in_both_tables() -> None:
    view = bottleneck_of(MANUAL, MIB, seeds=(0,))
    for table, count in ((arms_table(compared(view)), 1), (trials_table(view), 3)):
        assert table.count(f'style="--arm: #0072B2" aria-hidden="true">{MARKS["circle"]}<') == count
        assert table.count(f'style="--arm: #D55E00" aria-hidden="true">{MARKS["diamond"]}<') == 1


def test_only_what_varies_within_an_arm_has_a_column() -> None:
    heads = list(rows_of(trials_table(bottleneck_of(MANUAL, MIB)))[0])
    assert heads == [
        "Arm",
        "Trial",
        "State",
        "Front",
        "Seed",
        "beta",
        "I(X;Z) [bits]",
        "I(Z;Y) [bits]",
        "accuracy",
        "Training",
    ]


def test_a_report_says_when_the_study_began_and_holds_its_spec_in_the_order_of_the_contract() -> None:
    view = bottleneck_of(MIB, seeds=(0,))
    text = report(view, {}, "", now=datetime(2026, 5, 6, 7, 8, tzinfo=UTC))
    assert "s1 · queued · 1 arm, 0 of 1 trial finished, 0 failed, 0 collapsed · 1 seed" in text
    tell(view, event("study_started"), at="2026-03-04T05:06:07+00:00")
    assert "s1 · running, 2026-03-04 · 1 arm" in report(view, {}, "")
    spec = text[text.index("name: s\n") :]
    places = [spec.index(f"\n{key}:") for key in ("data", "model", "training", "seeds", "arms", "objectives", "limits")]
    assert places == sorted(places)


def test_letters_of_any_script_stay_letters_in_the_spec_of_a_report() -> None:
    assert "name: manual β\n" in report(bottleneck_of(MANUAL, seeds=(0,)), {}, "")


def test_why_a_figure_is_empty_is_words_not_markup() -> None:
    figure = DrawnFigure("T", "s", "", "<i>a</i> and b have no seed in common.", None, {"data": [], "layout": {}})
    text = report(study_of(), {"f": figure}, "")
    assert "&lt;i&gt;a&lt;/i&gt; and b have no seed in common." in text and "<i>a</i>" not in text


def test_a_figures_summary_is_read_aloud() -> None:
    figure = DrawnFigure("Title", "sub", 'Title. a "finding"', None, None, {"data": [{"x": [1.0]}], "layout": {}})
    text = report(study_of(), {"f": figure}, "")
    assert 'id="figure-f" role="figure" aria-label="Title. a &quot;finding&quot;"></div>' in text


def test_what_a_figure_found_is_written_above_it() -> None:
    figure = DrawnFigure("Title", "sub", "", None, None, {"data": [], "layout": {}}, "a < b conflict.")
    plain = figure._replace(finding="")
    written = "<h3>Title</h3><p>a &lt; b conflict.</p><p class='muted'>sub</p>"
    assert written in report(study_of(), {"f": figure}, "")
    assert "<h3>Title</h3><p class='muted'>sub</p>" in report(study_of(), {"f": plain}, "")


# File names


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("β/../etc", "β-etc-s1"),
        ("a  b__c", "a-b-c-s1"),
        ("...", "s1"),
        ("x" * LONGEST, "x" * LONGEST + "-s1"),
        ("x" * (LONGEST + 1), "x" * LONGEST + "-s1"),
        ("x" * (LONGEST - 1) + " y", "x" * (LONGEST - 1) + "-s1"),
        ("e\u0301", "\u00e9-s1"),
    ],
)
def test_a_file_is_named_after_its_study(name: str, stem: str) -> None:
    assert file_stem(name, "s1") == stem


def test_a_file_name_has_a_form_for_old_readers_too() -> None:
    assert disposition("β-é-s1.csv") == "attachment; filename=\"e-s1.csv\"; filename*=UTF-8''%CE%B2-%C3%A9-s1.csv"
    assert disposition('a";b.csv', "inline").startswith('inline; filename="ab.csv"; ')
