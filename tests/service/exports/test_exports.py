"""What a user takes home comes back as it was: through pandas, through JSON, through a browser's eyes."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pytest

from paretoscope import __version__
from service.answers.whole import whole
from service.contract.study.parsing import check_study
from service.contract.wire.answers.exports import CitedPaper
from service.contract.wire.plotly import DrawnFigure, PlotlyFigure
from service.contract.wording.lists import listed
from service.contract.wording.numbers import plural
from service.exports.flat_tables import Column, Table, kind_of, reports_table, table_of, trials_table
from service.exports.formats import csv_pieces, parquet_bytes
from service.exports.methods import methods
from service.exports.names import disposition, file_stem
from service.exports.report import filled, report, script_json
from service.exports.report_tables import MOST_TRIALS
from service.exports.settings_in_words import settings_words, value_words
from service.exports.version import SOFTWARE, software
from service.routes.exports import report_of
from service.views.fold import StudyView
from tests.processes import Running
from tests.service.studies import (
    ALL_BETAS,
    FILLED,
    MANUAL,
    MIB,
    bottleneck_of,
    curve,
    event,
    play,
    play_curves,
    study_of,
    tell,
)

EVIL = '</script><img src=x onerror="alert(1)">'
ODD = 'a "quoted", β\nname; =1+1'


def reported(rate: float, **more: float | None) -> dict[str, float | None]:
    return {"seconds": 1.5, "i_xz_bits": rate, "i_zy_bits": rate / 2, "accuracy": 0.9, "loss_info": rate, **more}


def finished(*arms: dict[str, Any], seeds: Sequence[int] = (0, 1)) -> StudyView:
    """Every trial reports two epochs; the first one fails, the last one collapses."""
    view = bottleneck_of(*arms, seeds=seeds)
    trials = list(view.trials)
    for i, trial in enumerate(trials):
        last = reported(0.01 if trial == trials[-1] else 2.0 + i, accuracy=None if i == 1 else 0.1 * i)
        play(view, trial, [reported(1.0), last], "trial_failed" if i == 0 else "trial_finished")
    return view


def from_csv(view: StudyView, name: Any = "trials") -> pd.DataFrame:
    return pd.read_csv(io.StringIO("".join(csv_pieces(table_of(view, name)))))


def from_parquet(view: StudyView, name: Any = "trials") -> pd.DataFrame:
    return pd.read_parquet(io.BytesIO(parquet_bytes(table_of(view, name))))


def test_the_table_of_points_has_a_row_for_each_place_and_one_for_a_single_point() -> None:
    view = bottleneck_of(ALL_BETAS, MIB, seeds=(0,))
    many, one = view.trials
    play_curves(view, many, curve((0.01, 4.0, 2.0), (0.1, 4.0, 1.0), (1.0, 0.01, 0.0)), seconds=2.5)
    for table in (from_csv(view, "points"), from_parquet(view, "points")):
        assert list(table["trial"]) == [many] * 3, "what has not begun has no row"
    play(view, one, [reported(1.0)])
    for table in (from_csv(view, "points"), from_parquet(view, "points")):
        assert list(table["trial"]) == [many, many, many, one]
        assert list(table["where.beta"])[:3] == [0.01, 0.1, 1.0] and np.isnan(table["where.beta"][3])
        assert list(table["collapsed"]) == [False, False, True, False]
        assert list(table["on_front"]) == [True, False, False, True]
        assert list(table["seconds"]) == [2.5, 2.5, 2.5, 1.5]
        assert list(table["i_xz_bits"]) == [4.0, 4.0, 0.01, 1.0]
    assert len(from_csv(view, "trials")) == 2 and len(from_csv(view, "reports")) == 2


@pytest.mark.parametrize("read", [from_csv, from_parquet])
def test_a_row_per_trial_comes_back_with_its_types(read: Any) -> None:
    view = finished({**MANUAL, "name": ODD}, MIB)
    frame = read(view)
    assert list(frame["trial"]) == list(view.trials)
    assert set(frame["arm"]) == {ODD, "MIB"}
    assert frame["seed"].dtype == np.int64 and frame["seed"].tolist()[:4] == [0, 1, 0, 1]
    assert frame["on_front"].dtype == bool and frame["on_front"].tolist() == [False, *[True] * 6, False]
    assert frame["collapsed"].dtype == bool and frame["collapsed"].tolist() == [False] * 7 + [True]
    assert frame["accuracy"].dtype == np.float64 and np.isnan(frame["accuracy"][1])
    assert frame["training_seconds"].tolist() == [1.5] * 8
    assert frame["state"].tolist() == ["failed", *["finished"] * 7]
    assert frame["config.weighting.beta"].tolist()[:6] == [0.01, 0.01, 0.1, 0.1, 1.0, 1.0]
    assert frame["config.weighting.beta"][6:].isna().all(), "MIB has no beta"
    assert frame["config.weighting.mu"].isna().tolist() == [True] * 6 + [False] * 2


@pytest.mark.parametrize("read", [from_csv, from_parquet])
def test_a_row_per_report_comes_back_in_order(read: Any) -> None:
    view = finished()
    frame = read(view, "reports")
    assert frame["epoch"].dtype == np.int64 and frame["epoch"].tolist() == [1, 2] * 8
    assert frame["trial"].tolist() == [trial for trial in view.trials for _ in range(2)]
    assert frame["i_xz_bits"].tolist()[:4] == [1.0, 2.0, 1.0, 3.0]


def test_csv_keeps_every_digit_of_a_float() -> None:
    view = bottleneck_of()
    third = 1 / 3
    play(view, next(iter(view.trials)), [reported(third)])
    assert from_csv(view)["i_xz_bits"][0] == third == from_parquet(view)["i_xz_bits"][0]


def test_a_missing_value_is_an_empty_field_and_a_word_is_quoted_where_it_must_be() -> None:
    columns = [Column(name, "string") for name in "abcdef"]
    row = ('say "a", b\nc', None, "", 0.1, True, 3)
    assert "".join(csv_pieces(Table(columns, iter([row])))) == ('a,b,c,d,e,f\r\n"say ""a"", b\nc",,,0.1,True,3\r\n')


def test_a_study_without_reports_has_its_columns_and_their_types() -> None:
    view = bottleneck_of()
    assert len(from_csv(view)) == 8 and from_csv(view, "reports").empty
    reports = from_parquet(view, "reports")
    assert reports.empty and reports["epoch"].dtype == np.int64 and reports["accuracy"].dtype == np.float64
    assert from_parquet(view)["accuracy"].isna().all()
    assert [column.name for column in reports_table(view).columns][:5] == ["study", "trial", "arm", "seed", "epoch"]


def test_csv_comes_in_pieces() -> None:
    view = bottleneck_of(
        {**MANUAL, "weighting": {"name": "fixed", "beta": {"grid": {"from": 0.1, "to": 1.0, "count": 600}}}},
        limits={"trials": 2000},
    )
    pieces = list(csv_pieces(trials_table(view)))
    assert [piece.count("\r\n") for piece in pieces] == [501, 500, 200]


def test_a_column_has_the_narrowest_type_that_holds_it() -> None:
    assert kind_of([1, None, 2]) == "int"
    assert kind_of([1, 2.5]) == "float"
    assert kind_of([True, False]) == "bool"
    assert kind_of([True, 2]) == kind_of(["sum", 0.5]) == kind_of([[64, 64]]) == kind_of([None]) == "string"


def test_a_word_among_numbers_makes_the_column_words() -> None:
    arms = [{"name": str(scale), "weighting": {"name": "mib", "info_scale": scale}} for scale in ("sum", 0.5)]
    assert from_parquet(bottleneck_of(*arms))["config.weighting.info_scale"].tolist() == ["sum", "sum", "0.5", "0.5"]


def test_everything_as_json_is_enough_to_make_the_study_again() -> None:
    view = finished()
    again = json.loads(orjson.dumps(whole(view)))
    assert check_study(again["study"]["spec"]) == view.study
    assert [len(trial["reports"]) for trial in again["trials"]] == [2] * 8
    assert again["comparison"]["verdict"] and again["paretoscope"] == __version__


def test_a_file_name_is_safe_and_still_says_which_study() -> None:
    assert file_stem("manual β vs. MIB", "s1") == "manual-β-vs-MIB-s1"
    assert file_stem("../../etc/passwd", "s1") == "etc-passwd-s1"
    assert file_stem('";\r\n', "s1") == "s1"
    assert len(file_stem("x" * 200, "s1")) == 63
    assert disposition("β-1.csv") == "attachment; filename=\"1.csv\"; filename*=UTF-8''%CE%B2-1.csv"


def test_the_export_route_names_the_file_and_refuses_other_formats(service: Running, spec: dict[str, Any]) -> None:
    study = service.post("/api/studies", json={**spec, "name": "ü/b"}).json()["id"]
    path = f"/api/studies/{study}/export"
    csv = service.get(path)
    assert csv.headers["content-type"] == "text/csv; charset=utf-8" and csv.text.count("\r\n") == 7
    assert f'filename="u-b-{study}-trials.csv"' in csv.headers["content-disposition"]
    parquet = service.get(path, format="parquet", table="reports")
    assert pd.read_parquet(io.BytesIO(parquet.content)).empty
    assert service.get(path, format="json").json()["study"]["id"] == study
    assert service.get(path, format="xlsx").json()["error"]["details"][0]["path"] == "format"
    assert service.get("/api/studies/s0/export").status_code == 404
    assert service.get(f"/api/studies/{study}/methods").json()["paragraph"].startswith("Data: scikit-learn")
    page = service.get(f"/api/studies/{study}/report")
    assert page.headers["content-type"] == "text/html; charset=utf-8" and page.text.startswith("<!doctype html>")


def test_words_of_a_user_cannot_leave_their_place_in_the_report() -> None:
    view = finished({**MANUAL, "name": EVIL}, {**MIB, "name": "{{plotly}}"})
    text = report_of(view, None)
    assert EVIL not in text and "<img" not in text
    assert "&lt;/script&gt;&lt;img" in text and "\\u003c/script>" in text
    assert text.count("{{plotly}}") > 2, "a name is no place in the template"
    assert script_json("</script>") == '"\\u003c/script>"'
    assert filled("{{a}}{{b}}", {"a": lambda: "{{b}}", "b": lambda: "2"}) == "{{b}}2"


def test_the_report_says_what_it_is_made_of() -> None:
    text = report_of(finished(), None, now=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    assert f"Made 2026-01-02 03:04 UTC by Paretoscope {__version__}" in text
    assert "Seeds 0, 1. Reference point I(X;Z) 32, I(Z;Y) 0." in text
    assert "2 arms, 7 of 8 trials finished, 1 failed, 1 collapsed · 2 seeds" in text
    assert "@unpublished{anonymous2024mib," in text and '<pre tabindex="0">name: s\ndata:\n' in text
    assert "<td class=bad>failed: " in text


def test_a_report_of_many_trials_shows_the_front_and_says_what_it_leaves_out() -> None:
    grid = {"name": "fixed", "beta": {"grid": {"from": 0.01, "to": 1.0, "count": 200}}}
    view = bottleneck_of({**MANUAL, "weighting": grid})
    best = list(view.trials)[-1]
    play(view, best, [reported(1.0)])
    text = report_of(view, None)
    rows = text[text.index('class="trials"') :]
    assert rows.count("<tr>") == MOST_TRIALS + 1
    assert rows.index(best) < rows.index(next(iter(view.trials)))
    assert "300 of 400 trials, those on the front first" in text


def test_settings_are_read_aloud() -> None:
    study = bottleneck_of().study
    assert settings_words(study.model) == "widths 64–64, latent 16, head none, activation relu"
    assert settings_words(study.model, only_changed=True) == ""
    assert settings_words(study.arms[0].weighting) == "beta in {0.01, 0.1, 1}"
    many = bottleneck_of({**MANUAL, "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3, 0.4]}}}).study
    assert settings_words(many.arms[0].weighting) == "beta in a grid of 4 values from 0.1 to 0.4"
    assert value_words({"left": 1.0, "right": True}) == "left 1 and right on"
    assert (listed(["a", "b", "c"]), plural(1, "seed"), plural(1200, "trial")) == (
        "a, b and c",
        "1 seed",
        "1,200 trials",
    )


def test_the_methods_say_what_was_done_with_the_papers_of_what_was_used() -> None:
    tuned = {
        "name": "tuned",
        "problem": {"name": "bottleneck", "rate": "nib", "transform": "square"},
        "weighting": {"name": "fixed", "beta": {"range": {"from": 0.01, "to": 1.0}}},
        "search": {"name": "optuna", "sampler": "nsga2", "trials": 4},
    }
    done = methods(finished(MANUAL, MIB, tuned, seeds=(0, 1, 2)))
    text = done.paragraph
    for words in (
        "Data: scikit-learn's handwritten digits (1,797 grey images of 8×8",
        "trained for 20 epochs with adam [@kingma2015adam], learning rate 0.001, batches of 128, "
        "from 3 seeds (0, 1, 2)",
        "“manual β” (information bottleneck [@tishby1999ib] with rate vib [@alemi2017deep], "
        "weighting fixed: beta in {0.01, 0.1, 1}; 9 trials)",
        "weighting mib [@anonymous2024mib]; 3 trials)",
        "rate nib [@kolchinsky2019nib] and transform square [@kolchinsky2019caveats]",
        "searched by Optuna [@akiba2019optuna] with the sampler nsga2 [@deb2002nsga2]; 4 trials)",
        "Fronts are of least I(X;Z) [bits] and most I(Z;Y) [bits], compared by hypervolume",
        "reference point (32, 0), one hypervolume per arm and seed",
        "paired t-tests over seeds, adjusted by Holm's method [@holm1979test]",
        "Of 16 trials, 15 finished (1 of them collapsed to a code of less than 0.05 bit or chance level and left out "
        "of every front) "
        "and 1 failed.",
        f"Paretoscope {__version__} with PyTorch",
    ):
        assert words in text
    keys = [citation.key for citation in done.citations]
    assert all(f"{{{key}," in done.bibtex and f"@{key}" in text for key in keys)
    assert done.bibtex.count("@") == len(set(keys))
    assert CitedPaper(key="deb2002nsga2", reason="sampler nsga2") in done.citations


def test_the_methods_say_how_a_front_was_filled() -> None:
    view = bottleneck_of(FILLED, seeds=[0])
    text = methods(view).paragraph
    papers = "[@kim2005adaptive; @fritsch1984monotone]"
    assert (
        f"values placed in the largest gaps of the front {papers} down to 0.3 of the objectives’ ranges; 12 trials)"
        in text
    )
    first, *others = view.trials
    play(view, first, [])
    tell(view, event("study_finished", spared=others))
    assert "ranges; 1 trial)" in methods(view).paragraph, "what was spared was never trained"
    aim = {"name": "fill", "trials": 12, "tolerance": 0.3, "aim": "hypervolume"}
    aimed = bottleneck_of({**FILLED, "search": aim}, seeds=[0])
    text = methods(aimed).paragraph
    assert f"placed where the front can add most to the hypervolume {papers} until no gap is above 0.3 of" in text


def test_the_methods_of_one_seed_claim_no_test() -> None:
    text = methods(study_of(seeds=[0])).paragraph
    assert "There was one seed, so there is no interval and no test." in text
    assert (
        "t-test" not in text
        and "collapsed" not in text
        and "Of 1 trial, 0 finished, 0 failed and 1 did not end." in text
    )


def test_attacks_and_estimators_are_cited() -> None:
    evaluation = {"attacks": [{"name": "pgd", "epsilon": 0.1}, {"name": "eotpgd"}], "estimators": ["mine"]}
    text = methods(bottleneck_of(evaluation=evaluation)).paragraph
    assert "under pgd (ε 0.1) [@madry2018pgd] and eotpgd (ε 0.0314) [@athalye2018eot; @zimmermann2019comment]" in text
    assert "also estimated by mine [@belghazi2018mine] on at most 1,000 points" in text


def test_what_was_reported_beyond_the_promise_has_columns_after_those_that_were_promised() -> None:
    view = bottleneck_of(MIB, seeds=(0,))
    play(view, next(iter(view.trials)), [reported(1.0, zeta=0.5, alpha=0.25)])
    frame = from_csv(view)
    assert list(frame.columns)[-2:] == ["alpha", "zeta"] and frame["zeta"].tolist() == [0.5]
    assert list(from_csv(view, "reports").columns)[-2:] == ["alpha", "zeta"]


def test_a_row_says_where_and_from_when_to_when_its_trial_ran() -> None:
    view = bottleneck_of(MIB, seeds=(0,))
    (trial,) = view.trials
    tell(view, event("trial_started", trial=trial, host="node-1/0"), at="2026-01-01T00:00:01+00:00")
    tell(view, event("report", trial=trial, metrics=reported(1.0)), at="2026-01-01T00:00:02+00:00")
    tell(view, event("trial_failed", trial=trial, reason="diverged"), at="2026-01-01T00:00:03+00:00")
    (row,) = from_csv(view).to_dict("records")
    assert (row["started_at"], row["ended_at"]) == ("2026-01-01T00:00:01+00:00", "2026-01-01T00:00:03+00:00")
    assert (row["host"], row["state"], row["reason"], row["training_seconds"]) == (
        "node-1/0",
        "failed",
        "diverged",
        1.5,
    )


def test_a_figure_without_values_stands_in_the_report_as_words() -> None:
    full: PlotlyFigure = {"data": [{"x": [1.0], "y": [2.0]}], "layout": {}}
    nothing: PlotlyFigure = {"data": [], "layout": {}}
    one = DrawnFigure("First <b>", "s", "First. s", "Nothing yet.", 99.0, nothing)
    two = DrawnFigure("Second", "t", "Second. t", None, 99.0, full)
    text = report(finished(), {"one": one, "two": two}, "PLOTLY")
    assert '<div class="plot empty muted">Nothing yet.</div>' in text and 'id="figure-one"' not in text
    assert '<div class="plot" id="figure-two" role="figure" aria-label="Second. t" style="height: 99px">' in text
    assert "<h3>First &lt;b&gt;</h3>" in text and "PLOTLY" in text
    begin = text.index(">", text.index('id="figures"')) + 1
    assert json.loads(text[begin : text.index("</script>", begin)]) == {"two": full}


def test_an_arm_alone_is_compared_with_nobody() -> None:
    text = methods(finished(MIB, seeds=(0, 1, 2))).paragraph
    assert "95 % Student t interval over 3 seeds." in text and "paired" not in text and "Holm" not in text


def test_a_paper_is_cited_once_for_each_thing_it_is_for() -> None:
    reasons = [(paper.key, paper.reason) for paper in methods(finished(MANUAL, MIB)).citations]
    assert len(reasons) == len(set(reasons)) and ("tishby1999ib", "problem bottleneck") in reasons


def test_only_installed_packages_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SOFTWARE, "no-such-package", "Nothing")
    assert "no-such-package" not in software() and "torch" in software()
