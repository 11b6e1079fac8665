"""Wherever a claim is read it says which split chose: in the verdict, in tables and prose for papers, above figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.analysis.candidates import chooser
from service.analysis.compared import compared
from service.answers.studies import front_answer, study_summary
from service.answers.trials import trial_answer
from service.answers.whole import whole
from service.exports.flat_tables import TableName, table_of
from service.exports.latex import latex_table
from service.exports.methods import methods
from service.figures import FIGURES
from service.figures.figure import Asked
from service.figures.latent_map import latent_data
from service.store.artifacts import Artifacts
from service.views.fold import StudyView
from service.views.maps import Maps
from service.views.overlay import Overlay
from tests.service.figures.test_latent_figure import keep
from tests.service.own_code import study_of as own_study_of
from tests.service.studies import MANUAL, MIB, bottleneck_of, event, play, tell, view_of

ITSELF = "chosen on the test split itself, which flatters arms with many trials"
HELD = "chosen on the validation split, shown on the test split"
WORDS = {"validation": HELD, "test": ITSELF}


def finished(selection: str, draw: str = "per-seed") -> StudyView:
    """βs and MIB, a little apart on the two splits."""
    data = {"name": "digits", "draw": draw, "validation_fraction": 0.25}
    evaluation = {"attacks": [{"name": "pgd"}]}
    view = bottleneck_of(MANUAL, MIB, seeds=range(3), selection=selection, data=data, evaluation=evaluation)
    for i, (trial_id, trial) in enumerate(view.trials.items()):
        rate = 3.0 + i % 4 + 0.1 * trial.planned.seed
        shown = {"i_xz_bits": rate, "i_zy_bits": rate / 4, "accuracy": 0.5 + 0.01 * i, "robust_pgd": 0.4}
        held = {f"validation_{name}": 1.01 * value for name, value in shown.items()}
        play(view, trial_id, [{**shown, **held, "seconds": 1.0}])
    tell(view, event("study_finished"))
    return view


@pytest.mark.parametrize("selection", WORDS)
def test_a_verdict_says_so_where_the_test_split_chose(selection: str) -> None:
    said = compared(finished(selection)).verdict
    by_test = selection == "test"
    assert said.endswith(f"Trials were {ITSELF}.") == by_test and (ITSELF in said) == by_test


@pytest.mark.parametrize("selection", WORDS)
def test_a_table_for_a_paper_says_which_split_chose(selection: str) -> None:
    assert f"Trials were {WORDS[selection]}." in latex_table(compared(finished(selection)), "s")


@pytest.mark.parametrize("selection", WORDS)
@pytest.mark.parametrize("figure", ["pareto-front", "hypervolume-cost", "attainment", "attainment-difference"])
def test_figures_of_fronts_say_which_split_chose(figure: str, selection: str) -> None:
    drawn = FIGURES[figure].drawn(Asked(finished(selection)))
    assert WORDS[selection] in drawn["layout"]["meta"]["subtitle"]


@pytest.mark.parametrize("selection", WORDS)
@pytest.mark.parametrize(
    "figure", ["learning-curves", "robustness", "accuracy-by-method", "convergence", "expected-gain", "filling"]
)
def test_figures_of_what_is_chosen_say_which_split_chose_it(figure: str, selection: str) -> None:
    drawn = FIGURES[figure].drawn(Asked(finished(selection)))
    other = next(iter(set(WORDS) - {selection}))
    words = drawn["layout"]["meta"]["subtitle"]
    assert f" on the {selection} split" in words and f" on the {other} split" not in words


@pytest.mark.parametrize("selection", WORDS)
def test_a_list_marks_hypervolumes_that_the_test_split_chose_itself(selection: str) -> None:
    told = study_summary(finished(selection)).flattered
    assert told == (ITSELF if selection == "test" else None)


@pytest.mark.parametrize("selection", WORDS)
def test_answers_about_fronts_and_trials_say_which_split_chose(selection: str) -> None:
    view = finished(selection)
    assert front_answer(view, None, None).selection == selection
    assert trial_answer(view, next(iter(view.trials)), {}).selection == selection
    assert whole(view).comparison.selection == selection


@pytest.mark.parametrize("selection", WORDS)
@pytest.mark.parametrize("name", ["trials", "points"])
def test_tables_have_which_split_chose_beside_what_is_on_the_front(name: TableName, selection: str) -> None:
    table = table_of(finished(selection), name)
    place = [column.name for column in table.columns].index("on_front") + 1
    assert table.columns[place] == ("selection", "string")
    assert {row[place] for row in table.rows} == {selection}


def test_studies_beside_each_other_say_so_where_one_of_them_chose_on_test() -> None:
    """Its searches and fronts saw the test split, whatever the others did."""
    held, by_test = finished("validation"), finished("test")
    by_test.id = "s2"
    for views in ([held, by_test], [by_test, held]):
        both = compared(Overlay(views))
        assert both.chooser == "test" and both.verdict.endswith(f"Trials were {ITSELF}.")


def test_where_there_is_no_split_none_is_named() -> None:
    problem = {"name": "toy"}
    grid = {"name": "by hand", "problem": problem, "weighting": {"name": "fixed", "beta": {"grid": [0.1, 1.0]}}}
    own = {"name": "MIB", "problem": problem, "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    view = bottleneck_of(grid, own)
    for i, trial in enumerate(view.trials):
        play(view, trial, [{"f1": 0.1 * i, "f2": 1 - 0.1 * i}])
    words = FIGURES["beta-sensitivity"].drawn(Asked(view))["layout"]["meta"]["subtitle"]
    assert "dashed: best configuration of arms without it, chosen" in words and "split" not in words


def test_the_methods_paragraph_tells_the_splits_the_draws_and_the_test_of_the_verdict() -> None:
    told = methods(finished("validation")).paragraph
    held = (
        "A validation split was held out, 25 % of the training examples, drawn for each seed anew: fronts, best values"
    )
    assert held in told and "what is told was measured on the test split." in told
    assert "held against the front of “manual β” of the same seed by its signed distance" in told
    assert "drawn once for all seeds" in methods(finished("validation", draw="shared")).paragraph
    by_test = methods(finished("test")).paragraph
    assert f"Trials of fronts, best values and searches were {ITSELF}." in by_test and "held out" not in by_test


def test_before_a_result_the_study_says_what_will_choose() -> None:
    """Its log has nothing of the held-out split yet, as one from before there was such a split."""
    waiting = bottleneck_of(MANUAL, MIB)
    assert chooser(waiting) == "validation" and compared(waiting).chooser == "validation"
    assert chooser(bottleneck_of(MANUAL, selection="test")) == "test"
    assert "A validation split was held out: fronts" in methods(view_of(own_study_of())).paragraph


def test_the_trial_whose_codes_are_drawn_is_chosen_by_what_chooses(tmp_path: Path) -> None:
    """The first is more accurate on the validation split, the second on the test split."""
    shown = {}
    for selection in WORDS:
        view = bottleneck_of(MANUAL, seeds=[0], selection=selection, evaluation={"latent_map": {"points": 10}})
        artifacts = Artifacts(tmp_path / selection)
        for trial, held, test in zip(view.trials, (0.9, 0.7, 0.6), (0.6, 0.8, 0.5), strict=True):
            play(view, trial, [{"accuracy": test, "validation_accuracy": held}])
            keep(artifacts, trial)
        shown[selection] = list(view.trials).index(latent_data(view, Maps(artifacts)).trials[0][0].trial)
    assert shown == {"validation": 0, "test": 1}


def test_a_script_is_chosen_by_the_very_values_it_shows_and_says_so() -> None:
    """It reports one value of each metric, and which split that is of it alone knows."""
    deep = {"name": "deep", "problem": {"name": "forest", "depth": {"grid": [2, 4, 8]}}}
    flat = {"name": "flat", "problem": {"name": "forest", "depth": 1}}
    view = view_of(own_study_of(arms=[deep, flat]))
    for i, trial in enumerate(view.trials):
        play(view, trial, [{"acc": 0.5 + 0.01 * i, "leaves": 10.0 + i}])
    tell(view, event("study_finished"))
    words = "chosen by the very values that are shown, which flatters arms with many trials"
    comparison = compared(view)
    assert comparison.chooser == "shown" and comparison.verdict.endswith(f"Trials were {words}.")
    assert f"searches were {words}." in methods(view).paragraph
    assert f"Trials were {words}." in latex_table(comparison, "s")
