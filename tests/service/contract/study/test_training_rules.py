"""Options of training that would do nothing are refused, with path, rule and value."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput

ARM = {"name": "a", "weighting": {"name": "uniform"}}
OTHER = {"name": "b", "weighting": {"name": "uniform"}}


def refused(training: dict[str, Any], *arms: dict[str, Any]) -> dict[str, str]:
    try:
        check_study({"name": "s", "training": training, "arms": list(arms or (ARM,))})
    except InvalidInput as error:
        return {detail.path: detail.message for detail in error.details}
    return {}


@pytest.mark.parametrize(
    ("training", "path", "message"),
    [
        (
            {"momentum": 0.9},
            "momentum",
            "momentum is of optimizer sgd and does nothing here, got 0.9 with optimizer adam",
        ),
        (
            {"momentum": {"grid": [0.0, 0.9]}},
            "momentum",
            "momentum is of optimizer sgd and does nothing here, got 0, 0.9 with optimizer adam",
        ),
        ({"nesterov": True}, "nesterov", "nesterov is of optimizer sgd and does nothing here, got true with"),
        ({"optimizer": "sgd", "nesterov": True}, "nesterov", "nesterov needs a momentum above 0, got momentum 0"),
        ({"optimizer": "sgd", "beta1": 0.5}, "beta1", "beta1 is of optimizer adam or adamw and does nothing here"),
        ({"optimizer": "sgd", "beta2": 0.5}, "beta2", "got 0.5 with optimizer sgd"),
        ({"weight_decay": 0.1}, "weight_decay", "weight_decay is of optimizer adamw and does nothing here, got 0.1"),
        ({"decay": 0.5}, "decay", "decay is of schedule step or exponential and does nothing here, got 0.5"),
        ({"schedule": "cosine", "decay_epochs": 5}, "decay_epochs", "got 5 with schedule cosine"),
        ({"schedule": "step", "floor": 0.5}, "floor", "floor is of schedule cosine and does nothing here, got 0.5"),
        ({"epochs": 5, "warm_up": 5}, "warm_up", "warm_up must be below the number of epochs, 5, got 5"),
        ({"epochs": 5, "anneal": {"grid": [0, 9]}}, "anneal", "anneal must be below the number of epochs, 5, got 9"),
        ({"optimizer": "sgd", "momentum": 1.0}, "momentum", "less than 1"),
        ({"clip": 0.0}, "clip", "greater than 0"),
        ({"average": 1.0}, "average", "less than 1"),
        ({"shift": 17}, "shift", "less than or equal to 16"),
        ({"average": 0.9, "balance": {}}, "average", "a mean of weights is not taken across a balance"),
        ({"schedule": "linear"}, "schedule", "linear"),
        ({"schedule": "step", "decay": 0.0}, "decay", "greater than 0"),
        ({"warm_up": -1}, "warm_up", "greater than or equal to 0"),
        ({"optimizer": "adamw", "weight_decay": -0.1}, "weight_decay", "greater than or equal to 0"),
    ],
)
def test_what_does_nothing_or_cannot_be_is_refused(training: dict[str, Any], path: str, message: str) -> None:
    found = refused(training)
    assert list(found) == [f"training.{path}"] and message in found[f"training.{path}"]


def test_an_arms_own_option_is_refused_in_that_arm() -> None:
    assert list(refused({}, ARM, {**OTHER, "training": {"momentum": 0.5}})) == ["arms[1].training.momentum"]
    assert not refused({}, ARM, {**OTHER, "training": {"optimizer": "sgd", "momentum": 0.5}})
    assert list(refused({"warm_up": 5}, ARM, {**OTHER, "training": {"epochs": 3}})) == ["arms[1].training.warm_up"]


def test_what_one_arm_uses_may_be_said_for_all() -> None:
    adam = {**OTHER, "training": {"optimizer": "adam"}}
    assert not refused({"optimizer": "sgd", "momentum": 0.9}, ARM, adam)
    assert list(refused({"optimizer": "sgd", "momentum": 0.9}, adam)) == ["training.momentum"]


@pytest.mark.parametrize(
    "training",
    [
        {"optimizer": "sgd", "momentum": {"grid": [0.0, 0.9]}, "nesterov": True},
        {"optimizer": "adamw", "beta1": 0.8, "beta2": 0.99, "weight_decay": {"grid": [0.0, 0.1]}},
        {"schedule": {"grid": ["constant", "cosine"]}, "floor": 0.1, "warm_up": {"grid": [0, 3]}},
        {"schedule": "step", "decay": 0.5, "decay_epochs": {"grid": [2, 5]}, "clip": {"grid": [0.5, 1.0]}},
    ],
)
def test_what_is_used_is_taken_and_may_vary(training: dict[str, Any]) -> None:
    assert refused(training) == {}


@pytest.mark.parametrize("weighting", ["target-rate", "fvib"])
def test_a_weighting_with_a_course_of_its_own_is_not_annealed(weighting: str) -> None:
    found = refused({"anneal": 3}, {"name": "a", "weighting": {"name": weighting}})
    assert list(found) == ["training.anneal"]
    assert f"anneal is not for weighting {weighting}" in found["training.anneal"]
    assert found["training.anneal"].endswith("got 3")


@pytest.mark.parametrize("augmented", [{"flip": True}, {"shift": {"grid": [0, 2]}}])
def test_only_images_are_mirrored_and_moved(augmented: dict[str, Any]) -> None:
    (field,) = augmented
    study = {"name": "s", "training": augmented, "arms": [ARM]}
    check_study(study)
    with pytest.raises(InvalidInput) as error:
        check_study({**study, "data": {"name": "gaussian"}})
    (detail,) = error.value.details
    assert detail.path == f"training.{field}" and "for sets of images, not for data 'gaussian'" in detail.message


@pytest.mark.parametrize(
    ("best", "data", "message"),
    [
        ("acuracy", {}, "measures i_xz_bits, "),
        ("loss_pred", {}, "accuracy"),
        ("accuracy", {"name": "digits", "validation_fraction": 0}, "measures nothing, got 'accuracy'"),
    ],
)
def test_the_best_epoch_needs_a_metric_of_the_validation_split(best: str, data: dict[str, Any], message: str) -> None:
    study = {"name": "s", "training": {"best": best}, "arms": [ARM], **({"data": data} if data else {})}
    with pytest.raises(InvalidInput) as error:
        check_study(study)
    (detail,) = error.value.details
    assert detail.path == "training.best" and message in detail.message
    check_study({**study, "training": {"best": "accuracy"}, "data": {"name": "digits"}})


def test_a_clock_and_a_best_epoch_do_not_go_together() -> None:
    study = {"name": "s", "training": {"best": "accuracy"}, "arms": [ARM], "limits": {"training_seconds": 5}}
    with pytest.raises(InvalidInput) as error:
        check_study(study)
    assert [detail.path for detail in error.value.details] == ["training.best"]
