"""Trials as Optuna has them, one by one and by value."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from frontends.cli.optuna_study import by_point, constants, distribution_of, frozen, moment, parameters, write_storage
from frontends.client import ClientError
from service.contract.study.constraints import Constraint

METRICS = ["i_xz_bits", "accuracy"]
FINISHED: dict[str, Any] = {
    "id": "t1",
    "arm": "manual β",
    "seed": 0,
    "state": "finished",
    "reason": None,
    "on_front": False,
    "collapsed": False,
    "host": None,
    "config": {"weighting.beta": 0.5, "model.widths": [8, 4]},
    "metrics": {"i_xz_bits": 2.0, "accuracy": 0.5},
    "reports": [{"epoch": 1, "accuracy": 0.25}, {"epoch": 2, "accuracy": 0.5}],
    "started_at": "2026-01-02T20:00:00+00:00",
    "ended_at": "2026-01-02T21:30:00+00:00",
}
SPACES = parameters([FINISHED, {"arm": "MIB", "config": {"weighting.beta": 5.0, "model.widths": [8]}}])


def made(**change: Any) -> Any:
    return frozen({**FINISHED, **change}, SPACES, METRICS)


def test_an_objective_of_zero_is_an_objective() -> None:
    trial = made(metrics={"i_xz_bits": 0.0, "accuracy": 0.5})
    assert trial.state == TrialState.COMPLETE and trial.values == [0.0, 0.5]


def test_a_trial_begins_and_ends_when_ours_did() -> None:
    trial = made()
    assert trial.datetime_start == moment("2026-01-02T20:00:00+00:00")
    assert (trial.datetime_complete - trial.datetime_start).total_seconds() == 5400
    before = datetime.now()
    assert before <= made(ended_at=None).datetime_complete <= datetime.now(), "it has not ended: now"


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({}, None),
        ({"reason": "tried twice"}, "tried twice"),
        ({"state": "stopped", "stopped_after": 2, "reason": "place 3 of 4"}, "place 3 of 4"),
        ({"state": "stopped", "metrics": {}}, "was stopped when it was exported"),
        ({"state": "running"}, "was running when it was exported"),
        ({"state": "failed", "reason": "loss became non-finite"}, "loss became non-finite"),
        ({"metrics": {"i_xz_bits": 2.0}}, "was finished when it was exported"),
    ],
)
def test_a_note_says_why_a_trial_is_not_complete(change: dict[str, Any], note: str | None) -> None:
    trial = made(**change)
    assert trial.user_attrs.get("note") == note
    complete = change.get("state", "finished") == "finished" and "metrics" not in change
    assert trial.state == (TrialState.COMPLETE if complete else TrialState.FAIL)
    assert trial.values == ([2.0, 0.5] if complete else None)


def test_a_trial_that_the_clock_stopped_counts_with_what_it_reached_at_each_point_of_its_curve() -> None:
    cut: dict[str, Any] = {**FINISHED, "state": "stopped", "stopped_after": None}
    assert made(**cut).state == TrialState.COMPLETE and made(**cut).values == [2.0, 0.5]
    places = [{"where": {"beta": beta}, "metrics": {"i_xz_bits": beta, "accuracy": 0.5}} for beta in (0.1, 0.2)]
    for stopped_after, state in ((None, TrialState.COMPLETE), (2, TrialState.FAIL)):
        points = by_point({**cut, "stopped_after": stopped_after, "points": places})
        assert [frozen(point, parameters(points), METRICS).state for point in points] == [state, state]


def test_what_optuna_has_no_field_for_is_kept_beside_and_what_is_open_is_not() -> None:
    assert made(host="node", on_front=True, collapsed=True).user_attrs == {
        "trial": "t1",
        "arm": "manual β",
        "seed": 0,
        "state": "finished",
        "on_front": True,
        "collapsed": True,
        "host": "node",
        "metrics": {"i_xz_bits": 2.0, "accuracy": 0.5},
        "learning_curve": {"epoch": [1, 2], "accuracy": [0.25, 0.5]},
    }
    plain = made().user_attrs
    assert "host" not in plain and (plain["on_front"], plain["collapsed"]) == (False, False)
    assert [made(collapsed=yes).system_attrs["constraints"] for yes in (False, True)] == [[0.0], [1.0]]


def test_a_list_is_a_category_and_the_arm_is_a_parameter() -> None:
    assert made().params == {"arm": "manual β", "weighting.beta": 0.5, "model.widths": "[8, 4]"}
    assert {
        "arm": CategoricalDistribution(["manual β", "MIB"]),
        "weighting.beta": FloatDistribution(0.5, 5.0),
        "model.widths": CategoricalDistribution(["[8, 4]", "[8]"]),
    } == SPACES


def test_a_setting_that_one_trial_lacks_is_no_constant() -> None:
    trials = [{"arm": "a", "config": {"x": 1, "y": 2}}, {"arm": "a", "config": {"x": 1}}]
    assert constants(trials) == {"x": 1}
    assert parameters(trials) == {"arm": CategoricalDistribution(["a"]), "y": IntDistribution(2, 2)}
    assert parameters([]) == {}


def test_a_space_is_logarithmic_from_a_ratio_above_twenty() -> None:
    assert distribution_of([0.5, 10.0]) == FloatDistribution(0.5, 10.0)
    assert distribution_of([0.5, 10.5]) == FloatDistribution(0.5, 10.5, log=True)
    assert distribution_of([-1.0, 10.0]) == FloatDistribution(-1.0, 10.0)
    assert distribution_of([1, 64, 8]) == IntDistribution(1, 64)
    assert distribution_of([0.5, None]) == CategoricalDistribution([0.5, None])


def test_a_folder_is_no_storage_and_an_empty_file_may_become_one(tmp_path: Path) -> None:
    axes = [
        {"metric": "i_xz_bits", "goal": "minimize", "reference": 32.0},
        {"metric": "accuracy", "goal": "maximize", "reference": 0.1},
    ]
    study = {"id": "s1", "name": "to go"}
    trials = [FINISHED, {**FINISHED, "id": "t2", "state": "planned", "started_at": None, "reports": []}]
    comparison = {"objectives": axes, "verdict": "one arm alone"}
    whole = {"paretoscope": "0.1.0", "study": study, "comparison": comparison, "trials": trials}
    with pytest.raises(ClientError, match="is not an SQLite database") as refused:
        write_storage(whole, tmp_path, force=False)
    assert refused.value.status == 422
    file = tmp_path / "study.db"
    file.touch()
    assert write_storage(whole, file, force=False) == (1, 1)


CURVE: dict[str, Any] = {
    **FINISHED,
    "arm": "all β",
    "config": {"weighting.width": 64},
    "points": [
        {"where": {"beta": 0.01}, "metrics": {"i_xz_bits": 4.0, "accuracy": 0.9}},
        {"where": {"beta": 1.0}, "metrics": {"i_xz_bits": 0.01, "accuracy": 0.1}},
    ],
    "reports": [{"epoch": 1, "accuracy": 0.25, "points": []}],
}


def test_a_trial_with_many_points_is_an_optuna_trial_for_each() -> None:
    points = by_point(CURVE)
    spaces = parameters([FINISHED, *points])
    first, second = (frozen(point, spaces, METRICS) for point in points)
    assert (first.values, second.values) == ([4.0, 0.9], [0.01, 0.1])
    assert (first.params["weighting.beta"], second.params["weighting.beta"]) == (0.01, 1.0)
    assert [made.user_attrs["trial"] for made in (first, second)] == ["t1", "t1"]
    assert [made.user_attrs["where"] for made in (first, second)] == [{"beta": 0.01}, {"beta": 1.0}]
    assert (first.system_attrs["constraints"], second.system_attrs["constraints"]) == ([0.0], [1.0])
    assert first.user_attrs["learning_curve"] == {"epoch": [1], "accuracy": [0.25]}
    assert second.user_attrs["learning_curve"] == {} and "on_front" not in first.user_attrs


def test_what_the_training_took_is_the_same_at_every_point() -> None:
    points = by_point({**CURVE, "metrics": {"epoch": 3, "seconds": 1.5, "accuracy": 0.5}})
    spaces = parameters(points)
    values = [frozen(point, spaces, ["seconds", "accuracy"]).values for point in points]
    assert values == [[1.5, 0.9], [1.5, 0.1]]
    assert points[0]["metrics"] == {"epoch": 3, "seconds": 1.5, "i_xz_bits": 4.0, "accuracy": 0.9}


def test_a_point_of_several_tasks_has_a_share_of_each_and_a_single_point_stays_as_it_is() -> None:
    point = {"where": {"left": 0.3, "right": 0.7}, "metrics": {}}
    (own,) = by_point({**CURVE, "points": [point]})
    assert own["config"] == {**CURVE["config"], "where.left": 0.3, "where.right": 0.7}
    assert own["where"] == point["where"]
    assert by_point(FINISHED) == [FINISHED] and by_point({**FINISHED, "points": []}) == [{**FINISHED, "points": []}]


def whole_of(*trials: dict[str, Any]) -> dict[str, Any]:
    axes = [
        {"metric": "i_xz_bits", "goal": "minimize", "reference": 32.0},
        {"metric": "accuracy", "goal": "maximize", "reference": 0.1},
    ]
    comparison = {"objectives": axes, "verdict": "one arm alone", "selection_words": "chosen on the test split itself"}
    study = {"id": "s1", "name": "to go"}
    return {"paretoscope": "0.1.0", "study": study, "comparison": comparison, "trials": list(trials)}


def test_a_storage_has_the_studys_goals_facts_and_every_trial_that_began_and_counts(tmp_path: Path) -> None:
    running = {**FINISHED, "id": "t2", "state": "running", "ended_at": None, "config": {"weighting.beta": 5.0}}
    verifying = {**FINISHED, "id": "t3", "verifies": True}
    planned = {**FINISHED, "id": "t4", "state": "planned", "started_at": None, "reports": []}
    file = tmp_path / "study.db"
    assert write_storage(whole_of(FINISHED, running, verifying, planned), file, force=False) == (2, 1)
    loaded = optuna.load_study(study_name="to go", storage=f"sqlite:///{file}")
    assert [each.name for each in loaded.directions] == ["MINIMIZE", "MAXIMIZE"]
    assert loaded.metric_names == METRICS
    assert [(t.user_attrs["trial"], t.state) for t in loaded.trials] == [
        ("t1", TrialState.COMPLETE),
        ("t2", TrialState.FAIL),
    ]
    facts = loaded.user_attrs
    assert facts["paretoscope"] == {"version": "0.1.0", "study": "s1"} and facts["verdict"] == "one arm alone"
    assert facts["selection"] == "chosen on the test split itself"
    assert facts["reference_point"] == [32.0, 0.1] and facts["constants"] == {}
    with pytest.raises(ClientError, match="already has a study 'to go': --force replaces it") as refused:
        write_storage(whole_of(FINISHED), file, force=False)
    assert refused.value.status == 409
    assert write_storage(whole_of(FINISHED), file, force=True) == (1, 0)
    assert len(optuna.load_study(study_name="to go", storage=f"sqlite:///{file}").trials) == 1


def test_yes_and_no_are_no_numbers_and_what_is_not_finite_is_none_either() -> None:
    assert distribution_of([True, False]) == CategoricalDistribution([True, False])
    assert distribution_of([True, 2]) == CategoricalDistribution([True, 2])
    assert isinstance(distribution_of([1.0, float("inf")]), CategoricalDistribution)
    assert distribution_of([2, 2.5]) == FloatDistribution(2.0, 2.5)


def test_settings_that_all_share_are_facts_of_the_study_and_no_parameters() -> None:
    trials = [{"arm": "a", "config": {"x": 1, "y": y}} for y in (1, 2)]
    assert constants(trials) == {"x": 1} and list(parameters(trials)) == ["arm", "y"]
    assert constants([]) == {}


def test_what_breaks_a_constraint_of_the_study_breaks_one_of_optunas() -> None:
    made_with = [made(feasible=kept).system_attrs["constraints"] for kept in (True, False, None)]
    assert made_with == [[0.0], [1.0], [0.0]]
    bounds = [Constraint(metric="i_zy_bits", at_least=0.5).judged_by("validation_i_zy_bits")]
    points = [{"where": {"beta": beta}, "metrics": {"i_zy_bits": 1 - beta}} for beta in (0.1, 0.9)]
    assert [point["feasible"] for point in by_point({**CURVE, "points": points}, bounds)] == [True, False]
