"""What a study is at its edges: ranges of whole numbers, overrides that are refused, what is measured when."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from service.contract.methods.problems import Multitask
from service.contract.parameters.axes import Range
from service.contract.study.draft import DEEPEST, LARGEST, as_written
from service.contract.study.expansion import Slot, expand, resolve, searched
from service.contract.study.parsing import check_study, parse_study
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput
from service.contract.wording.palette import COLOURS, SYMBOLS, arm_style

ARM: dict[str, Any] = {"name": "a", "weighting": {"name": "fixed", "beta": 0.1}}


def study(*arms: dict[str, Any], **parts: Any) -> Study:
    return check_study({"name": "s", "arms": list(arms or (ARM,)), **parts})


def paths(text: str) -> list[tuple[str, int | None]]:
    with pytest.raises(InvalidInput) as caught:
        parse_study(text, "yaml")
    return [(detail.path, detail.line) for detail in caught.value.details]


def refused(*arms: dict[str, Any], **parts: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        study(*arms, **parts)
    told = [detail.path for detail in caught.value.details]
    assert len(set(told)) == len(told), "each mistake once"
    return {detail.path: detail.message for detail in caught.value.details}


# Ranges


def integer(place: str, field: str, **bounds: Any) -> bool | None:
    """Whether a search would suggest whole numbers for this field."""
    range_ = {"range": {"from": 1, "to": 8, **bounds}}
    parts = {"weighting": {"name": "fixed", "beta": 0.1}, "model": {}, "training": {}}
    parts[place] = {**parts[place], field: range_}
    arm = {"name": "a", **parts, "search": {"name": "optuna", "trials": 2}}
    slot = expand(study(arm))[0]
    assert isinstance(slot, Slot)
    axis = searched(slot)[f"{place}.{field}"]
    assert isinstance(axis, Range)
    return axis.range.integer


def test_a_range_is_of_whole_numbers_where_the_field_takes_no_others() -> None:
    assert integer("model", "latent") is True
    assert integer("model", "latent", integer=True) is True
    assert integer("weighting", "beta") is None, "1 to 8 of a number that need not be whole"
    assert integer("weighting", "beta", integer=True) is True
    assert integer("training", "learning_rate", to=2.5) is None


def test_a_range_of_a_field_that_is_1_or_2_suggests_nothing_between() -> None:
    weighting = {"name": "mib", "power": {"range": {"from": 1, "to": 2}}}
    slot = expand(study({"name": "a", "weighting": weighting, "search": {"name": "optuna", "trials": 2}}))[0]
    assert isinstance(slot, Slot)
    axis = searched(slot)["weighting.power"]
    assert isinstance(axis, Range) and axis.range.integer is True
    assert resolve(slot, {"weighting.power": 1}).config["weighting.power"] == 1
    with pytest.raises(ValidationError):
        resolve(slot, {"weighting.power": 1.5})


def test_a_range_of_a_whole_number_with_other_ends_is_refused_at_that_end() -> None:
    arm = {**ARM, "model": {"latent": {"range": {"from": 0.5, "to": 8}}}, "search": {"name": "optuna", "trials": 2}}
    assert list(refused(arm)) == ["arms[0].model.latent.range.from", "arms[0].model.latent.range.to"]
    low = {**ARM, "model": {"latent": {"range": {"from": 0, "to": 8}}}, "search": {"name": "optuna", "trials": 2}}
    assert list(refused(low)) == ["arms[0].model.latent.range.from"]


# Overrides


def test_what_an_arm_overrides_is_refused_at_its_own_key_whatever_the_mistake() -> None:
    found = refused({**ARM, "training": {"epochs": "many"}}, {**ARM, "name": "b", "model": {"latent": [3]}})
    assert list(found) == ["arms[0].training.epochs", "arms[1].model.latent"]
    assert found["arms[0].training.epochs"] == "Input should be a valid integer, got 'many'"


def test_an_axis_of_the_study_is_refused_once_at_the_study_and_an_arms_own_at_the_arm() -> None:
    shared = {"learning_rate": {"grid": [0.1, -1.0]}}
    other = {**ARM, "name": "b"}
    assert list(refused(ARM, other, training=shared)) == ["training.learning_rate.grid[1]"]
    own = {**other, "training": {"learning_rate": {"grid": [-2.0, 0.1]}}}
    assert list(refused(ARM, own)) == ["arms[1].training.learning_rate.grid[0]"]
    weights = {"name": "fixed", "weights": {"info": {"grid": [0.1, -1.0]}}}
    assert list(refused(ARM, {**other, "weighting": weights})) == ["arms[1].weighting.weights.info.grid[1]"]


def test_a_refused_span_is_told_without_a_place_in_a_list() -> None:
    span = {"grid": {"from": -1.0, "to": 1.0, "count": 3}}
    assert list(refused({**ARM, "weighting": {"name": "fixed", "beta": span}})) == ["arms[0].weighting.beta.grid"]


# Lines of YAML


def test_a_number_in_a_path_is_a_place_of_a_list_or_a_key_of_a_mapping() -> None:
    text = "name: s\narms:\n  - {name: a, weighting: {name: uniform}}\nseeds:\n  - 0\n  - x\n"
    assert paths(text) == [("seeds[1]", 6)]
    assert paths(text.replace("  - x\n", "  - 0\n").replace("seeds:", "7:")) == [("7", 4)]


def test_a_path_into_what_is_no_mapping_has_the_line_of_what_is_there() -> None:
    assert paths("name: s\nseeds: [0]\narms:\n  - 3\n  - name: a\n") == [("arms[0]", 4), ("arms[1].weighting", 5)]


@pytest.mark.parametrize(("written", "value"), [("1e3", 1000.0), ("2E5", 2e5), ("-1e2", -100.0), ("1.5e1", 15.0)])
def test_an_exponent_needs_no_sign(written: str, value: float) -> None:
    found = parse_study(
        f"name: s\narms: [{{name: a, weighting: {{name: uniform}}}}]\n"
        f"objectives:\n  - {{metric: seconds, goal: minimize, reference: {written}}}\n"
        "  - {metric: accuracy, goal: maximize}\n",
        "yaml",
    )
    assert found.objectives[0].reference == value


def test_a_value_of_80_signs_is_shown_whole_and_a_longer_one_cut() -> None:
    whole, cut = "x" * 78, "x" * 79
    assert refused(seeds=whole)["seeds"].endswith(f"got '{whole}'")
    assert refused(seeds=cut)["seeds"].endswith(f"got '{'x' * 76}…")


def test_what_is_no_yaml_is_told_in_a_line() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_study("name: s\n\tarms: 3\n", "yaml")
    assert caught.value.message == "the study is not YAML: found a tab character that violates indentation (line 2)"


# What is measured


def test_an_objective_that_is_not_reported_is_told_with_those_that_a_front_can_be_measured_by() -> None:
    toy = {"name": "a", "problem": {"name": "toy"}, "weighting": {"name": "uniform"}}
    wanted = [{"metric": name, "goal": "maximize"} for name in ("accuracy", "i_zy_bits")]
    assert refused(toy, objectives=wanted)["objectives[0].metric"] == (
        "'accuracy' is not reported by arm 'a' (problem toy); it reports f1, f2, loss_f1, loss_f2"
    )


@pytest.mark.parametrize(
    ("model", "layers"),
    [
        ({"name": "mlp", "widths": [8, 8], "head": [4]}, ["encoder-1", "encoder-2", "head-1"]),
        ({"name": "cnn", "channels": [4, 4], "widths": [8]}, ["convolution-1", "convolution-2", "encoder-1"]),
        ({"name": "rnn", "hidden": [8, 8]}, ["recurrent-1", "recurrent-2"]),
        ({"name": "transformer", "layers": 2}, ["feed-forward-1", "feed-forward-2"]),
        ({"name": "resnet18", "head": [4, 4]}, ["head-1", "head-2"]),
    ],
)
def test_the_layers_that_are_balanced_are_counted_from_1(model: dict[str, Any], layers: list[str]) -> None:
    balanced = study(model=model, training={"balance": {}}).metrics
    assert [name for name in balanced if name.startswith("balance_")] == [f"balance_{layer}" for layer in layers]


def test_attacks_run_at_the_end_and_as_often_as_asked() -> None:
    def epochs(**evaluation: Any) -> list[int]:
        asked = study(evaluation=evaluation).evaluation
        return [epoch for epoch in range(1, 8) if asked.attacks_at(epoch, last=epoch == 7)]

    attacks = [{"name": "pgd"}]
    assert epochs(attacks=attacks) == [7]
    assert epochs(attacks=attacks, attack_every=3) == [3, 6, 7]
    assert epochs(attacks=attacks, attack_every=1) == [1, 2, 3, 4, 5, 6, 7]
    assert epochs(attack_every=3) == []


def test_a_bottleneck_reports_what_its_evaluation_adds_and_a_continuous_label_no_accuracy() -> None:
    evaluation = {"attacks": [{"name": "pgd"}], "estimators": ["mine"]}
    metrics = study(evaluation=evaluation, data={"name": "digits", "validation_fraction": 0}).metrics
    assert metrics[:2] == ["epoch", "seconds"]
    calibrated = [f"{name}_{what}" for name in ("i_xz_bits", "i_xz_mine_bits") for what in ("known", "bias", "miss")]
    assert metrics[-10:] == ["i_xz_mine_bits", "estimator_samples", *calibrated, "robust_pgd", "robust_images"]
    assert {"accuracy", "train_accuracy", "generalization_gap"} <= {*metrics}
    continuous = study(data={"name": "gaussian"}, evaluation={"estimators": ["mine"]}).metrics
    assert not {"accuracy", "train_accuracy", "generalization_gap"} & {*continuous}
    assert {"i_xz_bits", "i_zy_bits", "test_examples", "i_xz_mine_bits"} <= {*continuous}


@pytest.mark.parametrize(
    ("main", "auxiliaries", "objectives", "summarised"),
    [
        ("class", ["rotation"], ("accuracy_class", "accuracy_rotation"), True),
        ("class", ["exemplar", "rotation"], ("accuracy_class", "accuracy_rotation"), True),
        ("class", ["reconstruction"], ("test_loss_class", "accuracy_class"), True),
        ("class", [], ("test_loss_class", "accuracy_class"), True),
        ("exemplar", ["reconstruction"], ("test_loss_exemplar", "loss_exemplar"), False),
    ],
)
def test_tasks_are_compared_by_their_accuracies_where_they_have_some(
    main: str, auxiliaries: list[str], objectives: tuple[str, str], summarised: bool
) -> None:
    problem = Multitask(main=main, auxiliaries=auxiliaries)
    assert problem.objectives == objectives
    accurate = [task for task in problem.terms if task not in ("exemplar", "reconstruction")]
    of_tasks = [f"{kind}_{task}" for kind in ("loss", "weight", "test_loss") for task in problem.terms]
    means = ["mean_accuracy", "worst_accuracy"] if summarised else []
    main_accuracy = ["accuracy"] if main in accurate else []
    spread = ["spread_exemplar"] if "exemplar" in problem.terms else []
    wanted = [*of_tasks, *(f"accuracy_{task}" for task in accurate), *main_accuracy, *means, *spread, "test_examples"]
    assert problem.metrics == wanted


def test_a_rate_beside_tasks_is_a_term_without_an_accuracy() -> None:
    problem = Multitask(main="class", auxiliaries=["rotation"], rate="vib")
    assert problem.terms == ("class", "rotation", "info") and problem.tasks == ("class", "rotation")
    assert problem.objectives == ("accuracy_class", "accuracy_rotation")
    added = set(problem.metrics) - set(Multitask(main="class", auxiliaries=["rotation"]).metrics)
    assert added == {"loss_info", "weight_info", "test_loss_info", "kl_prior_bits"}
    with pytest.raises(ValidationError, match="no task can have this name"):
        Multitask(main="class", auxiliaries=["info"], rate="vib")


def test_a_task_without_an_accuracy_is_no_main_accuracy() -> None:
    metrics = Multitask(main="reconstruction", auxiliaries=["class"]).metrics
    assert "accuracy" not in metrics and "accuracy_class" in metrics and "accuracy_reconstruction" not in metrics


# A draft and the colours


def test_a_draft_is_as_deep_as_any_study_and_no_deeper() -> None:
    def nested(levels: int) -> dict[str, Any]:
        inner: dict[str, Any] = {}
        for _ in range(levels):
            inner = {"deep": inner}
        return inner

    assert as_written(nested(DEEPEST - 1)) is not None and as_written(nested(DEEPEST)) is None
    assert as_written({"a": LARGEST, "b": -LARGEST, "c": LARGEST + 1, "d": -LARGEST - 1}) == {
        "a": 2**53,
        "b": -(2**53),
        "c": None,
        "d": None,
    }


def test_sixty_four_arms_all_look_different() -> None:
    styles = [arm_style(index) for index in range(64)]
    assert len(set(styles)) == 64 and styles[:2] == [("#0072B2", "circle"), ("#D55E00", "diamond")]
    assert styles[8] == (COLOURS[0], SYMBOLS[1]) and styles[17] == (COLOURS[1], SYMBOLS[3])
