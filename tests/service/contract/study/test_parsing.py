from __future__ import annotations

from typing import Any

import pytest

from service.answers.presets import presets
from service.contract.methods.data import Digits
from service.contract.methods.weightings import Fixed
from service.contract.study.parsing import check_study, parse_study
from service.contract.wire.errors import InvalidInput

ARM = {"name": "a", "weighting": {"name": "fixed", "beta": 0.1}}


def broken(**change: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as caught:
        check_study({"name": "s", "arms": [ARM], **change})
    return [(detail.path, detail.message) for detail in caught.value.details]


def arm(**change: Any) -> list[dict[str, Any]]:
    return [{**ARM, **change}]


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        ({"arms": arm(weighting={"name": "fxied"})}, "arms[0].weighting.name", ["'fxied'", "fixed", "mib"]),
        ({"arms": arm(weighting={"name": "fixed", "beta": -1.0})}, "arms[0].weighting.beta", ["-1.0", "equal to 0"]),
        ({"arms": arm(weighting={"name": "fixed", "bta": 1.0})}, "arms[0].weighting.bta", ["name, beta"]),
        (
            {"arms": arm(weighting={"name": "fixed", "beta": {"grid": []}})},
            "arms[0].weighting.beta.grid",
            ["at least 1"],
        ),
        (
            {"arms": arm(weighting={"name": "fixed", "beta": {"grid": [0.1, -2.0]}})},
            "arms[0].weighting.beta.grid[1]",
            ["-2.0", "equal to 0"],
        ),
        (
            {"arms": arm(weighting={"name": "fixed", "beta": {"grid": [0.1, 0.1]}})},
            "arms[0].weighting.beta.grid",
            ["twice", "0.1"],
        ),
        (
            {"arms": arm(weighting={"name": "fixed", "beta": {"grid": {"from": 1.0, "to": 0.1, "count": 3}}})},
            "arms[0].weighting.beta.grid",
            ["from must be below to"],
        ),
        (
            {
                "arms": arm(
                    weighting={"name": "fixed", "beta": {"grid": {"from": 0, "to": 1.0, "count": 3, "scale": "log"}}}
                )
            },
            "arms[0].weighting.beta.grid",
            ["above 0"],
        ),
        ({"arms": arm(weighting={"name": "mib", "power": 3})}, "arms[0].weighting.power", ["1 or 2", "3"]),
        (
            {"arms": arm(problem={"name": "bottleneck", "rate": "none"}, weighting={"name": "mib"})},
            "arms[0].problem.rate",
            ["no information term", "'mib'"],
        ),
        ({"arms": arm(training={"epochs": 0})}, "arms[0].training.epochs", ["equal to 1", "0"]),
        ({"arms": arm(training={"epoch": 1})}, "arms[0].training.epoch", ["known keys"]),
        ({"arms": arm(model={"latent": {"grid": [4, 0]}})}, "arms[0].model.latent.grid[1]", ["equal to 1", "0"]),
        ({"arms": [ARM, ARM]}, "arms", ["arm names", "'a'"]),
        ({"arms": []}, "arms", ["at least 1"]),
        ({"seeds": [1, 1]}, "seeds", ["seeds", "1"]),
        ({"seeds": "1"}, "seeds", ["list", "'1'"]),
        ({"training": {"epochs": "20"}}, "training.epochs", ["integer", "'20'"]),
        ({"training": {"epochs": True}}, "training.epochs", ["integer", "True"]),
        ({"data": {"name": "digitz"}}, "data.name", ["digits", "'digitz'"]),
        ({"data": {"name": "digits", "noise": 2}}, "data", ["equal to 1", "2"]),
        ({"data": {"name": "digits", "noise": 0.1, "label_noise": 0.1}}, "data.noise", ["unknown key"]),
        ({"colour": 1}, "colour", ["known keys", "objectives"]),
        ({"objectives": [{"metric": "acuracy", "goal": "maximize"}] * 2}, "objectives[0]", ["acuracy", "accuracy"]),
        ({"name": ""}, "name", ["at least 1"]),
    ],
)
def test_a_bad_study_names_path_rule_and_value(change: dict[str, Any], path: str, words: list[str]) -> None:
    found = broken(**change)
    messages = [message for where, message in found if where == path]
    assert messages, found
    for word in words:
        assert word in messages[0], messages


def test_noise_of_the_data_is_that_of_its_labels() -> None:
    study = check_study({"name": "s", "arms": [ARM], "data": {"name": "digits", "noise": 0.1}})
    assert study.data == Digits(label_noise=0.1)
    assert study.model_dump()["data"]["label_noise"] == 0.1


def test_a_grid_over_the_limit_is_refused_before_it_is_built() -> None:
    million = {"grid": {"from": 0.0, "to": 1.0, "count": 1000}}
    arms = [
        {
            **ARM,
            "weighting": {"name": "fixed", "beta": million},
            "training": {"learning_rate": {"grid": {"from": 0.1, "to": 1.0, "count": 1000}}},
        }
    ]
    assert broken(arms=arms) == [("limits.trials", "the study expands to 1,000,000 trials, over limits.trials = 500")]
    assert broken(limits={"trials": 10**6})[0][0] == "limits.trials"


def test_all_errors_are_told_at_once() -> None:
    assert {path for path, _ in broken(seeds=[], name=3, arms=[{"name": "b"}])} == {
        "seeds",
        "name",
        "arms[0].weighting",
    }


def test_yaml_errors_carry_their_line() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_study("name: x\narms:\n  - name: a\n    weighting:\n      name: fixed\n      beta: -1\n", "yaml")
    assert [(d.path, d.line) for d in caught.value.details] == [("arms[0].weighting.beta", 6)]
    with pytest.raises(InvalidInput) as caught:
        parse_study("name: x\narms: [\n", "yaml")
    assert caught.value.details[0].line == 3


def test_yaml_numbers_may_be_written_as_people_write_them() -> None:
    study = parse_study("name: x\narms: [{name: a, weighting: {name: fixed, beta: 1e-3}}]\n", "yaml")
    weighting = study.arms[0].weighting
    assert isinstance(weighting, Fixed) and weighting.beta == 1e-3


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "a: &x [1]\nb: *x", "\x00", "{" * 5000, "name: !!python/object:os.system {}"]
)
def test_texts_that_are_no_study_are_refused(text: str) -> None:
    for kind in ("yaml", "json"):
        with pytest.raises(InvalidInput):
            parse_study(text, kind)


@pytest.mark.parametrize("preset", presets(), ids=lambda p: p.name)
def test_every_preset_is_a_valid_study_and_says_what_it_asks(preset: Any) -> None:
    assert parse_study(preset.text, "yaml").arms
    assert len(preset.doc) > 80
