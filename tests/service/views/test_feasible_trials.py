"""Trials that break a constraint of their study: on no front, counted, told apart everywhere."""

from __future__ import annotations

import csv
import io
from typing import Any

from service.analysis.candidates import candidates, front_ids, front_keys
from service.analysis.compared import compared
from service.analysis.trial_table import Wanted, matching
from service.answers.comparison import comparison_answer
from service.answers.studies import front_answer, study_summary
from service.answers.trials import trial_answer
from service.exports.flat_tables import TableName, table_of
from service.exports.formats import csv_pieces
from service.exports.methods import methods
from service.exports.report_tables import arms_table, trials_table
from service.views.fold import StudyView
from service.views.selectors import counts, lost_seeds
from tests.service.studies import ALL_BETAS, MANUAL, MIB, bottleneck_of, curve, event, play, play_curves, tell

ACCURATE: dict[str, Any] = {"constraints": [{"metric": "accuracy", "at_least": 0.9}]}


def placed(bits: float, label: float, accuracy: float | None) -> list[dict[str, float | None]]:
    return [{"i_xz_bits": bits, "i_zy_bits": label, "validation_accuracy": accuracy, "accuracy": 0.95}]


def played() -> StudyView:
    """Of a grid's six trials the third dominates all and breaks the constraint; MIB keeps it with one seed only."""
    view = bottleneck_of(MANUAL, MIB, **ACCURATE)
    tell(view, event("study_started", job="j"))
    manual, mib = ([t for t, own in view.trials.items() if own.planned.arm == arm] for arm in ("manual β", "MIB"))
    for i, trial in enumerate(manual):
        play(view, trial, placed(2.0, 3.0, 0.5) if i == 2 else placed(4.0 + i, 2.0 + i / 10, 0.95))
    play(view, mib[0], placed(3.0, 1.0, 0.9))
    play(view, mib[1], placed(3.0, 1.0, 0.89))
    return view


def test_an_infeasible_trial_lies_on_no_front_and_has_no_hypervolume() -> None:
    view = played()
    third = list(view.trials)[2]
    assert view.trials[third].feasible is False and third not in front_ids(view)
    assert third not in {trial.id for trial in candidates(view)}
    assert third not in {point.trial for point in front_answer(view, None, None).points}
    free = bottleneck_of(MANUAL, MIB)
    for trial, own in view.trials.items():
        play(free, trial, own.reports)
    assert front_ids(free) == {third}, "without the constraint it dominates all others"
    assert free.trials[third].feasible is None


def test_a_seed_whose_trials_are_all_infeasible_is_lost_and_counts_with_0() -> None:
    view = played()
    assert lost_seeds(view) == {("MIB", 1)}
    mib = next(arm for arm in compared(view).arms if arm.name == "MIB")
    assert mib.result.by_seed[1] == 0.0 and mib.result.by_seed[0] > 0


def test_infeasible_trials_are_counted_and_the_verdict_says_so() -> None:
    view = played()
    assert (counts(view).infeasible, counts(view, "MIB").infeasible) == (2, 1)
    assert study_summary(view).counts.infeasible == 2
    said = "2 of 8 finished trials (manual β 1, MIB 1) break accuracy ≥ 0.9 and lie on no front."
    assert said in compared(view).verdict
    assert [arm.counts.infeasible for arm in comparison_answer(view).arms] == [1, 1]


def test_methods_and_report_name_the_constraint() -> None:
    view = played()
    paragraph = methods(view).paragraph
    assert "Only trials with accuracy ≥ 0.9, by the validation split, count for a front." in paragraph
    assert "2 of the finished ones infeasible" in paragraph
    assert ">Infeasible</th>" in arms_table(compared(view)) and "infeasible</td>" in trials_table(view)


def test_the_list_of_trials_can_be_asked_for_either() -> None:
    view = played()
    infeasible = matching(view, list(view.trials), Wanted(feasible=False))
    assert [view.trials[trial].feasible for trial in infeasible] == [False, False]
    assert len(matching(view, list(view.trials), Wanted(feasible=True))) == 6
    assert matching(view, list(view.trials), Wanted(where="feasible = false")) == infeasible
    assert trial_answer(view, infeasible[0], {}).feasible is False


def cells(view: StudyView, table: TableName) -> list[str]:
    text = "".join(csv_pieces(table_of(view, table))).lstrip("\ufeff")
    return [row["feasible"] for row in csv.DictReader(io.StringIO(text))]


def test_tables_have_a_column_for_it() -> None:
    view = played()
    assert cells(view, "trials") == ["True", "True", "False", *["True"] * 4, "False"]
    assert cells(view, "points") == cells(view, "trials")


def test_a_running_trial_is_judged_by_its_last_report_and_one_that_ends_without_the_metric_breaks_it() -> None:
    view = bottleneck_of(MIB, seeds=[0], **ACCURATE)
    (trial,) = view.trials
    assert view.trials[trial].feasible is None
    play(view, trial, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0}], end="")
    assert view.trials[trial].feasible is None and not front_ids(view)
    play(view, trial, placed(3.0, 1.0, 0.95), end="")
    assert view.trials[trial].feasible is True and front_ids(view) == {trial}
    lacking = bottleneck_of(MIB, seeds=[0], **ACCURATE)
    play(lacking, trial, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0}])
    assert lacking.trials[trial].feasible is False and counts(lacking).infeasible == 1


def test_a_collapsed_trial_is_not_counted_twice() -> None:
    view = bottleneck_of(MIB, seeds=[0], **ACCURATE)
    play(view, next(iter(view.trials)), placed(0.01, 0.0, 0.1))
    assert (counts(view).collapsed, counts(view).infeasible) == (1, 0)


def test_of_a_curve_the_places_that_keep_the_constraint_count() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=[0], constraints=[{"metric": "i_zy_bits", "at_least": 1.0}])
    (trial,) = view.trials
    play_curves(view, trial, curve((0.01, 8.0, 2.0), (0.1, 4.0, 1.5), (1.0, 2.0, 0.5)))
    assert view.trials[trial].feasible is True and counts(view).infeasible == 0
    assert {place[1] for place in front_keys(view)} != set() and len(front_keys(view)) == 2
    assert cells(view, "points") == ["True", "True", "False"]


def test_a_curve_that_keeps_it_nowhere_is_infeasible() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=[0], constraints=[{"metric": "i_zy_bits", "at_least": 3.0}])
    play_curves(view, next(iter(view.trials)), curve((0.01, 8.0, 2.0), (0.1, 4.0, 1.5), (1.0, 2.0, 0.5)))
    assert counts(view).infeasible == 1 and not front_keys(view)
