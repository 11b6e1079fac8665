"""A study of your own code is checked by what its description says, and by nothing else."""

from __future__ import annotations

import json
import pickle
from typing import Any

import jsonschema
import pytest

from service.contract.methods.own_problems import OwnProblem
from service.contract.metrics import Kind, Named, described, metric
from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.outcomes import feasible
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput
from tests.service.own_code import CODE, PROBLEM, SCRIPT, study_of

UNIFORM = {"name": "uniform"}


def refusal(body: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as refused:
        check_study(body)
    return refused.value.details[0].path, refused.value.details[0].message


def arm(**parts: Any) -> dict[str, Any]:
    return {"name": "a", "weighting": UNIFORM, **parts}


def test_its_parameters_take_grids_like_ours() -> None:
    trials = expand(check_study(study_of()))
    widths = [trial.config["problem.width"] for trial in trials]
    assert sorted(widths) == [16] * 4 + [64] * 4 and all(trial.config["problem.shape"] == "flat" for trial in trials)


def test_it_is_read_again_as_it_was_stored() -> None:
    study = check_study(study_of())
    stored = json.loads(json.dumps(study.model_dump(by_alias=True, mode="json")))
    assert check_study(stored) == study
    assert stored["arms"][0]["problem"] == {"name": "Mine", "width": {"grid": [16, 64]}, "shape": "flat"}
    assert [trial.id for trial in expand(check_study(stored))] == [trial.id for trial in expand(study)]


def test_the_schema_of_answers_knows_problems_of_ones_own() -> None:
    study = check_study(study_of()).model_dump(by_alias=True, mode="json")
    for mode in ("validation", "serialization"):
        jsonschema.validate(study, Study.model_json_schema(mode=mode))
    with pytest.raises(jsonschema.ValidationError):
        unnamed = {**study, "arms": [{**study["arms"][0], "problem": {"width": 16}}]}
        jsonschema.validate(unnamed, Study.model_json_schema())


def test_its_trials_travel_between_processes() -> None:
    trial = expand(check_study(study_of()))[0]
    again = pickle.loads(pickle.dumps(trial))
    assert isinstance(again, PlannedTrial) and isinstance(again.problem, OwnProblem)
    assert again == trial and again.problem.terms == ("class", "price")
    assert again.problem.values() == {"width": 16, "shape": "flat"}


def test_objectives_are_the_first_two_metrics_that_it_declares() -> None:
    study = check_study(study_of())
    assert [(each.metric, each.goal, each.reference_value) for each in study.objectives] == [
        ("acc", "maximize", None),
        ("mae", "minimize", None),
    ]
    assert study.choosing == ["validation_acc", "validation_mae"]


def test_a_metric_of_the_code_is_known_by_the_name_that_its_study_gives() -> None:
    study = check_study(study_of())
    acc = next(name for name in study.metrics if name == "acc")
    assert isinstance(acc, Named) and described(acc).kind is Kind.OWN and described(acc).bounds == (0.0, 1.0)
    twin = next(name for name in study.metrics if name == "validation_acc")
    assert described(twin).validation_of == "acc" and described(twin).goal == "maximize"
    assert metric("acc") is None, "no other study has it"


def test_losses_of_the_code_may_be_negative_and_have_no_reference_point() -> None:
    study = check_study(study_of())
    loss = next(name for name in study.metrics if name == "test_loss_price")
    assert (described(loss).low, described(loss).reference, described(loss).subject) == (None, None, "price")


def test_the_study_s_own_reference_point_counts() -> None:
    objectives = [{"metric": "acc", "goal": "maximize", "reference": 0.5}, {"metric": "mae", "goal": "minimize"}]
    study = check_study(study_of(objectives=objectives))
    assert [each.reference_value for each in study.objectives] == [0.5, None]


def test_a_script_needs_no_weighting_and_shows_none() -> None:
    study = check_study(study_of(arms=[{"name": "a", "problem": {"name": "forest", "depth": {"grid": [1, 2]}}}]))
    assert [trial.config for trial in expand(study)[::2]] == [
        {"problem.name": "forest", "problem.depth": 1},
        {"problem.name": "forest", "problem.depth": 2},
    ]
    assert study.metrics == ["epoch", "seconds", "acc", "leaves"] and study.choosing == ["acc", "leaves"]
    assert study.objectives[1].reference_value == 100.0


def test_a_problem_for_all_arms_is_named_once() -> None:
    study = check_study(study_of(problem={"name": "Mine", "width": 8}, arms=[arm(), arm(name="b", problem=None)]))
    assert isinstance(study, Study)
    assert [each.problem.model_dump()["width"] for each in study.arms[:1]] == [8]


def test_the_only_problem_of_a_code_need_not_be_named() -> None:
    study = check_study(study_of(code={**CODE, "problems": [PROBLEM]}, arms=[arm()]))
    assert study.arms[0].problem.name == "Mine"


def test_how_much_is_held_out_may_be_said_without_a_name() -> None:
    assert check_study(study_of(data={"validation_fraction": 0.0})).choosing == ["acc", "mae"]


@pytest.mark.parametrize(
    ("changed", "path", "words"),
    [
        ({"arms": [arm(problem={"name": "Min"})]}, "arms[0].problem.name", "which has Mine, forest"),
        ({"arms": [arm(problem={"name": "Mine", "widht": 3})]}, "arms[0].problem.widht", "known keys: name, width"),
        ({"arms": [arm(problem={"name": "Mine", "width": 0})]}, "arms[0].problem.width", "greater than or equal to 1"),
        ({"arms": [arm(problem={"name": "Mine", "width": 1.5})]}, "arms[0].problem.width", "valid integer, got 1.5"),
        ({"arms": [arm(problem={"name": "Mine", "shape": "x"})]}, "arms[0].problem.shape", "'flat' or 'deep'"),
        ({"arms": [arm()]}, "arms[0].problem", "give a problem of the study's code, which has Mine, forest"),
        ({"arms": [arm(problem={"name": "forest"}, weighting={"name": "mgda"})]}, "arms[0].weighting.name", "leave it"),
        ({"data": {"name": "digits"}}, "data.name", "leave data out, got 'digits'"),
        ({"model": {"name": "cnn"}}, "model.name", "leave model out, got 'cnn'"),
        (
            {"objectives": [{"metric": "accx", "goal": "maximize"}] * 2},
            "objectives[0].metric",
            "'accx' is not a metric",
        ),
        (
            {"objectives": [{"metric": "accx", "goal": "maximize"}] * 2},
            "objectives[0].metric",
            "which reports acc, mae, leaves",
        ),
        ({"arms": [arm(problem=PROBLEM["name"])]}, "arms[0].problem", "Mine"),
        ({"evaluation": {"attacks": [{"name": "pgd"}]}}, "evaluation.attacks", "needs a method logits"),
        ({"evaluation": {"estimators": ["infonce"]}}, "evaluation.estimators", "needs a method code(model, x), which"),
        ({"evaluation": {"latent_map": {}}}, "evaluation.latent_map", "needs a method code(model, x), which"),
        (
            {"arms": [arm(problem={"name": "forest"})], "evaluation": {"attacks": [{"name": "pgd"}]}},
            "evaluation.attacks",
            "needs problem bottleneck in every arm, got 'forest'",
        ),
        ({"arms": [arm(problem={"name": "Mine"}, weighting={"name": "conditional"})]}, "arms[0].weighting.name", "own"),
        (
            {
                "code": {**CODE, "problems": [{**CODE["problems"][0], "terms": ["a", "b", "c"]}]},
                "arms": [arm(problem={"name": "Mine"}, weighting={"name": "target-rate"})],
            },
            "arms[0].weighting.name",
            "the second of two terms",
        ),
    ],
)
def test_what_the_code_does_not_have_is_refused_with_path_and_rule(
    changed: dict[str, Any], path: str, words: str
) -> None:
    place, rule = refusal(study_of(**changed))
    assert place == path and words in rule


def test_methods_for_a_code_and_logits_open_what_needs_them() -> None:
    asked: Any = {"estimators": ["infonce"], "attacks": [{"name": "pgd"}], "latent_map": {}}
    coded = {**CODE, "problems": [{**PROBLEM, "hooks": ["code", "decode"]}]}
    study = check_study(study_of(code=coded, evaluation=asked))
    own = study.metrics_of(study.arms[0])
    assert {"i_xz_bits", "validation_i_zy_bits", "i_xz_infonce_bits", "robust_pgd", "i_xz_bits_bias"} <= set(own)
    assert [objective.metric for objective in study.objectives] == ["acc", "mae"]
    attacked = {**CODE, "problems": [{**PROBLEM, "hooks": ["logits"]}]}
    study = check_study(study_of(code=attacked, evaluation={"attacks": [{"name": "pgd"}]}))
    assert "robust_pgd" in study.metrics and "i_xz_bits" not in study.metrics
    place, rule = refusal(study_of(code=attacked, evaluation=asked))
    assert place == "evaluation.estimators" and "problem 'Mine' of arm 'by hand' does not have" in rule


@pytest.mark.parametrize("option", [{"clip": 1.0}, {"beta1": 0.5}, {"beta2": 0.9}])
def test_an_optimizer_of_its_own_reads_no_option_of_ours(option: dict[str, float]) -> None:
    own = {**CODE, "problems": [{**PROBLEM, "hooks": ["optimizer"]}]}
    place, rule = refusal(study_of(code=own, training=option))
    assert place == f"training.{next(iter(option))}" and "makes its own optimizer" in rule


def test_an_optimizer_of_its_own_leaves_no_learning_rate_to_search() -> None:
    own = {**CODE, "problems": [{**PROBLEM, "hooks": ["optimizer"]}]}
    assert check_study(study_of(code=own))
    place, rule = refusal(study_of(code=own, training={"learning_rate": {"grid": [0.1, 0.2]}}))
    assert place == "training.learning_rate" and "problem Mine makes its own optimizer" in rule and "grid" in rule
    one = arm(problem={"name": "Mine"}, training={"l2": 0.1})
    assert refusal(study_of(code=own, arms=[one]))[0] == "arms[0].training.l2"


def test_without_code_there_is_no_data_and_no_model_of_one_s_own() -> None:
    assert refusal({"name": "s", "arms": [arm()], "data": {"name": "own"}})[0] == "data.name"
    assert refusal({"name": "s", "arms": [arm()], "model": {"name": "own"}})[0] == "model.name"


def test_one_term_needs_no_weighting() -> None:
    alone = {**CODE, "problems": [{**PROBLEM, "terms": ["class"]}]}
    assert check_study(study_of(code=alone, arms=[arm()])).arms[0].problem.terms == ("class",)
    path, rule = refusal(study_of(code=alone, arms=[arm(weighting={"name": "mgda"})]))
    assert path == "arms[0].weighting.name" and "one term (class)" in rule


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ({**SCRIPT, "metrics": SCRIPT["metrics"][:1] * 2}, "'acc' appears twice"),
        ({**PROBLEM, "terms": []}, "needs at least one term"),
        ({**PROBLEM, "terms": ["class", "class"]}, "'class' appears twice"),
    ],
)
def test_a_description_that_is_not_whole_is_refused(described: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_study(study_of(code={**CODE, "problems": [described]}))
    assert any(words in each.message for each in refused.value.details if each.path == "code.problems[0]")


def test_its_metrics_take_constraints_by_the_split_that_chooses() -> None:
    study = check_study(study_of(constraints=[{"metric": "acc", "at_least": 0.75}]))
    stored = check_study(json.loads(json.dumps(study.model_dump(by_alias=True, mode="json"))))
    assert stored == study and [each.words for each in stored.constraints] == ["acc ≥ 0.75"]
    bounds = stored.bounds
    assert [bound.metric for bound in bounds] == ["validation_acc"]
    assert feasible({"validation_acc": 0.5, "acc": 1.0}, bounds) is False and feasible({"acc": 1.0}, bounds) is True
    assert refusal(study_of(constraints=[{"metric": "leaves", "at_most": 3}]))[0] == "constraints[0].metric"
    assert refusal(study_of(constraints=[{"metric": "accuracy", "at_least": 0.5}]))[0] == "constraints[0].metric"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "a script trains by itself and does not wait at a rung"),
        ({"run": "elsewhere"}, "who trains elsewhere does not wait at a rung"),
    ],
)
def test_what_trains_by_itself_cannot_be_stopped_at_rungs(more: dict[str, Any], words: str) -> None:
    forest = {"name": "a", "problem": {"name": "forest", "depth": {"grid": [1, 2, 3, 4]}}, **more}
    with pytest.raises(InvalidInput) as refused:
        check_study(study_of(arms=[forest], stopping={"name": "halving"}))
    assert [detail.path for detail in refused.value.details] == ["stopping.name"]
    assert words in refused.value.details[0].message
