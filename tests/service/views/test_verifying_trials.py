"""Networks that verify a curve are trials of their own: listed and counted as work, and of no front anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import optuna
import orjson
import pytest

from findings.finding import Finding, finding_text, kept
from findings.replay import view_of as replayed
from frontends.cli.optuna_study import write_storage
from service.analysis.compared import compared
from service.analysis.trial_table import Wanted, columns, matching, ordered
from service.answers.comparison import comparison_answer
from service.answers.studies import front_answer
from service.answers.trials import trial_answer, trial_rows
from service.answers.whole import whole
from service.exports.flat_tables import points_table, reports_table, trials_table
from service.exports.methods import methods
from service.figures import FIGURES
from service.figures.figure import Asked, Figure
from service.figures.timeline import timeline_data
from service.views.fold import StudyView
from service.views.overlay import Overlay
from tests.service.studies import MANUAL, bottleneck_of, curve, event, play, play_curves, tell

PLACES = ((1e-4, 9.0, 3.0), (1e-2, 4.0, 2.0), (1.0, 1.0, 1.0))
BEST = {"i_xz_bits": 0.6, "i_zy_bits": 3.2, "accuracy": 0.99, "seconds": 7.0, "generalization_gap": 0.0}


def view(verify: int) -> StudyView:
    """A grid, a curve, and networks that are better than all of it by far."""
    alone = {"name": "all β", "weighting": {"name": "conditional", "points": 3, "verify": verify}}
    view = bottleneck_of(MANUAL, alone, seeds=(0, 1, 2))
    tell(view, event("study_started"))
    for trial_id, trial in view.all_trials.items():
        if trial.planned.verifies:
            play(view, trial_id, [BEST])
        elif trial.planned.arm == "all β":
            play_curves(view, trial_id, curve(*PLACES, accuracy=0.5, generalization_gap=0.1), seconds=16.0)
        else:
            play(view, trial_id, [{"i_xz_bits": 5.0, "i_zy_bits": 1.0, "accuracy": 0.4, "seconds": 10.0}])
    tell(view, event("study_finished"))
    return view


@pytest.fixture(scope="module")
def checked() -> StudyView:
    return view(verify=1)


@pytest.fixture(scope="module")
def bare() -> StudyView:
    return view(verify=0)


def networks(view: StudyView) -> list[str]:
    return [own for own, trial in view.all_trials.items() if trial.planned.verifies]


@pytest.mark.parametrize("figure", [figure for figure in FIGURES.values() if figure.name != "timeline"])
def test_figures_are_what_they_are_without_them(figure: Figure, checked: StudyView, bare: StudyView) -> None:
    own, other = (figure.drawn(Asked(view)) for view in (checked, bare))
    assert json.dumps(own, default=str) == json.dumps(other, default=str)


def test_the_timeline_shows_when_they_ran_by_their_beta(checked: StudyView) -> None:
    bars = dict(timeline_data(checked, datetime.now(UTC)).arms)["all β"]
    labels = {bar.trial: bar.label for bar in bars}
    assert [labels[trial] for trial in networks(checked)] == [f"β 0.01 · seed {seed}" for seed in (0, 1, 2)]


def test_fronts_points_and_arms_are_what_they_are_without_them(checked: StudyView, bare: StudyView) -> None:
    assert front_answer(checked, None, None) == front_answer(bare, None, None)
    assert list(points_table(checked).rows) == list(points_table(bare).rows)
    assert compared(checked).pairs == compared(bare).pairs


def test_they_are_listed_with_their_beta_and_what_they_are_for(checked: StudyView) -> None:
    rows = {row.id: row for row in trial_rows(checked, checked.all_trials)}
    own = [rows[trial] for trial in networks(checked)]
    assert len(rows) == 15 and len(own) == 3
    assert all(row.verifies and not row.on_front and row.arm == "all β" and row.places == 0 for row in own)
    assert all(row.config["weighting.beta"] == pytest.approx(0.01) for row in own)
    assert all(row.config["weighting.name"] == "fixed" for row in own)
    assert trial_answer(checked, own[0].id, {}).verifies
    assert "weighting.beta" in columns(checked)["varied"]


def test_they_can_be_asked_for_and_left_out(checked: StudyView) -> None:
    every = list(checked.all_trials)
    assert matching(checked, every, Wanted(where="verifies = true")) == networks(checked)
    assert set(matching(checked, every, Wanted(where="verifies = false"))) == set(checked.trials)
    assert ordered(checked, every, "-verifies")[:3] == networks(checked)


def test_tables_have_them_marked(checked: StudyView) -> None:
    table = trials_table(checked)
    places = {column.name: i for i, column in enumerate(table.columns)}
    rows = list(table.rows)
    assert [row[places["trial"]] for row in rows if row[places["verifies"]]] == networks(checked)
    assert set(networks(checked)) <= {row[1] for row in reports_table(checked).rows}


def test_methods_say_that_they_were_trained(checked: StudyView, bare: StudyView) -> None:
    said = "(for 1 β of its curve a network was trained separately with each seed, to check the curve there)"
    assert said in methods(checked).paragraph and "separately" not in methods(bare).paragraph
    assert "Of 15 trials, 15 finished" in methods(checked).paragraph


def test_the_answer_tells_them_of_their_arm_alone(checked: StudyView) -> None:
    grid, own = comparison_answer(checked).arms
    assert grid.verified is None and own.verified is not None
    assert own.counts.planned == 3 and own.verified.counts.finished == 3
    assert own.training_seconds == 48.0 and own.verified.training_seconds == 21.0
    assert own.verified.words in comparison_answer(checked).verdict
    assert own.verified.differences["i_xz_bits"].mean == pytest.approx(3.4)


def test_studies_laid_over_each_other_keep_them_apart(checked: StudyView) -> None:
    both = Overlay([checked, checked])
    assert len(both.all_trials) == 15 and len(both.trials) == 12
    (own,) = [arm.verified for arm in compared(Overlay([checked])).arms if arm.verified]
    alone = compared(checked).arms[1].verified
    assert alone is not None and own.gaps == alone.gaps and own.training_seconds == alone.training_seconds


def test_optuna_gets_the_trials_that_are_compared(checked: StudyView, tmp_path: Path) -> None:
    exported: Mapping[str, object] = orjson.loads(orjson.dumps(whole(checked)))
    assert write_storage(dict(exported), tmp_path / "study.db", force=False) == (12, 0)
    study = optuna.load_study(study_name="s", storage=f"sqlite:///{tmp_path / 'study.db'}")
    assert not {trial.user_attrs["trial"] for trial in study.trials} & set(networks(checked))
    assert len(study.trials) == 9 + 3 * 3


def test_a_kept_study_is_verified_as_the_study_itself(checked: StudyView) -> None:
    finding = kept(orjson.loads(orjson.dumps(whole(checked))), "2 cores", [], version="0.1.0")
    again = replayed(Finding.model_validate_json(finding_text(finding)))
    assert compared(again) == compared(checked)


def test_a_study_that_ends_stops_those_that_still_run() -> None:
    view = bottleneck_of({"name": "a", "weighting": {"name": "conditional", "verify": 1}}, seeds=(0,))
    (own,) = networks(view)
    play(view, own, [BEST], end="")
    tell(view, event("study_cancelled"))
    assert view.all_trials[own].state.value == "stopped"
