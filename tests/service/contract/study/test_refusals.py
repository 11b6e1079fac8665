"""What is said about a study that cannot be taken: path, rule, value and line, for many kinds of mistake."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.parsing import check_study, parse_study, path_of, read_body
from service.contract.wire.errors import Detail, InvalidInput

ARM: dict[str, Any] = {"name": "a", "weighting": {"name": "fixed", "beta": 0.1}}


def refused(body: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check_study(body)
    return caught.value


def study(**change: Any) -> dict[str, Any]:
    return {"name": "s", "arms": [ARM], **change}


def arm(**change: Any) -> dict[str, Any]:
    return study(arms=[ARM, {"name": "b", "weighting": {"name": "uniform"}, **change}])


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({"arms": [ARM]}, "name", "required, but missing"),
        ({"name": "s"}, "arms", "required, but missing"),
        (study(name=7), "name", "Input should be a valid string, got 7"),
        (study(name="x" * 201), "name", "at most 200"),
        (study(seeds=[-1]), "seeds[0]", "greater than or equal to 0, got -1"),
        (study(seeds=[0, 2**31]), "seeds[1]", "less than 2147483648, got 2147483648"),
        (study(seeds=[0, 1.5]), "seeds[1]", "valid integer, got 1.5"),
        (study(arms={}), "arms", "valid list"),
        (study(arms=[ARM] * 65), "arms", "at most 64"),
        (study(training={"epochs": 10_001}), "training.epochs", "less than or equal to 10000, got 10001"),
        (study(training={"optimizer": "lion"}), "training.optimizer", "'adam', 'adamw' or 'sgd', got 'lion'"),
        (study(training={"learning_rate": 0}), "training.learning_rate", "greater than 0, got 0"),
        (study(training={"learning_rate": None}), "training.learning_rate", "None"),
        (study(training=[]), "training", "got []"),
        (study(resources={"cpus": 0}), "resources.cpus", "greater than 0, got 0"),
        (study(resources={"gpus": -1}), "resources.gpus", "greater than or equal to 0, got -1"),
        (study(limits={"seconds": 0}), "limits.seconds", "greater than 0, got 0"),
        (study(limits={"trials": 20_001}), "limits.trials", "less than or equal to 20000, got 20001"),
        (study(evaluation={"every": 0}), "evaluation.every", "greater than or equal to 1, got 0"),
        (study(evaluation={"estimators": ["guess"]}), "evaluation.estimators[0]", "got 'guess'"),
        (study(data={"name": "digits", "test_fraction": 1.0}), "data.test_fraction", "less than 1, got 1.0"),
        (study(data={"name": "digits", "train_fraction": 0.0}), "data.train_fraction", "greater than 0, got 0.0"),
        (study(data={}), "data", "give a name; got {}"),
        (study(data={"name": "digits", "pixels": 3}), "data.pixels", "unknown key pixels; known keys: "),
        (study(objectives=[{"metric": "accuracy", "goal": "maximize"}]), "objectives", "at least 2"),
        (
            study(objectives=[{"metric": "accuracy", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]),
            "objectives[0]",
            "accuracy to minimize has no default reference point: give 'reference'",
        ),
        (
            study(objectives=[{"metric": "seconds", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]),
            "objectives[0]",
            "seconds to minimize has no default reference point: give 'reference'",
        ),
        (
            study(objectives=[{"metric": "accuracy", "goal": "maximize"}] * 2),
            "objectives",
            "metrics must differ, 'accuracy' appears twice",
        ),
        (
            study(constraints=[{"metric": "accuracy", "at_least": 0.9}, {"metric": "accuracy", "at_least": 0.8}]),
            "constraints",
            "constraints must differ, 'accuracy ≥' appears twice",
        ),
        (study(seeds=[3, 4, 3]), "seeds", "seeds must differ, 3 appears twice"),
        (arm(name="a"), "arms", "arm names must differ, 'a' appears twice"),
        (arm(weighting={}), "arms[1].weighting", "give a name; got {}"),
        (arm(weighting="mib"), "arms[1].weighting", "must be a mapping of keys to values, got 'mib'"),
        (study(objectives=["accuracy", "i_zy_bits"]), "objectives[0]", "must be a mapping of keys to values, got 'acc"),
        (arm(weighting={"name": "mgdb"}), "arms[1].weighting.name", "'mgdb' is not known; known: fixed, uniform, "),
        (arm(problem={"name": "toy", "front": "flat"}), "arms[1].problem.front", "'convex' or 'concave', got 'flat'"),
        (arm(model={"latent": 0}), "arms[1].model.latent", "greater than or equal to 1, got 0"),
        (arm(model={"depth": 3}), "arms[1].model.depth", "unknown key depth; known keys: "),
        (arm(training={"balance": {"q": 1}}), "arms[1].training.balance.q", "unknown key q"),
        (
            arm(weighting={"name": "fixed", "beta": {"grid": [0.1, "x"]}}),
            "arms[1].weighting.beta.grid[1]",
            "got 'x'",
        ),
        (
            arm(weighting={"name": "fixed", "beta": 0.1, "weights": {"pred": 1.0}}),
            "arms[1].weighting",
            "give beta or weights, not both",
        ),
        (
            arm(weighting={"name": "fixed", "beta": None}),
            "arms[1].weighting",
            "give beta, weights or simplex, got none of them",
        ),
        (
            arm(weighting={"name": "arml", "stage": {"grid": [0.1, 0.2]}}),
            "arms[1].weighting",
            "stage has a grid but form 'simplified' does not use it",
        ),
        (
            arm(problem={"name": "bottleneck", "eta": {"grid": [0.1, 0.2]}}),
            "arms[1].problem",
            "eta takes several values but transform 'identity' does not use it",
        ),
        (
            arm(problem={"name": "multitask", "main": "class", "auxiliaries": ["class"]}),
            "arms[1].problem",
            "tasks must differ, 'class' appears twice",
        ),
        (
            study(model={"name": "transformer", "heads": {"grid": [2, 3]}}),
            "model",
            "heads must divide width, got 3 and 32",
        ),
        (
            study(model={"name": "transformer", "width": {"range": {"from": 8, "to": 32}}}),
            "model",
            "give width as a value, a grid or a choice, got a range",
        ),
        (study(training={"l1": {"grid": [0.0, -1.0]}}), "training.l1.grid[1]", "greater than or equal to 0, got -1.0"),
        ([ARM], "", "a study is a mapping with name and arms, got [{"),
        ("name: s", "", "a study is a mapping with name and arms, got 'name: s'"),
        (None, "", "a study is a mapping with name and arms, got None"),
    ],
)
def test_a_mistake_is_told_with_path_rule_and_value(body: Any, path: str, message: str) -> None:
    found = [detail.message for detail in refused(body).details if detail.path == path]
    assert len(found) == 1, refused(body).details
    assert message in found[0]


@pytest.mark.parametrize(
    ("problem", "path"),
    [
        ({"name": "bottle"}, "problem.name"),
        ({"name": "bottleneck", "rate": "vibb"}, "problem.rate"),
        ({"name": "bottleneck", "etaa": 3}, "problem.etaa"),
    ],
)
def test_a_mistake_in_the_problem_of_all_arms_is_told_once_where_it_stands(problem: dict[str, Any], path: str) -> None:
    arms = [{"name": name, "weighting": {"name": "uniform"}} for name in "ab"]
    assert [detail.path for detail in refused(study(problem=problem, arms=arms)).details] == [path]


def test_a_message_names_the_first_path_and_how_many_more() -> None:
    error = refused(study(name=3, seeds=[]))
    assert len(error.details) == 2
    assert error.message == f"{error.details[0].path}: {error.details[0].message} (and 1 more)"
    alone = refused(study(name=3))
    assert alone.message == f"name: {alone.details[0].message}" and (alone.code, alone.status) == ("invalid_input", 422)


def test_a_long_value_is_cut() -> None:
    (detail,) = refused(study(name=["x" * 500])).details
    assert len(detail.message) < 130 and detail.message.endswith("…")


def test_the_limit_of_trials_is_the_studys_own_and_counts_all_arms() -> None:
    grid = {"name": "b", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3]}}}
    just = check_study(study(arms=[ARM, grid], seeds=[0, 1], limits={"trials": 8}))
    assert just.limits.trials == 8
    error = refused(study(arms=[ARM, grid], seeds=[0, 1], limits={"trials": 7}))
    message = "the study expands to 8 trials, over limits.trials = 7"
    assert error.details == [Detail(path="limits.trials", message=message)]


@pytest.mark.parametrize(
    ("loc", "path"),
    [
        ((), ""),
        (("name",), "name"),
        (("arms", 0), "arms[0]"),
        (("arms", 0, "weighting", "beta"), "arms[0].weighting.beta"),
        (("a", 1, 2, "b"), "a[1][2].b"),
    ],
)
def test_a_path_is_written_as_people_write_it(loc: tuple[str | int, ...], path: str) -> None:
    assert path_of(loc) == path


# Lines

YAML = """name: s
seeds: [0, 1]
training:
  epochs: 0
  batch_size: 8
arms:
  - name: a
    weighting: {name: fixed, beta: 0.1}
  - name: b
    weighting:
      name: fixed
      beta:
        grid:
          - 0.1
          - -2.0
"""


def lines(text: str) -> dict[str, int | None]:
    with pytest.raises(InvalidInput) as caught:
        parse_study(text, "yaml")
    return {detail.path: detail.line for detail in caught.value.details}


def test_each_mistake_has_its_line() -> None:
    assert lines(YAML) == {"training.epochs": 4}
    assert lines(YAML.replace("epochs: 0", "epochs: 1")) == {"arms[1].weighting.beta.grid[1]": 15}
    assert lines(YAML.replace("epochs: 0", "epoch: 1").replace("name: s", "name: 7")) == {
        "training.epoch": 4,
        "name": 1,
    }
    assert lines(YAML.replace("      name: fixed\n", "")) == {"training.epochs": 4, "arms[1].weighting": 10}


def test_what_is_missing_has_the_line_of_what_lacks_it() -> None:
    assert lines("name: s\narms:\n  - name: a\n") == {"arms[0].weighting": 3}
    assert lines("seeds: [0]\n") == {"name": 1, "arms": 1}


def test_json_has_no_lines() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_study('{"name": 7,\n"arms": []}', "json")
    assert [detail.line for detail in caught.value.details] == [None, None]


@pytest.mark.parametrize(
    ("text", "kind", "line", "words"),
    [
        ('{"name": "s",\n "arms": [}', "json", 2, "is not JSON"),
        ("", "json", 1, "is not JSON"),
        ("name: s\narms: [\n", "yaml", 3, "is not YAML"),
        ("name: s\n\tarms: 3\n", "yaml", 2, "is not YAML"),
        ("name: &n s\nnotes: *n\n", "yaml", 2, "aliases are not allowed"),
        ("name: s\nx: !!python/name:os.system\n", "yaml", 2, "is not YAML"),
    ],
)
def test_what_cannot_be_read_says_where(text: str, kind: str, line: int, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_body(text, kind)
    (detail,) = caught.value.details
    assert (detail.path, detail.line) == ("", line) and words in detail.message
    assert caught.value.message.endswith(f"(line {line})")


@pytest.mark.parametrize(
    ("text", "kind"), [('{"name": "\\ud800"}', "json"), ('{"\\ud800": 1}', "json"), ('name: "\\ud800"', "yaml")]
)
def test_half_of_a_character_is_refused_before_anybody_has_to_write_it(text: str, kind: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_body(text, kind)
    told = "the study cannot be read: \\ud800 is half of a character"
    in_yaml = "the study is not YAML: found invalid Unicode character escape code (line 1)"
    assert caught.value.message == (told if kind == "json" else in_yaml)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e-3", 0.001),
        ("1E+2", 100.0),
        ("-.5", -0.5),
        ("+3.", 3.0),
        ("20", 20),
        ("-7", -7),
        ("0.1", 0.1),
        ("1e5x", "1e5x"),
        ("'1e-3'", "1e-3"),
        ("true", True),
        ("null", None),
        (".inf", float("inf")),
    ],
)
def test_yaml_reads_numbers_as_people_write_them(written: str, value: Any) -> None:
    read = read_body(f"x: {written}", "yaml")["x"]
    assert read == value and type(read) is type(value)
